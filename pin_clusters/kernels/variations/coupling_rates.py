"""Computes dG, ddG and the time derivative of G for LOOP clusters, from the linear equations (L6).

dG_m = d(G v)/dq_m and ddG_m = d(G a + g)/dq_m. The "true rate" dG/dt differs from dG if the velocities of a joint do
not commute: dG/dt = dG + G [v, .] - [G v, G .], where [., .] is the Lie bracket of the joint velocities.
"""

from ...compiler.numba_jit.jit import device, inline
from ..directions import Out
from ..loops.closure_biases import motion_of
from ..loops.coupling_of_loops import accelerations_of, joint_motion
from ..loops.function_derivatives import called_hessian, called_third
from ..loops.harmonic_rates import rates_by_angles
from ..numbers.memory import get, increase, put, put_copy
from ..numbers.spatial import cross, zero6
from ..numbers.tuples import Vec3, load3, load6
from ..tables import workspace as ws
from ..tables.layout import CALLED, HARMONIC, MIDDLE, SPHERICAL
from ..tables.variations_layout import ACCELERATION, VELOCITY
from ..tables.views import block, body, closure, follower, head, share, velocity_row
from . import record
from .closure_rates import differentiated_twice, rates_of_equations


@inline
def relative_motions(index, work, c, C, second):
    """Write the velocities or, if ``second``, the accelerations of cluster c's bodies relative to its output body."""
    for b in range(C.first, C.last):
        B = body(index, b)
        if B.kind != MIDDLE:
            vel, acc = motion_of(index, work, B.parent, c)
            vj = joint_motion(work, B, C.nk, 1)
            if second:
                ws.set_acceleration(work, b, acc + cross(vel, vj) + joint_motion(work, B, C.nk, 2))
            else:
                ws.set_velocity(work, b, vel + vj)


@inline
def at_rates_of(B, nk):
    """Return the ``work`` offset of dG for a LOOP cluster's body; ddG and the true rate of G are stored after dG."""
    return B.at_G + B.ndof * (nk + 4)


@inline
def along_joint(work, B, at_rows, nk, k):
    m = zero6()
    for d in range(B.ndof):
        m = m + ws.subspace(work, B.at_S, d) * get(work, at_rows + d * nk + k)
    return m


@inline
def relative_columns(index, work, rates: Out, c, C):
    """Write L and N (V1) of all columns relative to the output body, without the terms in ddG."""
    for b in range(C.first, C.last):
        B = body(index, b)
        if B.kind == MIDDLE:
            continue
        inside = B.parent > 0 and body(index, B.parent).cluster == c
        v_up, a_up = motion_of(index, work, B.parent, c)
        v_sum = v_up + ws.velocity(work, b)
        for k in range(C.nk):
            SG = along_joint(work, B, B.at_G, C.nk, k)
            change = along_joint(work, B, at_rates_of(B, C.nk), C.nk, k)
            L = cross(v_up, SG)
            N = cross(a_up, SG) + cross(v_up, L) + cross(v_sum, change)
            L = L + change
            if inside:
                up = record(C, B.parent, k)
                L, N = L + load6(rates, up + VELOCITY), N + load6(rates, up + ACCELERATION)
            to = record(C, b, k)
            put(rates, to + VELOCITY, L)
            put(rates, to + ACCELERATION, N)


@inline
def solve_column(index, params, work, C, k, second):
    """Write column k of dG (ddG if ``second``): -P times the right-hand sides, then the rows of the followers."""
    H = head(index, C.head)
    L = block(H, C.nk)
    for i in range(L.nd):
        x, V = 0.0, velocity_row(index, H.velocity0 + i)
        for j in range(L.nr):
            x -= get(work, L.P + i * L.nr + j) * get(work, L.value + j)
        put(work, (V.at_ddG if second else V.at_dG) + k, x)
    for n in range(H.follower0, H.follower1):
        f, x = follower(index, n), 0.0
        for s in range(f.share0, f.share1):
            part = share(index, s)
            U = velocity_row(index, part.velocity)
            x += get(params, part.at) * get(work, (U.at_ddG if second else U.at_dG) + k)
        V = velocity_row(index, f.velocity)
        put(work, (V.at_ddG if second else V.at_dG) + k, x)


@inline
def solve_first(index, params, work, c, C):
    """Write all columns of dG; call ``relative_motions`` and ``derivatives_of_equations`` first."""
    H = head(index, C.head)
    L = block(H, C.nk)
    rates_of_equations(index, params, work, c, C)
    for k in range(C.nk):
        for j in range(L.nr):
            row = L.K_rate + j * L.width
            x = get(work, row + L.nd + k)
            for i in range(L.nd):
                x += get(work, row + i) * get(work, velocity_row(index, H.velocity0 + i).at_G + k)
            put(work, L.value + j, x)
        solve_column(index, params, work, C, k, False)


@device
def solve_second(index, params, work, rates: Out, c, C):
    if head(index, C.head).on_bodies == 1:
        relative_columns(index, work, rates, c, C)
    for k in range(C.nk):
        differentiated_twice(index, params, work, rates, c, C, k)
        solve_column(index, params, work, C, k, True)


@inline
def bracket_of(B, a, b):
    if B.kind == SPHERICAL:
        return cross(a, b)
    # The velocities of a PLANAR joint are two translations and one rotation in the axes of the body.
    return Vec3(b[2] * a[1] - a[2] * b[1], a[2] * b[0] - b[2] * a[0], a[0] * 0.0)


@inline
def bracket(work, B, nk, k, d):
    """Return entry d of [G v, G_k] for the rows of G of one joint."""
    if d > 2:
        return 0.0  # the coupling does not change the bracket of a free flyer, whose velocities are independent
    y, g = B.at_G + B.ndof * nk + B.ndof, B.at_G + k
    a, b = load3(work, y), Vec3(get(work, g), get(work, g + nk), get(work, g + 2 * nk))
    return bracket_of(B, a, b)[d]


@device
def true_rates(index, work, C):
    H, nk = head(index, C.head), C.nk
    for n in range(H.velocity0, H.velocity1):
        V = velocity_row(index, n)
        put_copy(work, V.at_true, work, V.at_dG, nk)
    for b in range(C.first, C.last):
        B = body(index, b)
        if B.ndof < 2 or B.kind == MIDDLE:
            continue
        for k in range(nk):
            for d in range(B.ndof):
                x = bracket(work, B, nk, k, d)
                true = at_rates_of(B, nk) + (2 * B.ndof + d) * nk + k
                put(work, true, get(work, true) - x)
                # The term G [v, .] exists for independent velocities only.
                for n in range(H.velocity0, H.velocity1):
                    V = velocity_row(index, n)
                    if V.column >= 0 and V.at_bias == B.at_G + B.ndof * nk + d:
                        add_row(index, work, H, nk, k, V.column, x)


@inline
def add_row(index, work, H, nk, k, i, x):
    for n in range(H.velocity0, H.velocity1):
        V = velocity_row(index, n)
        increase(work, V.at_true + k, x * get(work, V.at_G + i))


@device
def derivatives_of_equations(index, params, work, q, C, second):
    """Compute derivatives of constraints on joint coordinates; derivatives of Python functions are already in work."""
    H = head(index, C.head)
    for n in range(H.closure0, H.closure1):
        r = closure(index, n)
        if r.form == HARMONIC:
            rates_by_angles(index, params, work, r, C.nk, second)
        elif r.form == CALLED:
            called_hessian(index, params, work, q, r)
            if second:
                called_third(index, params, work, q, r)


@device
def differentiate_coupling(index, params, work, rates: Out, q, a, c, C, second):
    """Compute dG and, if ``second``, ddG of LOOP cluster c; call ``bias_of`` first.

    If the cluster has closures between bodies, the body motions in work become relative to the output body.
    """
    if second:
        accelerations_of(index, work, a, C, False)
        if head(index, C.head).on_bodies == 1:
            relative_motions(index, work, c, C, True)
    derivatives_of_equations(index, params, work, q, C, second)
    solve_first(index, params, work, c, C)
    true_rates(index, work, C)
    if second:
        solve_second(index, params, work, rates, c, C)
