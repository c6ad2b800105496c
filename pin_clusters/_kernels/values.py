"""By how much closures are open: the value of each row, divided by its scale.

Rotations count by twice the tangent of half the angle: zero and slope are those of the angle, the antiparallel solution
is infinitely far away, and a SIMD pack can compute it.
"""

from __future__ import annotations

from ._jit import device, inline
from .closures import at_value, frame, harmonic_angles, point, term
from .external import at_coordinates, call_address, lanes_of, raw, write_lane
from .layout import (
    ADDRESS,
    AT_DATA,
    AT_LOOP,
    AT_ROOM,
    BODY_A,
    BODY_B,
    CALLED,
    CLOSURE0,
    CLOSURE1,
    FORM,
    FRAMES,
    HARMONIC,
    LOOP,
    ND,
    NK,
    NR,
    OF_IQ,
    OF_NQ,
    PART0,
    PART1,
    PROPORTIONAL,
    ROD,
    ROW0,
    ROWS,
    TERM0,
    TERM1,
    TERM_ROW,
    TURN,
    TURN_AXIS,
    TURN_FULL,
    TURN_NONE,
)
from .memory import load3
from .pack import if_less
from .simd import entry, get, put, zero
from .spatial import cross, dot3, rot_t, scale3


@inline
def rotation_between(turn, Ra, Rb, o):
    """Rotation of frame b seen from frame a, in axes of a."""
    za = (Ra[2], Ra[5], Ra[8])
    if turn == TURN_AXIS:
        zb = (Rb[2], Rb[5], Rb[8])
        return rot_t(Ra, scale3(2.0 / (1.0 + dot3(za, zb)), cross(za, zb)))
    if turn == TURN_FULL:
        xa, ya = (Ra[0], Ra[3], Ra[6]), (Ra[1], Ra[4], Ra[7])
        x, y, z = rot_t(Rb, xa), rot_t(Rb, ya), rot_t(Rb, za)  # rows of R_a' R_b
        s = 2.0 / (1.0 + x[0] + y[1] + z[2])
        return (s * (z[1] - y[2]), s * (x[2] - z[0]), s * (y[0] - x[1]))
    return (o, o, dot3(za, (Rb[0], Rb[3], Rb[6])))


@inline
def frames_values(index, params, work, r, to):
    data, turn, o = entry(index, r, AT_DATA), entry(index, r, TURN), zero(work)
    Ra, pa = frame(index, params, work, entry(index, r, BODY_A), data)
    Rb, pb = frame(index, params, work, entry(index, r, BODY_B), data + 12)
    t = rot_t(Ra, (pb[0] - pa[0], pb[1] - pa[1], pb[2] - pa[2]))
    e = (o, o, o)
    if turn != TURN_NONE:
        e = rotation_between(turn, Ra, Rb, o)
    for i in range(entry(index, r, ROWS)):
        at = data + 24 + 6 * i
        put(work, to + i, dot3(t, load3(params, at)) + dot3(e, load3(params, at + 3)))


@inline
def rod_value(index, params, work, r, to):
    data = entry(index, r, AT_DATA)
    pa = point(params, work, entry(index, r, BODY_A), data)
    pb = point(params, work, entry(index, r, BODY_B), data + 3)
    d, length = (pb[0] - pa[0], pb[1] - pa[1], pb[2] - pa[2]), get(params, data + 7)
    put(work, to, 0.5 * get(params, data + 6) * (dot3(d, d) - length * length))


@inline
def harmonic_values(index, params, work, q, r, to):
    harmonic_angles(index, params, work, q, r)
    t, last, room = entry(index, r, TERM0), entry(index, r, TERM1), entry(index, r, AT_ROOM)
    for i in range(entry(index, r, ROWS)):
        total = zero(work)
        while t < last and entry(index, t, TERM_ROW) == i:
            x, f, g, h = term(index, params, work, t, room)
            total += x * f[0] * g[0] * h[0]
            t += 1
        put(work, to + i, total)


@inline
def proportional_values(index, params, work, q, r, to):
    """Rows of a coupling; where a joint is continuous they are left to the caller, who knows arc tangents."""
    first, data, m = entry(index, r, PART0), entry(index, r, AT_DATA), entry(index, r, ROWS)
    n = entry(index, r, PART1) - first
    for i in range(m):
        total = zero(work) - get(params, data + m * n + i)
        for j in range(n):
            if entry(index, first + j, OF_NQ) == 2:
                put(work, to + i, zero(work))
                return
            total += get(params, data + i * n + j) * get(q, entry(index, first + j, OF_IQ))
        put(work, to + i, total)


@inline
def called_values(index, params, work, q, r, to):
    m, room, scale = entry(index, r, ROWS), entry(index, r, AT_ROOM), entry(index, r, AT_DATA)
    n = entry(index, r, PART1) - entry(index, r, PART0)
    x = (room + m * n + m * n * n) * lanes_of(work)
    for lane in range(lanes_of(work)):
        at_coordinates(index, work, q, r, lane, x, 0, 0.0, 0, 0.0)
        call_address(entry(index, r, ADDRESS), work, x, x + n)
        for i in range(m):
            write_lane(work, to + i, lane, get(params, scale + i) * raw(work, x + n + i))


@device
def values(index, params, work, q, c):
    """Write the values of all rows of LOOP cluster c, whose bodies are placed; those of Python functions are 0."""
    head, nk = entry(index, c, LOOP), entry(index, c, NK)
    at = entry(index, head, AT_LOOP) + at_value(entry(index, head, ND), entry(index, head, NR), nk)
    for r in range(entry(index, head, CLOSURE0), entry(index, head, CLOSURE1)):
        form, to = entry(index, r, FORM), at + entry(index, r, ROW0)
        if form == FRAMES:
            frames_values(index, params, work, r, to)
        elif form == ROD:
            rod_value(index, params, work, r, to)
        elif form == HARMONIC:
            harmonic_values(index, params, work, q, r, to)
        elif form == PROPORTIONAL:
            proportional_values(index, params, work, q, r, to)
        elif form == CALLED:
            called_values(index, params, work, q, r, to)
        else:
            for i in range(entry(index, r, ROWS)):
                put(work, to + i, zero(work))


@device
def largest_value(index, params, work, q, c):
    """Square of the largest value of LOOP cluster c; NaN wins."""
    values(index, params, work, q, c)
    head, nk, worst = entry(index, c, LOOP), entry(index, c, NK), zero(work)
    nd, nr = entry(index, head, ND), entry(index, head, NR)
    at = entry(index, head, AT_LOOP) + at_value(nd, nr, nk)
    for i in range(nr):
        x = get(work, at + i) * get(work, at + i)
        worst = if_less(x, worst, worst, x)
    return worst
