"""Residuals of constraint equations, each divided by its scale.

Rotations are measured by 2 tan(angle / 2), which equals the angle to first order and is infinite at half a turn.
"""

from ...compiler.numba_jit.jit import device, inline
from ..numbers.choices import if_less
from ..numbers.memory import get, put
from ..numbers.spatial import column, cross, dot3, rot_t, zero3
from ..numbers.tuples import Vec3, load3
from ..tables.layout import CALLED, FRAMES, HARMONIC, PROPORTIONAL, ROD, TURN_AXIS, TURN_FULL, TURN_NONE
from ..tables.views import block, closure, functions_of, head, on_joint, term_row
from .closure_rows import frame, point
from .function_derivatives import coordinates, offsets_of
from .user_functions import call_address


@inline
def rotation_between(turn, Ra, Rb):
    """Return the rotation of frame b relative to frame a, in axes of frame a, as a vector of length 2 tan(angle / 2).

    For ``TURN_UNIVERSAL``, return (0, 0, z_a . x_b), which is zero if the two axes are perpendicular.
    """
    za = column(Ra, 2)
    if turn == TURN_AXIS:
        zb = column(Rb, 2)
        return rot_t(Ra, cross(za, zb) * (2.0 / (1.0 + dot3(za, zb))))
    if turn == TURN_FULL:
        x, y, z = rot_t(Rb, column(Ra, 0)), rot_t(Rb, column(Ra, 1)), rot_t(Rb, za)  # rows of R_a' R_b
        s = 2.0 / (1.0 + x[0] + y[1] + z[2])
        return Vec3(s * (z[1] - y[2]), s * (x[2] - z[0]), s * (y[0] - x[1]))
    return Vec3(0.0, 0.0, dot3(za, column(Rb, 0)))


@inline
def frames_values(params, work, r, to):
    Ra, pa = frame(params, work, r.a, r.at)
    Rb, pb = frame(params, work, r.b, r.at + 12)
    t, e = rot_t(Ra, pb - pa), zero3()
    if r.turn != TURN_NONE:
        e = rotation_between(r.turn, Ra, Rb)
    for i in range(r.rows):
        rows = r.at + 24 + 6 * i
        put(work, to + i, dot3(t, load3(params, rows)) + dot3(e, load3(params, rows + 3)))


@inline
def harmonic_values(index, params, work, r, to):
    """Write the residuals of a harmonic closure; call ``harmonic_rows`` at q first."""
    t = r.term0
    for i in range(r.rows):
        total = 0.0
        while t < r.term1 and term_row(index, t).row == i:
            T = term_row(index, t)
            x = get(params, T.at) * get(work, T.factor0)
            if T.factors > 1:
                x = x * get(work, T.factor1)
            if T.factors > 2:
                x = x * get(work, T.factor2)
            total += x
            t += 1
        put(work, to + i, total)


@inline
def proportional_values(index, params, work, q, r, to):
    """Write the residuals of a linear coupling. If a joint is continuous, write 0; the caller must handle this case."""
    m, n = r.rows, r.part1 - r.part0
    for i in range(m):
        total = 0.0 - get(params, r.at + m * n + i)
        for j in range(n):
            joint = on_joint(index, r.part0 + j)
            if joint.nq == 2:
                total = 0.0
                break
            total += get(params, r.at + i * n + j) * get(q, joint.iq)
        put(work, to + i, total)


@inline
def values_of_function(index, params, work, q, r, to):
    """Write the residuals of a user's function; the caller must store the values of a Python function first."""
    x, y, _, _, _ = offsets_of(r)
    if r.form == CALLED:
        coordinates(index, work, q, r, x)
        call_address(functions_of(index, r.functions).phi, work, x, y)
    for i in range(r.rows):
        put(work, to + i, get(params, r.at + i) * get(work, y + i))


@device
def values(index, params, work, q, C):
    """Write the residuals of all constraint equations of a LOOP cluster; call ``equations`` first."""
    H = head(index, C.head)
    L = block(H, C.nk)
    for c in range(H.closure0, H.closure1):
        r = closure(index, c)
        to = L.value + r.row0
        if r.form == FRAMES:
            frames_values(params, work, r, to)
        elif r.form == ROD:
            d = point(params, work, r.b, r.at + 3) - point(params, work, r.a, r.at)
            length = get(params, r.at + 7)
            put(work, to, 0.5 * get(params, r.at + 6) * (dot3(d, d) - length * length))
        elif r.form == HARMONIC:
            harmonic_values(index, params, work, r, to)
        elif r.form == PROPORTIONAL:
            proportional_values(index, params, work, q, r, to)
        else:
            values_of_function(index, params, work, q, r, to)


@device
def largest_value(index, params, work, q, C):
    """Return the squared largest residual of a LOOP cluster, or NaN if it is not finite; call ``equations`` first."""
    values(index, params, work, q, C)
    L, worst, total = block(head(index, C.head), C.nk), 0.0, 0.0
    for i in range(L.nr):
        x = get(work, L.value + i) * get(work, L.value + i)
        worst, total = if_less(x, worst, worst, x), total + x
    return if_less(total, 1e30, worst, total)  # if a residual is NaN, so is the sum, and the comparison is false
