"""Variations of GENERAL clusters, and functions shared with LOOP clusters. ``rates`` has a record per body and column.

``advance`` computes (V1), (V2) and (V4); ``collect`` computes (V3) to (V5) and the torques. P, Q, F, T and H are
defined in (V3) and (V7). ``dq``, ``dv`` and ``M`` are dtau/dq, dtau/dv and the mass matrix, all row-major nv x nv. The
flags are ``second`` (compute dtau/dq), ``pairs`` (compute the matrices), ``summed`` (compute sums over the robot) and
``forced`` (external forces act).
"""

from ...compiler.numba_jit.jit import device, inline
from ..bodies.motions import along, body_inertia, motion
from ..bodies.placements import place
from ..clusters.articulated import moves
from ..clusters.general import columns
from ..clusters.spin_elements import inertia_torques, spin_columns, spin_terms
from ..numbers.memory import get, increase, put
from ..numbers.spatial import angular, cross, cross_force, dot3, dot6, zero3, zero6
from ..numbers.tuples import load6
from ..tables import workspace as ws
from ..tables.variations_layout import ACCELERATION, OF_MOMENTUM, QUADRATIC, VELOCITY
from ..tables.views import body, carrier_row, listed
from . import record, sums
from .ancestors import enter_sum, to_ancestors
from .coupling_rates import along_joint

from .forces import add_forces, add_moments, add_momentum, clear, forces_at, forces_of  # isort: skip
from .forces import hand_force, hand_inertial, momentum_of, motions_at, set_inertial  # isort: skip
from ..directions import Out


@inline
def set_record(index, work, rates: Out, C, b, B, k, v_up, a_up, both, change, second_change, quadratic_change):
    """Write L, N and Gamma of column k by (V1), and set the forces in the record to zero.

    ``v_up`` and ``a_up`` are the velocity and acceleration of the parent body; ``both`` is the sum of the velocities of
    body and parent. ``change`` is S dG_k, ``second_change`` is S ddG_k, and ``quadratic_change`` is S times the sum of
    dG_k and the true rate of G_k.
    """
    to = record(C, b, k)
    L, N, Gamma = zero6(), zero6(), zero6()
    if moves(B.mask, k):
        if B.parent > 0 and body(index, B.parent).cluster == B.cluster and moves(body(index, B.parent).mask, k):
            L, N, Gamma = motions_at(rates, record(C, B.parent, k))
        if B.unit < 0 or B.which == k:
            SG = along_joint(work, B, B.at_G, C.nk, k)
            turn = cross(v_up, SG)
            L = L + turn + change
            N = N + cross(a_up, SG) + cross(v_up, turn) + cross(both, change) + second_change
            Gamma = Gamma + cross(both, SG) + quadratic_change
    put(rates, to + VELOCITY, L)
    put(rates, to + ACCELERATION, N)
    put(rates, to + QUADRATIC, Gamma)
    clear(rates, to)


@inline
def carried(index, C, b, k):
    """Return the offset of column k's record of body b, or of the cluster's sums if b is the output body."""
    if b >= C.first and b < C.last:
        return record(C, b, k)
    return sums(C, k)


@inline
def spin_on(index, work, rates: Out, v, C, carrier, i, dq: Out, dv: Out, M: Out, nv, second, pairs):
    """Add the terms (V4) of spin elements on carrier number i; the spin momenta eta are constant in carrier axes."""
    nk, at_work = C.nk, C.at_work
    omega, inside = angular(ws.velocity(work, carrier)), carrier >= C.first and carrier < C.last
    for m in range(nk):
        h = ws.spin_column(work, at_work, nk, i, m)
        turn, to = cross(omega, h), carried(index, C, carrier, m)
        ws.add_spin_momentum(work, carrier, h * get(v, listed(index, C.column, m)))
        add_moments(rates, to, zero3(), turn, h, turn)
        if inside and pairs:
            i_v, B = listed(index, C.column, m), body(index, carrier)
            for k in range(nk):
                k_v = listed(index, C.column, k)
                L, N, Gamma = motions_at(rates, record(C, carrier, k))
                J = ws.K_column(work, B.at_K, k) if moves(B.mask, k) else zero6()
                at_entry = i_v * nv + k_v
                increase(M, at_entry, dot3(h, angular(J)))
                increase(dv, at_entry, dot3(h, angular(Gamma)) + dot3(turn, angular(J)))
                if second:
                    increase(dq, at_entry, dot3(h, angular(N)) + dot3(turn, angular(L)))


@inline
def clear_entries(index, work, C, nv, dq: Out, dv: Out, M: Out, second):
    """Initialize the entries between the cluster's columns: M to the armature and spin inertia E, dv and dq to zero."""
    o = 0.0
    for k in range(C.nk):
        for m in range(C.nk):
            entry = listed(index, C.column, k) * nv + listed(index, C.column, m)
            put(M, entry, ws.E_entry(work, C.at_E, C.nk, k, m))
            put(dv, entry, o)
            if second:
                put(dq, entry, o)


@inline
def advance(
    index,
    params,
    work,
    rates: Out,
    q,
    v,
    a,
    forces,
    C,
    nv,
    tau: Out,
    dq: Out,
    dv: Out,
    M: Out,
    second,
    pairs,
    summed,
    forced,
):
    zero = zero6()
    for b in range(C.first, C.last):
        B = body(index, b)
        R, x = place(params, work, q, b, B)
        vj, aj = along(index, work, v, C, B), along(index, work, a, C, B)
        columns(index, work, C, B)
        vel, acc = motion(work, B.parent, vj, aj)
        v_up, a_up = ws.velocity(work, B.parent), ws.acceleration(work, B.parent)
        ws.set_velocity(work, b, vel)
        ws.set_acceleration(work, b, acc)
        set_inertial(index, params, work, forces, b, B, R, x, body_inertia(params, b, R, x), vel, acc, second, forced)
        for k in range(C.nk):
            set_record(index, work, rates, C, b, B, k, v_up, a_up, v_up + vel, zero, zero, zero)
    for k in range(C.nk):
        clear(rates, sums(C, k))
    if pairs:
        clear_entries(index, work, C, nv, dq, dv, M, second)
    spin_columns(index, work, C)
    if second:
        inertia_torques(index, work, a, tau, C)
        spin_terms(index, work, v, a, tau, C, False)
    if C.at_spin >= 0:
        spin_on(index, work, rates, v, C, C.out, 0, dq, dv, M, nv, second, pairs)
    for r in range(C.carrier0, C.carrier1):
        spin_on(index, work, rates, v, C, carrier_row(index, r).body, 1 + r - C.carrier0, dq, dv, M, nv, second, pairs)


@inline
def enter_rows(index, work, nv, C, B, i_v, P, Q, F, dq: Out, dv: Out, M: Out, second):
    """Project the forces (V3) of column i_v by G^T S^T, and add the results to the entries in the rows of a joint."""
    for d in range(B.ndof):
        S = ws.subspace(work, B.at_S, d)
        f, r = dot6(S, F), dot6(S, Q)
        p = dot6(S, P) if second else f
        for k in range(C.nk):
            if B.unit < 0 or B.which == k:
                g, entry = ws.G_entry(work, B.at_G, C.nk, d, k), listed(index, C.column, k) * nv + i_v
                increase(M, entry, g * f)
                increase(dv, entry, g * r)
                if second:
                    increase(dq, entry, g * p)


@inline
def collect_body(index, work, rates: Out, nv, C, b, B, dq: Out, dv: Out, M: Out, second, pairs, summed):
    """Compute the forces (V3) of a body, write the entries of the body's joint, and add the forces to the parent."""
    for m in range(C.nk):
        source, f = record(C, b, m), ws.force(work, b)
        P, Q, F, T = forces_at(rates, source)
        H, SG = load6(rates, source + OF_MOMENTUM), zero6()
        if moves(B.mask, m):
            J = ws.K_column(work, B.at_K, m)
            L, N, Gamma = motions_at(rates, source)
            own_F, own_P, own_Q, own_T = forces_of(work, b, J, L, N, Gamma, second)
            F, P, Q, T = F + own_F, P + own_P, Q + own_Q, T + own_T
            if summed:
                H = H + momentum_of(work, b, J, L)
            if B.unit < 0 or B.which == m:
                SG = along_joint(work, B, B.at_G, C.nk, m)
        if pairs:
            enter_rows(index, work, nv, C, B, listed(index, C.column, m), P, Q, F, dq, dv, M, second)
        to = carried(index, C, B.parent, m)
        # P is defined in axes that rotate with the body; the parent's axes do not, which adds the term S G_m x* f.
        add_forces(rates, to, P + cross_force(SG, f), Q, F, T)
        if summed:
            add_momentum(rates, to, H)


@device
def hand_on(index, work, rates, nv, C, dq: Out, dv: Out, M: Out, total: Out, second, pairs, summed):
    """Write the entries (V5) that couple the cluster with its ancestors, and add the inertias to the output body."""
    for m in range(C.nk):
        source, i_v = sums(C, m), listed(index, C.column, m)
        P, Q, F, T = forces_at(rates, source)
        if pairs:
            for k in range(m):  # makes M exactly symmetric
                k_v = listed(index, C.column, k)
                put(M, i_v * nv + k_v, get(M, k_v * nv + i_v))
        if pairs:
            to_ancestors(index, work, rates, nv, C.out, i_v, F, P, Q, T, dq, dv, M, second)
        if summed:
            enter_sum(index, rates, total, nv, C, i_v, F, P, Q, load6(rates, source + OF_MOMENTUM))
    if summed or C.out > 0:
        for b in range(C.first, C.last):
            hand_inertial(work, b, C.out)


@inline
def collect(index, work, rates: Out, nv, C, tau: Out, dq: Out, dv: Out, M: Out, total: Out, second, pairs, summed):
    for n in range(C.last - C.first):
        b = C.last - 1 - n
        B = body(index, b)
        if second:  # tau += G^T S^T f (A4)
            for d in range(B.ndof):
                t = dot6(ws.subspace(work, B.at_S, d), ws.force(work, b))
                for k in range(C.nk):
                    increase(tau, listed(index, C.column, k), ws.G_entry(work, B.at_G, C.nk, d, k) * t)
        collect_body(index, work, rates, nv, C, b, B, dq, dv, M, second, pairs, summed)
        if second and (summed or B.parent > 0):
            hand_force(work, b, B.parent)
    hand_on(index, work, rates, nv, C, dq, dv, M, total, second, pairs, summed)
