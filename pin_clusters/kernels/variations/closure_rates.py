"""Right-hand sides of the linear equations (L6) for dG and ddG, from time derivatives of the loop-closure constraints.

The equation for dG is K dG_m = -(dK/dt) G_m. The matrix dK/dt has the entries +-(W' . S + W . (v_lam x S)) for the
velocities on the path of a closure. The equation for ddG is K ddG_m = -[W'' . D(J) + 2 W' . D(L) + W . D(N)]. D(x) is
the difference of x between the two bodies of the closure. J, L and N belong to column m; N excludes ddG_m, the unknown.
W' and W'' are the time derivatives of the wrench W along the motion. For constraints phi(x) on joint coordinates x, the
right-hand sides are -phi''[x', G_m] and -(phi'''[x', x', G_m] + phi''[x'', G_m] + 2 phi''[x', dG_m]).
"""

from ...compiler.numba_jit.jit import inline
from ..loops.closure_biases import motion_of, point_acceleration
from ..loops.closure_rows import frame, point
from ..loops.harmonic_rates import harmonic_row, rates_by_joints
from ..numbers.memory import get, put, put_zeros
from ..numbers.spatial import angular, column, cross, cross_force, dot6, join, linear, point_velocity, zero3, zero6
from ..numbers.tuples import load6
from ..tables import workspace as ws
from ..tables.layout import FRAMES, HARMONIC, PROPORTIONAL, ROD, TURN_NONE, TURN_UNIVERSAL
from ..tables.variations_layout import ACCELERATION, VELOCITY
from ..tables.views import block, body, closure, head, on_joint, on_path, velocity_row
from . import record


@inline
def displacement(index, work, b, c, k):
    """Return J of column k for body b relative to the output body; J is zero for bodies outside cluster c."""
    if b > 0 and body(index, b).cluster == c:
        return ws.K_column(work, body(index, b).at_K, k)
    return zero6()


@inline
def variation(index, rates, b, c, C, k, which):
    """Return L (``which`` = VELOCITY) or N (ACCELERATION) of column k for body b; zero for bodies outside cluster c."""
    if b > 0 and body(index, b).cluster == c:
        return load6(rates, record(C, b, k) + which)
    return zero6()


@inline
def turned_twice(w, alpha, x):
    """Return the second derivative of a vector x fixed to a body with angular velocity w and acceleration alpha."""
    return cross(alpha, x) + cross(w, cross(w, x))


@inline
def parts_of_row(params, work, r, i, W, x, z, pb):
    """Return n, m and share of equation i of a FRAMES closure, where W = [n; p_b x n + m + share (x x z)].

    The vectors n, m and z are fixed to body a, and x is fixed to body b.
    """
    n, m, share = linear(W), zero3(), 0.0
    if r.turn == TURN_UNIVERSAL:
        share = 0.0 + get(params, r.at + 29 + 6 * i)
    elif r.turn != TURN_NONE:
        m = angular(W) - cross(pb, n)
    return n, m, share


@inline
def frames_rate(n, m, share, x, z, pb, va, vb):
    """Return W' of an equation of a FRAMES closure whose bodies have the velocities va and vb."""
    wa, wb = angular(va), angular(vb)
    dn = cross(wa, n)
    dm = cross(point_velocity(vb, pb), n) + cross(pb, dn) + cross(wa, m)
    return join(dn, dm + (cross(cross(wb, x), z) + cross(x, cross(wa, z))) * share)


@inline
def frames_second_rate(n, m, share, x, z, pb, va, vb, aa, ab):
    wa, wb, la, lb = angular(va), angular(vb), angular(aa), angular(ab)
    dn, ddn = cross(wa, n), turned_twice(wa, la, n)
    ddm = cross(point_acceleration(pb, vb, ab), n) + cross(point_velocity(vb, pb), dn) * 2.0 + cross(pb, ddn)
    ddm = ddm + turned_twice(wa, la, m)
    bend = cross(turned_twice(wb, lb, x), z) + cross(cross(wb, x), cross(wa, z)) * 2.0
    return join(ddn, ddm + (bend + cross(x, turned_twice(wa, la, z))) * share)


@inline
def rod_rate(pa, n, s, pb, va, vb):
    """Return W' of a rod, whose wrench is W = [n; p_a x n] with n = s (p_b - p_a)."""
    xa = point_velocity(va, pa)
    dn = (point_velocity(vb, pb) - xa) * s
    return join(dn, cross(xa, n) + cross(pa, dn))


@inline
def rod_second_rate(pa, n, s, pb, va, vb, aa, ab):
    xa, ya = point_velocity(va, pa), point_acceleration(pa, va, aa)
    dn, ddn = (point_velocity(vb, pb) - xa) * s, (point_acceleration(pb, vb, ab) - ya) * s
    return join(ddn, cross(ya, n) + cross(xa, dn) * 2.0 + cross(pa, ddn))


@inline
def spread_rate(index, work, r, row, W, dW):
    """Write a row of dK/dt: the entries +-(W' . S + W . (v_lam x S)) for the velocities on the path of closure r."""
    for p in range(r.part0, r.part1):
        part = on_path(index, p)
        force = dW - cross_force(ws.velocity(work, part.above), W)
        put(work, row + part.column, (1.0 * part.sign) * dot6(force, load6(work, part.at_S)))


@inline
def rates_on_bodies(index, params, work, c, r, row, width, wrench):
    va, _ = motion_of(index, work, r.a, c)
    vb, _ = motion_of(index, work, r.b, c)
    if r.form == FRAMES:
        Ra, _ = frame(params, work, r.a, r.at)
        Rb, pb = frame(params, work, r.b, r.at + 12)
        x, z = column(Rb, 0), column(Ra, 2)
        for i in range(r.rows):
            W = load6(work, wrench + 6 * i)
            n, m, share = parts_of_row(params, work, r, i, W, x, z, pb)
            spread_rate(index, work, r, row + i * width, W, frames_rate(n, m, share, x, z, pb, va, vb))
    else:
        pa, pb = point(params, work, r.a, r.at), point(params, work, r.b, r.at + 3)
        W = load6(work, wrench)
        spread_rate(index, work, r, row, W, rod_rate(pa, linear(W), get(params, r.at + 6), pb, va, vb))


@inline
def rates_of_function(index, params, work, r, row, width):
    n = r.part1 - r.part0
    hessian = r.scratch + r.rows * n
    for i in range(r.rows):
        for j in range(n):
            total = 0.0
            for l in range(n):
                rate = get(work, velocity_row(index, on_joint(index, r.part0 + l).velocity).at_rate)
                total += get(work, hessian + (i * n + j) * n + l) * rate
            put(work, row + i * width + on_joint(index, r.part0 + j).column, get(params, r.at + i) * total)


@inline
def rates_of_equations(index, params, work, c, C):
    """Write dK/dt of LOOP cluster c along its velocities; call ``derivatives_of_equations`` first."""
    H = head(index, C.head)
    L = block(H, C.nk)
    put_zeros(work, L.K_rate, L.nr * L.width)
    for n in range(H.closure0, H.closure1):
        r = closure(index, n)
        row = L.K_rate + r.row0 * L.width
        if r.form == FRAMES or r.form == ROD:
            rates_on_bodies(index, params, work, c, r, row, L.width, L.W + 6 * r.row0)
        elif r.form == HARMONIC:
            rates_by_joints(index, params, work, r, row, L.width, C.nk)
        elif r.form != PROPORTIONAL:
            rates_of_function(index, params, work, r, row, L.width)


@inline
def body_rows(index, params, work, rates, c, C, r, wrench, to, k):
    """Write W'' . D(J) + 2 W' . D(L) + W . D(N) of column k, for each equation of a closure between bodies."""
    va, aa = motion_of(index, work, r.a, c)
    vb, ab = motion_of(index, work, r.b, c)
    J = displacement(index, work, r.b, c, k) - displacement(index, work, r.a, c, k)
    L = variation(index, rates, r.b, c, C, k, VELOCITY) - variation(index, rates, r.a, c, C, k, VELOCITY)
    N = variation(index, rates, r.b, c, C, k, ACCELERATION) - variation(index, rates, r.a, c, C, k, ACCELERATION)
    if r.form == FRAMES:
        Ra, _ = frame(params, work, r.a, r.at)
        Rb, pb = frame(params, work, r.b, r.at + 12)
        x, z = column(Rb, 0), column(Ra, 2)
        for i in range(r.rows):
            W = load6(work, wrench + 6 * i)
            n, m, share = parts_of_row(params, work, r, i, W, x, z, pb)
            dW = frames_rate(n, m, share, x, z, pb, va, vb)
            ddW = frames_second_rate(n, m, share, x, z, pb, va, vb, aa, ab)
            put(work, to + i, dot6(ddW, J) + 2.0 * dot6(dW, L) + dot6(W, N))
    else:
        pa, pb = point(params, work, r.a, r.at), point(params, work, r.b, r.at + 3)
        W, s = load6(work, wrench), get(params, r.at + 6)
        n = linear(W)
        dW = rod_rate(pa, n, s, pb, va, vb)
        ddW = rod_second_rate(pa, n, s, pb, va, vb, aa, ab)
        put(work, to, dot6(ddW, J) + 2.0 * dot6(dW, L) + dot6(W, N))


@inline
def function_row(index, params, work, r, to, k):
    """Write the right-hand sides for ddG_k of a user's constraint function, whose derivatives are in work."""
    n = r.part1 - r.part0
    hessian = r.scratch + r.rows * n
    third = hessian + r.rows * n * n + n + r.rows + r.rows * n + n
    for i in range(r.rows):
        total = 0.0
        for j in range(n):
            U = velocity_row(index, on_joint(index, r.part0 + j).velocity)
            w = get(work, U.at_G + k)
            total += get(work, third + i * n + j) * w
            for l in range(n):
                V = velocity_row(index, on_joint(index, r.part0 + l).velocity)
                h = get(work, hessian + (i * n + j) * n + l)
                total += h * (w * get(work, V.at_acceleration) + 2.0 * get(work, U.at_dG + k) * get(work, V.at_rate))
        put(work, to + i, get(params, r.at + i) * total)


@inline
def differentiated_twice(index, params, work, rates, c, C, k):
    """Write the right-hand sides for ddG_k to the ``value`` array of LOOP cluster c; work contains J, L and N."""
    H = head(index, C.head)
    L = block(H, C.nk)
    for n in range(H.closure0, H.closure1):
        r = closure(index, n)
        to, wrench = L.value + r.row0, L.W + 6 * r.row0
        if r.form == FRAMES or r.form == ROD:
            body_rows(index, params, work, rates, c, C, r, wrench, to, k)
        elif r.form == HARMONIC:
            harmonic_row(index, params, work, r, to, k, C.nk)
        elif r.form == PROPORTIONAL:
            put_zeros(work, to, r.rows)
        else:
            function_row(index, params, work, r, to, k)
