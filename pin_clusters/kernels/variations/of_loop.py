"""Variations of LOOP clusters: ``of_general`` extended by dG and ddG (L6), (L7), rods and variable ratios of rotors."""

from ...compiler.numba_jit.jit import device, inline
from ..bodies.motions import body_inertia, motion
from ..clusters.general import columns
from ..clusters.loop import rod_forces
from ..loops.closure_biases import point_acceleration
from ..loops.closure_rows import point
from ..loops.coupling_of_loops import is_singular, joint_motion, prepare, prepare_bias
from ..numbers.memory import get, increase, put
from ..numbers.tuples import load3
from ..tables import workspace as ws
from ..tables.layout import MIDDLE
from ..tables.variations_layout import OF_MOTION
from ..tables.views import body, element, head, listed, rod, share, velocity_row
from . import record, sums
from .contraction import contract
from .coupling_rates import along_joint, at_rates_of, differentiate_coupling
from .forces import add_forces, add_moments, add_momentum, clear, hand_force, motions_at, set_inertial
from .momentum_rates import rate_of_inertia, twice_B_transposed
from .of_general import carried, collect_body, hand_on, set_record

from ..numbers.spatial import angular, cross, cross_force, dot3, dot6, join  # isort: skip
from ..numbers.spatial import point_inertia, point_velocity, rigid_mul, rot, zero3  # isort: skip
from ..directions import Out


@inline
def variations_of_ratio(index, params, work, C, e):
    """Write the derivatives of a spin element's speed ratios r: dr, ddr and the true rate (see ``coupling_rates``)."""
    for k in range(C.nk):
        first, second, true = 0.0, 0.0, 0.0
        for s in range(e.share0, e.share1):
            part = share(index, s)
            x, V = get(params, part.at), velocity_row(index, part.velocity)
            first += x * get(work, V.at_dG + k)
            second += x * get(work, V.at_ddG + k)
            true += x * get(work, V.at_true + k)
        put(work, e.at_row + C.nk + k, first)
        put(work, e.at_row + 2 * C.nk + k, second)
        put(work, e.at_row + 3 * C.nk + k, true)


@inline
def spin_element(index, params, work, rates: Out, C, e, nv, dq: Out, dv: Out, M: Out, second, pairs, summed):
    """Add the terms (V4) and the torque (S2) of one spin element or armature with a variable ratio."""
    nk, o, c = C.nk, 0.0, e.carrier
    variations_of_ratio(index, params, work, C, e)
    rho, rhod = o, o  # spin speed and spin acceleration
    for s in range(e.share0, e.share1):
        part = share(index, s)
        x, V = get(params, part.at), velocity_row(index, part.velocity)
        rho += x * get(work, V.at_rate)
        rhod += x * get(work, V.at_acceleration)
    J = get(params, e.at)
    eta = rot(ws.rotation(work, c), load3(params, e.at + 1)) * J
    turn = cross(angular(ws.velocity(work, c)), eta)
    if c > 0:
        ws.add_moment(work, c, eta * rhod + turn * rho)
        ws.add_spin_momentum(work, c, eta * rho)
    torque = J * rhod + dot3(eta, angular(ws.acceleration(work, c)))
    for s in range(e.share0, e.share1):
        part = share(index, s)
        V = velocity_row(index, part.velocity)
        increase(work, V.at_torque, get(params, part.at) * torque)
    inside = c >= C.first and c < C.last
    for m in range(nk):
        r, rd = get(work, e.at_row + m), get(work, e.at_row + nk + m)
        rdd, rate_sum = get(work, e.at_row + 2 * nk + m), rd + get(work, e.at_row + 3 * nk + m)
        if c > 0 or summed:
            to = carried(index, C, c, m)
            add_moments(rates, to, eta * rdd + turn * rd, eta * rate_sum + turn * r, eta * r, turn * r)
            if summed:
                add_momentum(rates, to, join(zero3(), eta * rd))
        if pairs:
            x, y, z = J * r, J * rate_sum, J * rdd
            if inside:
                L, N, Gamma = motions_at(rates, record(C, c, m))
                K = ws.K_column(work, body(index, c).at_K, m)
                x = x + dot3(eta, angular(K))
                y = y + dot3(eta, angular(Gamma)) + dot3(turn, angular(K))
                z = z + dot3(eta, angular(N)) + dot3(turn, angular(L))
            for k in range(nk):
                ratio = get(work, e.at_row + k)
                entry = listed(index, C.column, k) * nv + listed(index, C.column, m)
                increase(M, entry, ratio * x)
                increase(dv, entry, ratio * y)
                if second:
                    increase(dq, entry, ratio * z)


@inline
def end_of_rod(index, params, work, rates, c, C, b, at, k):
    """Return dp/dq, du/dq, da/dq and da/dv, where p, u and a are position, velocity and acceleration of a rod end."""
    dp, dx, ddx, by_rate = zero3(), zero3(), zero3(), zero3()
    if b >= C.first and b < C.last:
        p, vel, acc = point(params, work, b, at), ws.velocity(work, b), ws.acceleration(work, b)
        J = ws.K_column(work, body(index, b).at_K, k)
        L, N, Gamma = motions_at(rates, record(C, b, k))
        w, x = angular(vel), point_velocity(vel, p)
        v_change = L + cross(J, vel)
        a_change = N + cross(L, vel) + cross(J, acc)
        g_change = Gamma + cross(J, vel)
        dp = point_velocity(J, p)
        dx = point_velocity(v_change, p) + cross(w, dp)
        ddx = point_velocity(a_change, p) + cross(angular(acc), dp) + cross(angular(v_change), x) + cross(w, dx)
        by_rate = point_velocity(g_change, p) + cross(angular(J), x) + cross(w, dp)
    return dp, dx, ddx, by_rate


@inline
def at_end(index, params, work, rates: Out, C, b, at, k, dp, F, x, dF, QF, FF, HF, summed):
    """Add the variations of the force F of half a rod's midpoint mass; F acts at the rod end on body b."""
    p = point(params, work, b, at)
    to = carried(index, C, b, k)
    P = join(dF, cross(p, dF) + cross(dp, F))
    if b >= C.first and b < C.last:
        # P is defined in axes that rotate with the body, so the term due to the rotation of F is subtracted.
        P = P - cross_force(ws.K_column(work, body(index, b).at_K, k), join(F, cross(p, F)))
    add_forces(rates, to, P, join(QF, cross(p, QF)), join(FF, cross(p, FF)), zero3())
    if summed:
        add_momentum(rates, to, join(HF, cross(p, HF) + cross(dp, x)))


@device
def rod_variations(index, params, work, rates: Out, c, C, R, summed):
    """Add the variations of a rod's midpoint mass, which is two thirds of the rod's mass."""
    half = 0.5 * get(params, R.at + 6)
    pa, pb = point(params, work, R.a, R.at), point(params, work, R.b, R.at + 3)
    x = (point_velocity(ws.velocity(work, R.a), pa) + point_velocity(ws.velocity(work, R.b), pb)) * 0.5
    ya = point_acceleration(pa, ws.velocity(work, R.a), ws.acceleration(work, R.a))
    yb = point_acceleration(pb, ws.velocity(work, R.b), ws.acceleration(work, R.b))
    F = (ya + yb) * (0.5 * half)
    # A force on the universe moves no joint, but the sums over the robot include it.
    if R.a == 0:
        ws.add_force(work, 0, join(F, cross(pa, F)))
    if R.b == 0:
        ws.add_force(work, 0, join(F, cross(pb, F)))
    middle = R.middle
    I = point_inertia(2.0 * half, ws.position(work, middle))
    twist = join(x, zero3())
    h = rigid_mul(I, twist)
    sigma = rate_of_inertia(I, twist)
    ws.set_composite(work, middle, I)
    ws.set_total_momentum(work, middle, h)
    ws.set_inertia_rate(work, middle, sigma)
    for k in range(C.nk):
        dpa, dxa, ddxa, ra = end_of_rod(index, params, work, rates, c, C, R.a, R.at, k)
        dpb, dxb, ddxb, rb = end_of_rod(index, params, work, rates, c, C, R.b, R.at + 3, k)
        dF, QF = (ddxa + ddxb) * (0.5 * half), (ra + rb) * (0.5 * half)
        FF, HF = (dpa + dpb) * (0.5 * half), (dxa + dxb) * (0.5 * half)
        at_end(index, params, work, rates, C, R.a, R.at, k, dpa, F, x * half, dF, QF, FF, HF, summed)
        at_end(index, params, work, rates, C, R.b, R.at + 3, k, dpb, F, x * half, dF, QF, FF, HF, summed)
        T = twice_B_transposed(h, sigma, join((dpa + dpb) * 0.5, zero3()))
        to = sums(C, k) + OF_MOTION
        put(rates, to, load3(rates, to) + T)


@inline
def clear_cluster(index, work, C, H, nv, rates: Out, dq: Out, dv: Out, M: Out, second, pairs):
    o = 0.0
    for n in range(H.velocity0, H.velocity1):
        put(work, velocity_row(index, n).at_torque, o)
    for k in range(C.nk):
        clear(rates, sums(C, k))
        if pairs:
            for m in range(C.nk):
                entry = listed(index, C.column, k) * nv + listed(index, C.column, m)
                put(M, entry, o)
                put(dv, entry, o)
                if second:
                    put(dq, entry, o)


@device
def advance(
    index, params, work, rates: Out, q, v, a, forces, c, C, nv, dq: Out, dv: Out, M: Out, second, pairs, summed, forced
):
    """Compute (L1) to (L6), (V1), (V2) and (V4); return whether the loops are singular."""
    prepare(index, params, work, q, C)
    prepare_bias(index, params, work, q, v, c, C)
    for b in range(C.first, C.last):
        B = body(index, b)
        if B.kind != MIDDLE:
            columns(index, work, C, B)
    differentiate_coupling(index, params, work, rates, q, a, c, C, second)
    H = head(index, C.head)
    clear_cluster(index, work, C, H, nv, rates, dq, dv, M, second, pairs)
    for b in range(C.first, C.last):
        B = body(index, b)
        if B.kind == MIDDLE:
            continue
        vel, acc = motion(work, B.parent, joint_motion(work, B, C.nk, 1), joint_motion(work, B, C.nk, 2))
        v_up, a_up = ws.velocity(work, B.parent), ws.acceleration(work, B.parent)
        ws.set_velocity(work, b, vel)
        ws.set_acceleration(work, b, acc)
        R, x = ws.rotation(work, b), ws.position(work, b)
        set_inertial(index, params, work, forces, b, B, R, x, body_inertia(params, b, R, x), vel, acc, second, forced)
        first = at_rates_of(B, C.nk)
        size = B.ndof * C.nk
        for k in range(C.nk):
            change = along_joint(work, B, first, C.nk, k)
            true = along_joint(work, B, first + 2 * size, C.nk, k)
            twice = along_joint(work, B, first + size, C.nk, k) if second else change
            set_record(index, work, rates, C, b, B, k, v_up, a_up, v_up + vel, change, twice, change + true)
    rod_forces(index, params, work, H)
    for n in range(H.element0, H.element1):
        spin_element(index, params, work, rates, C, element(index, n), nv, dq, dv, M, second, pairs, summed)
    for r in range(H.rod0, H.rod1):
        rod_variations(index, params, work, rates, c, C, rod(index, r), summed)
    return is_singular(index, work, C)


@device
def collect(
    index, params, work, rates: Out, nv, c, C, tau: Out, dq: Out, dv: Out, M: Out, total: Out, second, pairs, summed
):
    """Compute (V3) to (V5), (L7) and the torques."""
    H = head(index, C.head)
    for n in range(C.last - C.first):
        b = C.last - 1 - n
        B = body(index, b)
        if B.kind == MIDDLE:
            continue
        torques = B.at_G + B.ndof * (C.nk + 3)
        for d in range(B.ndof):
            t = dot6(ws.subspace(work, B.at_S, d), ws.force(work, b))
            increase(work, torques + d, t)
        collect_body(index, work, rates, nv, C, b, B, dq, dv, M, second, pairs, summed)
        if second and (summed or B.parent > 0):
            hand_force(work, b, B.parent)
    for k in range(C.nk):
        t = 0.0
        for n in range(H.velocity0, H.velocity1):
            V = velocity_row(index, n)
            t += get(work, V.at_G + k) * get(work, V.at_torque)
        if second:
            put(tau, listed(index, C.column, k), t)
    if pairs and second:
        contract(index, params, work, c, C, nv, dq)
    hand_on(index, work, rates, nv, C, dq, dv, M, total, second, pairs, summed)
    return False
