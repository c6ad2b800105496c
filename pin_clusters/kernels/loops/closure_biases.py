"""Bias (dK/dt) v_tree of the constraint equations (L4), computed from the motion of the bodies at a = 0."""

from ...compiler.numba_jit.jit import inline
from ..numbers.memory import get, increase, put, put_zeros
from ..numbers.spatial import angular, column, cross, dot3, dot6, join, linear, point_velocity, zero6
from ..numbers.tuples import load3, load6
from ..tables import workspace as ws
from ..tables.layout import ANGLE_SCRATCH, CALLED, FRAMES, HARMONIC, PROPORTIONAL, ROD, TURN_NONE, TURN_UNIVERSAL
from ..tables.views import block, body, closure, head, on_angle, on_joint, term_row, velocity_row
from .closure_rows import frame, point
from .function_derivatives import called_hessian


@inline
def motion_of(index, work, b, c):
    """Return velocity and bias acceleration of body b relative to cluster c's output body; zeros if b is not in c."""
    if b > 0 and body(index, b).cluster == c:
        return ws.velocity(work, b), ws.acceleration(work, b)
    return zero6(), zero6()


@inline
def frames_bias(index, params, work, c, r, wrench, to):
    """Compute the bias W . (c_b - c_a) + dW/dt . (v_b - v_a) of a FRAMES closure with bias accelerations c."""
    va, ca = motion_of(index, work, r.a, c)
    vb, cb = motion_of(index, work, r.b, c)
    pb = point(params, work, r.b, r.at + 21)
    wa, wb = angular(va), angular(vb)
    dpb = linear(vb) + cross(wb, pb)
    for i in range(r.rows):
        W = load6(work, wrench + 6 * i)
        n = linear(W)
        dn = cross(wa, n)
        dm = cross(dpb, n) + cross(pb, dn)
        if r.turn == TURN_UNIVERSAL:
            Ra, _ = frame(params, work, r.a, r.at)
            Rb, _ = frame(params, work, r.b, r.at + 12)
            x, z = column(Rb, 0), column(Ra, 2)
            dm = dm + (cross(cross(wb, x), z) + cross(x, cross(wa, z))) * get(params, r.at + 29 + 6 * i)
        elif r.turn != TURN_NONE:
            dm = dm + cross(wa, angular(W) - cross(pb, n))
        put(work, to + i, dot6(W, cb - ca) + dot6(join(dn, dm), vb - va))


@inline
def point_acceleration(p, v, a):
    """Return the acceleration of the body point at position p, from the spatial motion v, a of the body."""
    return linear(a) + cross(angular(a), p) + cross(angular(v), point_velocity(v, p))


@inline
def rod_bias(index, params, work, c, r, to):
    """Compute the bias (d . d'' + d' . d') / l of a rod of length l; d is the vector from its end a to its end b."""
    pa, pb = point(params, work, r.a, r.at), point(params, work, r.b, r.at + 3)
    va, ca = motion_of(index, work, r.a, c)
    vb, cb = motion_of(index, work, r.b, c)
    d, dd = pb - pa, point_velocity(vb, pb) - point_velocity(va, pa)
    ddd = point_acceleration(pb, vb, cb) - point_acceleration(pa, va, ca)
    put(work, to, get(params, r.at + 6) * (dot3(d, ddd) + dot3(dd, dd)))


@inline
def rate_of_joint(index, work, j):
    return get(work, velocity_row(index, on_joint(index, j).velocity).at_rate)


@inline
def harmonic_bias(index, params, work, r, to):
    """Compute the bias of a harmonic closure: the second derivative of its equations along the joint velocities."""
    t = r.term0
    put_zeros(work, r.scratch + ANGLE_SCRATCH * r.angles, r.angles)
    for p in range(r.part0, r.part1):
        part = on_angle(index, p)
        increase(work, part.slope, get(params, part.at) * get(work, velocity_row(index, part.velocity).at_rate))
    for i in range(r.rows):
        total = 0.0
        while t < r.term1 and term_row(index, t).row == i:
            T = term_row(index, t)
            x, f, u = get(params, T.at), load3(work, T.factor0), get(work, T.slope0)
            second, first = f[2] * u * u, f[1] * u
            if T.factors > 1:
                g, v = load3(work, T.factor1), get(work, T.slope1)
                # Apply the product rule for second derivatives to two factors, then to the third.
                second = second * g[0] + 2.0 * first * g[1] * v + f[0] * g[2] * v * v
                if T.factors == 3:
                    h, w = load3(work, T.factor2), get(work, T.slope2)
                    first = first * g[0] + f[0] * g[1] * v
                    second = second * h[0] + 2.0 * first * h[1] * w + f[0] * g[0] * h[2] * w * w
            total += x * second
            t += 1
        put(work, to + i, total)


@inline
def function_bias(index, params, work, q, r, to):
    n = r.part1 - r.part0
    if r.form == CALLED:
        called_hessian(index, params, work, q, r)
    second = r.scratch + r.rows * n
    for i in range(r.rows):
        total = 0.0
        for j in range(n):
            u = rate_of_joint(index, work, r.part0 + j)
            for k in range(n):
                total += get(work, second + (i * n + j) * n + k) * u * rate_of_joint(index, work, r.part0 + k)
        put(work, to + i, get(params, r.at + i) * total)


@inline
def biases(index, params, work, q, c, C):
    """Compute the bias of all constraint equations of LOOP cluster c from stored joint velocities and body motions."""
    H = head(index, C.head)
    L = block(H, C.nk)
    for n in range(H.closure0, H.closure1):
        r = closure(index, n)
        to, wrench = L.value + r.row0, L.W + 6 * r.row0
        if r.form == FRAMES:
            frames_bias(index, params, work, c, r, wrench, to)
        elif r.form == ROD:
            rod_bias(index, params, work, c, r, to)
        elif r.form == HARMONIC:
            harmonic_bias(index, params, work, r, to)
        elif r.form == PROPORTIONAL:
            put_zeros(work, to, r.rows)
        else:
            function_bias(index, params, work, q, r, to)
