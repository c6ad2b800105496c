"""Variations of GENERAL clusters whose joints have one degree of freedom each and are coupled only by spin elements.

The functions have the same purpose as in ``of_general``. A Jacobian column is the same for all bodies that its joint
moves. The output body carries the spin elements; their terms are added after the recursion has left the cluster.
"""

from ...compiler.numba_jit.jit import inline
from ..bodies.motions import body_inertia, set_hinge
from ..bodies.placements import hinge
from ..clusters.spin_elements import inertia_torques, spin_columns, spin_terms_on
from ..directions import Out
from ..numbers.memory import get, increase, put, put_twice
from ..numbers.spatial import add_angular, angular, cross, cross_force, dot3, dot6, zero6
from ..numbers.tuples import load6
from ..tables import workspace as ws
from ..tables.variations_layout import ACCELERATION, OF_COLUMN, ON_ROTOR
from ..tables.views import body, listed
from .ancestors import enter_sum, to_ancestors
from .forces import forces_of, hand_force, hand_inertial, momentum_of, set_inertial


@inline
def advance_hinge(index, params, work, rates: Out, q, forces, b, B, at, rate, aj, second, forced):
    """Compute (V1) and (V2) of a body whose joint has one degree of freedom; return the joint axis S."""
    R, x, S = hinge(params, work, q, b, B)
    v_up, a_up = ws.velocity(work, B.parent), ws.acceleration(work, B.parent)
    L = cross(v_up, S)
    vel, acc = v_up + S * rate, a_up + L * rate + S * aj
    set_hinge(work, b, R, x, S, vel, acc)
    put(rates, at, L)
    if second:
        put(rates, at + ACCELERATION, cross(a_up, S) + cross(v_up, L))
    if forced:
        put(rates, at + ON_ROTOR, zero6())
    set_inertial(index, params, work, forces, b, B, R, x, body_inertia(params, b, R, x), vel, acc, second, forced)
    return S


@inline
def advance(index, params, work, rates: Out, q, v, a, forces, C, tau: Out, second, forced):
    for b in range(C.first, C.last):
        B = body(index, b)
        column, rate, aj = C.at_rates + OF_COLUMN * B.which, get(v, B.unit), get(a, B.unit)
        S = advance_hinge(index, params, work, rates, q, forces, b, B, column, rate, aj, second, forced)
        ws.set_subspace(work, B.at_S, 0, S)
    spin_columns(index, work, C)
    if second:
        inertia_torques(index, work, a, tau, C)
    if C.at_spin >= 0:
        if second:
            spin_terms_on(index, work, v, a, tau, C, C.out, C.at_spin, False)
        for k in range(C.nk):
            h = ws.spin_column(work, C.at_work, C.nk, 0, k)
            ws.add_spin_momentum(work, C.out, h * get(v, listed(index, C.column, k)))


@inline
def enter_inside(index, work, rates, nv, C, b, B, F, P, Q, T, dq: Out, dv: Out, M: Out, second):
    """Write the entries (V5) that couple body b's column with columns of ancestors in the cluster; M includes E."""
    j, i = B.parent, B.unit
    while j != C.out:
        A = body(index, j)
        column, J, k = C.at_rates + OF_COLUMN * A.which, ws.subspace(work, A.at_S, 0), A.unit
        L = load6(rates, column)
        put_twice(M, nv, k, i, dot6(F, J) + ws.E_entry(work, C.at_E, C.nk, A.which, B.which))
        put(dv, k * nv + i, dot6(J, Q))
        put(dv, i * nv + k, 2.0 * dot6(F, L) + dot3(T, angular(J)))
        if second:
            put(dq, k * nv + i, dot6(J, P))
            put(dq, i * nv + k, dot6(F, load6(rates, column + ACCELERATION)) + dot3(T, angular(L)))
        j = A.parent


@inline
def collect(index, work, rates, nv, C, tau: Out, dq: Out, dv: Out, M: Out, total: Out, second, pairs, summed, forced):
    if pairs:  # between different branches of the cluster, only spin elements (E) contribute to M
        for k in range(C.nk):
            for m in range(C.nk):
                entry = listed(index, C.column, k) * nv + listed(index, C.column, m)
                put(M, entry, ws.E_entry(work, C.at_E, C.nk, k, m))
    for n in range(C.last - C.first):
        b = C.last - 1 - n
        B, f = body(index, b), ws.force(work, b)
        i, column, S = B.unit, C.at_rates + OF_COLUMN * B.which, ws.subspace(work, B.at_S, 0)
        L, N = load6(rates, column), load6(rates, column + ACCELERATION)
        F, P, Q, T = forces_of(work, b, S, L, N, L * 2.0, second)
        if pairs:
            diagonal = i * nv + i
            put(M, diagonal, dot6(S, F) + ws.E_entry(work, C.at_E, C.nk, B.which, B.which))
            put(dv, diagonal, dot6(S, Q))
        if second:
            increase(tau, i, dot6(S, f))
            if pairs:
                put(dq, i * nv + i, dot6(S, P))
            P = P + cross_force(S, f)
        if pairs:
            enter_inside(index, work, rates, nv, C, b, B, F, P, Q, T, dq, dv, M, second)
        if forced:
            P = P + load6(rates, column + ON_ROTOR)
        if C.at_spin >= 0:
            h = ws.spin_column(work, C.at_work, C.nk, 0, B.which)
            turn = cross(angular(ws.velocity(work, C.out)), h)
            F, Q, T = add_angular(F, h), add_angular(Q, turn), T + turn
        if pairs:
            to_ancestors(index, work, rates, nv, C.out, i, F, P, Q, T, dq, dv, M, second)
        if summed:
            enter_sum(index, rates, total, nv, C, i, F, P, Q, momentum_of(work, b, S, L))
        if summed or B.parent > 0:
            hand_inertial(work, b, B.parent)
            if second:
                hand_force(work, b, B.parent)
