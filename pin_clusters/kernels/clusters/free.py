"""A FREE cluster is a free flyer on the universe; its frame serves as the world frame of all bodies that it carries."""

from ...compiler.numba_jit.jit import inline
from ..bodies.motions import base_gravity, body_inertia, inertial_force, needed_force, set_motion
from ..bodies.placements import unit_rotation
from ..directions import Out
from ..numbers.choices import too_small
from ..numbers.ldl6 import sym6_factor, sym6_solve
from ..numbers.memory import get, put
from ..numbers.spatial import rigid_as_sym6, zero3
from ..numbers.tuples import load6
from ..tables import workspace as ws
from ..tables.views import body
from .prescribed import eliminate_base


@inline
def advance(index, params, work, q, v, a, result_and_forces, C, forced):
    b = C.first
    B, R, x = body(index, b), unit_rotation(), zero3()
    vel, acc = load6(v, C.column), base_gravity(params, work, q, b, B) + load6(a, C.column)
    f = needed_force(index, params, result_and_forces, b, B, R, x, vel, acc, forced)
    ws.set_pose(work, b, R, x)
    set_motion(work, b, vel, acc, f)


@inline
def collect(work, out: Out, C):
    """Write the spatial force on the base as the generalized force of the free flyer: (A4)."""
    put(out, C.column, ws.force(work, C.first))


@inline
def advance_with_inertia(index, params, work, q, v, result_and_forces, prescribed, a, C, forced):
    """Compute (A1) to (A3) at zero or prescribed acceleration, and the inertia of the base."""
    b = C.first
    B, R, x = body(index, b), unit_rotation(), zero3()
    vel, acc = load6(v, C.column), base_gravity(params, work, q, b, B)
    if prescribed is not None:
        acc = acc + load6(a, C.column)
    I = body_inertia(params, b, R, x)
    f = inertial_force(index, params, result_and_forces, b, B, R, x, I, vel, acc, forced)
    ws.set_pose(work, b, R, x)
    set_motion(work, b, vel, acc, f)
    ws.set_articulated(work, b, rigid_as_sym6(I))


@inline
def _factors(params, work, C):
    """Return the factors of D, which is the articulated inertia of the base, and whether D is singular."""
    inverse_d, d, L = sym6_factor(ws.articulated(work, C.first))
    singular, smallest = False, get(params, C.smallest)
    for k in range(6):
        if too_small(d[k], smallest):
            singular = True
    return inverse_d, L, singular


@inline
def eliminate(params, work, prescribed, tau: Out, a: Out, C):
    """Compute the acceleration of the base (A9) after all other eliminations; return whether D is singular."""
    if prescribed is not None:
        return eliminate_base(params, work, prescribed, tau, a, C)
    inverse_d, L, singular = _factors(params, work, C)
    x = sym6_solve(inverse_d, L, load6(tau, C.column) - ws.force(work, C.first))
    ws.set_acceleration(work, C.first, x)
    put(a, C.column, x)
    return singular


@inline
def compose(params, work, C):
    R, x = unit_rotation(), zero3()
    ws.set_pose(work, C.first, R, x)
    ws.set_composite(work, C.first, body_inertia(params, C.first, R, x))


@inline
def couple(I, nv, k, M: Out):
    """Write the block of M that belongs to the base (C1): the robot's inertia [[m, -h x], [h x, J]] in base axes."""
    o, m, h, J = 0.0, I[0], (I[1], I[2], I[3]), (I[4], I[5], I[6], I[7], I[8], I[9])
    put(M, k * nv + k, (m, o, o, o, h[2], -h[1]))
    put(M, (k + 1) * nv + k, (o, m, o, -h[2], o, h[0]))
    put(M, (k + 2) * nv + k, (o, o, m, h[1], -h[0], o))
    put(M, (k + 3) * nv + k, (o, -h[2], h[1], J[0], J[1], J[2]))
    put(M, (k + 4) * nv + k, (h[2], o, -h[0], J[1], J[3], J[4]))
    put(M, (k + 5) * nv + k, (-h[1], h[0], o, J[2], J[4], J[5]))


@inline
def factor(params, work, C):
    inverse_d, L, singular = _factors(params, work, C)
    ws.set_base_inverse_d(work, C.first, inverse_d)
    ws.set_base_L(work, C.first, L)
    return singular
