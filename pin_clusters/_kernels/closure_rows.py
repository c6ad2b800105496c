"""Equations of closures: their rows of K, from poses and motion axes."""

from __future__ import annotations

from ._jit import inline
from .angles import sincos
from .layout import (
    CALLED,
    COS,
    FRAMES,
    HARMONIC,
    IDENTITY,
    PROPORTIONAL,
    ROD,
    SIN,
    TURN_NONE,
    TURN_UNIVERSAL,
)
from .loop_block import block
from .simd import get, put, zero
from .spatial import column, cross, dot6, join, matmul3, rot
from .tuples import load3, load6, load9
from .user_functions import called_jacobian
from .views import closure, head, on_joint, on_path, term_row
from .workspace import position, rotation


@inline
def frame(params, work, b, at):
    """Pose of a frame on body b, whose placement is in params.

    Reads: pose.
    """
    R = rotation(work, b)
    return matmul3(R, load9(params, at)), position(work, b) + rot(R, load3(params, at + 9))


@inline
def point(params, work, b, at):
    """Position of a point of body b, whose coordinates are in params.

    Reads: pose.
    """
    return position(work, b) + rot(rotation(work, b), load3(params, at))


@inline
def spread(index, work, r, row, wrench, W):
    """Row of K of a wrench: W . S for each velocity on the path of closure r; (L1).

    Reads: S.
    Writes: row, wrench.
    """
    for p in range(r.part0, r.part1):
        part = on_path(index, p)
        put(work, row + part.column, (1.0 * part.sign) * dot6(W, load6(work, part.at_S)))
    put(work, wrench, W)


@inline
def frames_rows(index, params, work, r, row, width, wrench):
    """Rows of two frames: a velocity of point b in axes of frame a, and a relative angular velocity.

    Reads: pose, S.
    Writes: row, wrench.
    """
    Ra, _ = frame(params, work, r.a, r.at)
    Rb, pb = frame(params, work, r.b, r.at + 12)
    for i in range(r.rows):
        n = rot(Ra, load3(params, r.at + 24 + 6 * i))
        m = cross(pb, n)
        if r.turn == TURN_UNIVERSAL:
            m = m + cross(column(Rb, 0), column(Ra, 2)) * get(params, r.at + 29 + 6 * i)
        elif r.turn != TURN_NONE:
            m = m + rot(Ra, load3(params, r.at + 27 + 6 * i))
        spread(index, work, r, row + i * width, wrench + 6 * i, join(n, m))


@inline
def rod_rows(index, params, work, r, row, wrench):
    """Row of a rod: (d . d - l^2) / 2 l, with d from a to b.

    Reads: pose, S.
    Writes: row, wrench.
    """
    pa, pb = point(params, work, r.a, r.at), point(params, work, r.b, r.at + 3)
    n = (pb - pa) * get(params, r.at + 6)
    spread(index, work, r, row, wrench, join(n, cross(pa, n)))


@inline
def harmonic_angles(index, params, work, q, r):
    """Sine, cosine and value of the angles of a harmonic closure.

    Reads: q.
    Writes: room.
    """
    n = r.part1 - r.part0
    for a in range(r.angles):
        weights = r.at + a * (n + 1)
        x = zero(work) + get(params, weights + n)
        for j in range(n):
            x += get(params, weights + j) * get(q, on_joint(index, r.part0 + j).iq)
        s, c = sincos(x)
        put(work, r.room + 3 * a, s)
        put(work, r.room + 3 * a + 1, c)
        put(work, r.room + 3 * a + 2, x)


@inline
def factor_of(work, room, kind, angle):
    """One factor of a term and its first two derivatives.

    Reads: room.
    """
    o = zero(work)
    s, c = get(work, room + 3 * angle), get(work, room + 3 * angle + 1)
    if kind == SIN:
        return s, c, -s
    if kind == COS:
        return c, -s, -c
    if kind == IDENTITY:
        return get(work, room + 3 * angle + 2), o + 1.0, o
    return o + 1.0, o, o


@inline
def factors(params, work, t, room):
    """Coefficient, then factors of a term with their derivatives.

    Reads: room.
    """
    f = factor_of(work, room, t.factor0, t.angle0)
    g = factor_of(work, room, t.factor1, t.angle1)
    h = factor_of(work, room, t.factor2, t.angle2)
    return get(params, t.at), f, g, h


@inline
def increase(work, slope, x):
    """Add to a number.

    Reads: slope.
    Writes: slope.
    """
    put(work, slope, get(work, slope) + x)


@inline
def harmonic_rows(index, params, work, q, r, row, width):
    """Rows of a harmonic closure: its gradient, first by angles, then by joints.

    Reads: q, room.
    Writes: room, row.
    """
    harmonic_angles(index, params, work, q, r)
    n, gradient, t = r.part1 - r.part0, r.room + 3 * r.angles, r.term0
    for i in range(r.rows):
        for a in range(r.angles):
            put(work, gradient + a, zero(work))
        while t < r.term1 and term_row(index, t).row == i:
            T = term_row(index, t)
            x, f, g, h = factors(params, work, T, r.room)
            increase(work, gradient + T.angle0, x * f[1] * g[0] * h[0])
            increase(work, gradient + T.angle1, x * f[0] * g[1] * h[0])
            increase(work, gradient + T.angle2, x * f[0] * g[0] * h[1])
            t += 1
        for j in range(n):
            k = zero(work)
            for a in range(r.angles):
                k += get(params, r.at + a * (n + 1) + j) * get(work, gradient + a)
            put(work, row + i * width + on_joint(index, r.part0 + j).column, k)


@inline
def equations(index, params, work, q, C):
    """K of a LOOP cluster, whose bodies have been placed; (L1).

    Reads: pose, q, room, S.
    Writes: K, room, W.
    """
    H = head(index, C.head)
    L = block(H, C.nk)
    for i in range(L.nr * L.width):
        put(work, L.K + i, zero(work))
    for c in range(H.closure0, H.closure1):
        r = closure(index, c)
        row, wrench = L.K + r.row0 * L.width, L.W + 6 * r.row0
        if r.form == FRAMES:
            frames_rows(index, params, work, r, row, L.width, wrench)
        elif r.form == ROD:
            rod_rows(index, params, work, r, row, wrench)
        elif r.form == HARMONIC:
            harmonic_rows(index, params, work, q, r, row, L.width)
        else:
            # a constant matrix, or one that a function of the user gives
            n = r.part1 - r.part0
            if r.form == CALLED:
                called_jacobian(index, params, work, q, r)
            for i in range(r.rows):
                for j in range(n):
                    if r.form == PROPORTIONAL:
                        k = zero(work) + get(params, r.at + i * n + j)
                    else:
                        k = get(params, r.at + i) * get(work, r.room + i * n + j)
                    put(work, row + i * L.width + on_joint(index, r.part0 + j).column, k)
