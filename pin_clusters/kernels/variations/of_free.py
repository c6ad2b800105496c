"""Variations of a FREE cluster (V6): the world is the free flyer's frame, so J is the identity and L is zero."""

from ...compiler.numba_jit.jit import inline
from ..bodies.motions import base_gravity, body_inertia
from ..bodies.placements import free_pose, unit_rotation
from ..clusters.free import couple
from ..directions import Out
from ..numbers.memory import put, put_apart
from ..numbers.spatial import cross, cross_force, join, linear, rigid_mul, rot, zero3
from ..numbers.tuples import Rigid, Vec3, Vec6, load3, load6, load9
from ..tables import workspace as ws
from ..tables.variations_layout import BASE_POSITION, BASE_ROTATION, UP
from ..tables.views import body
from .ancestors import enter_sum
from .forces import set_inertial
from .momentum_rates import twice_B


@inline
def advance(index, params, work, rates: Out, q, v, a, forces, C, second, summed, forced):
    """Compute (V1) and (V2), and write minus gravity, expressed in the free flyer's axes."""
    b = C.first
    B, R, x = body(index, b), unit_rotation(), zero3()
    up = base_gravity(params, work, q, b, B)
    vel, acc = load6(v, C.column), up + load6(a, C.column)
    put(rates, C.at_rates + UP, linear(up))
    if summed:
        R_base, p = free_pose(params, q, b, B)
        put(rates, C.at_rates + BASE_ROTATION, R_base)
        put(rates, C.at_rates + BASE_POSITION, p)
    ws.set_pose(work, b, R, x)
    ws.set_velocity(work, b, vel)
    ws.set_acceleration(work, b, acc)
    set_inertial(index, params, work, forces, b, B, R, x, body_inertia(params, b, R, x), vel, acc, second, forced)


@inline
def unit(k):
    return Vec6(
        1.0 if k == 0 else 0.0,
        1.0 if k == 1 else 0.0,
        1.0 if k == 2 else 0.0,
        1.0 if k == 3 else 0.0,
        1.0 if k == 4 else 0.0,
        1.0 if k == 5 else 0.0,
    )


@inline
def collect(index, work, rates, nv, C, tau: Out, dq: Out, dv: Out, M: Out, total: Out, second, pairs, summed):
    """Compute (V3) to (V5) for the six columns e: Gamma = v x e and N = a_0 x e, where a_0 is minus gravity."""
    b, i, o = C.first, C.column, 0.0
    I, h, sigma, f = ws.composite(work, b), ws.total_momentum(work, b), ws.inertia_rate(work, b), ws.force(work, b)
    vel, up = ws.velocity(work, b), load3(rates, C.at_rates + UP)
    if second:
        put(tau, i, f)
    if pairs:
        couple(I, nv, i, M)
    for k in range(6):
        e = unit(k)
        Q = twice_B(h, sigma, e) + rigid_mul(I, cross(vel, e))
        P = rigid_mul(I, join(cross(up, Vec3(e[3], e[4], e[5])), zero3()))
        if pairs:
            put_apart(dv, i * nv + i + k, nv, Q)
            if second:
                put_apart(dq, i * nv + i + k, nv, P)
        if summed:
            enter_sum(index, rates, total, nv, C, i + k, rigid_mul(I, e), P + cross_force(e, f), Q, cross_force(e, h))
    if summed:
        # (V7) uses only the mass, first moment, linear momentum and linear force of the robot.
        R, p, z = load9(rates, C.at_rates + BASE_ROTATION), load3(rates, C.at_rates + BASE_POSITION), zero3()
        moment = rot(R, Vec3(I[1], I[2], I[3])) + p * I[0]
        ws.add_composite(work, 0, Rigid(I[0], moment[0], moment[1], moment[2], o, o, o, o, o, o))
        ws.add_total_momentum(work, 0, join(rot(R, linear(h)), z))
        ws.add_force(work, 0, join(rot(R, linear(f)), z))
