"""Variations of SINGLE clusters, for which J is the joint axis S and Gamma = 2 L."""

from ...compiler.numba_jit.jit import inline
from ..bodies.motions import spin_moment
from ..directions import Out
from ..numbers.memory import get, put
from ..numbers.spatial import add_angular, angular, cross, cross_force, dot3, dot6, rot
from ..numbers.tuples import load3, load6
from ..tables import workspace as ws
from ..tables.variations_layout import ACCELERATION, ON_ROTOR
from ..tables.views import body
from .ancestors import enter_sum, to_ancestors
from .forces import forces_of, hand_force, hand_inertial, momentum_of
from .hinges import advance_hinge


@inline
def advance(index, params, work, rates: Out, q, v, a, forces, C, second, forced):
    """Compute (V1) and (V2) of the body, and add the force and momentum of its spin elements (S1) to the parent."""
    b = C.first
    B = body(index, b)
    rate, aj = get(v, C.column), get(a, C.column)
    advance_hinge(index, params, work, rates, q, forces, b, B, C.at_rates, rate, aj, second, forced)
    t = get(params, C.at_E) * aj
    if C.at_spin >= 0:
        h = rot(ws.rotation(work, B.parent), load3(params, C.at_spin))
        ws.set_spin(work, b, h)
        ws.add_spin_momentum(work, B.parent, h * rate)
        if second:
            t += dot3(h, angular(ws.acceleration(work, B.parent)))
            ws.add_moment(work, B.parent, spin_moment(work, B.parent, h, rate, aj))
    if second:
        ws.set_own_torque(work, b, t)


@inline
def collect(
    index, params, work, rates, nv, C, tau: Out, dq: Out, dv: Out, M: Out, total: Out, second, pairs, summed, forced
):
    """Compute (V3) to (V5) and the torque, and add the subtree's sums to the parent."""
    b = C.first
    B, i = body(index, b), C.column
    S, L, N, f = ws.axis(work, b), load6(rates, C.at_rates), load6(rates, C.at_rates + ACCELERATION), ws.force(work, b)
    F, P, Q, T = forces_of(work, b, S, L, N, L * 2.0, second)
    if pairs:
        diagonal = i * nv + i
        put(M, diagonal, dot6(S, F) + get(params, C.at_E))
        put(dv, diagonal, dot6(S, Q))
    if second:
        put(tau, i, dot6(S, f) + ws.own_torque(work, b))
        if pairs:
            put(dq, i * nv + i, dot6(S, P))
        P = P + cross_force(S, f)
    if forced:
        P = P + load6(rates, C.at_rates + ON_ROTOR)
    if C.at_spin >= 0:
        h = ws.spin(work, b)
        turn = cross(angular(ws.velocity(work, B.parent)), h)
        F, Q, T = add_angular(F, h), add_angular(Q, turn), T + turn
    if pairs:
        to_ancestors(index, work, rates, nv, B.parent, i, F, P, Q, T, dq, dv, M, second)
    if summed:
        enter_sum(index, rates, total, nv, C, i, F, P, Q, momentum_of(work, b, S, L))
    if summed or B.parent > 0:
        hand_inertial(work, b, B.parent)
        if second:
            hand_force(work, b, B.parent)
