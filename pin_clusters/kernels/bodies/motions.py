"""Motion, inertia and inertial force of one body, and the external forces that act on it: (A1) to (A3), (S1)."""

from ...compiler.numba_jit.jit import inline
from ..numbers.angles import sincos, turn_z
from ..numbers.memory import get
from ..numbers.tuples import Vec3, load3, load6, load9
from ..tables import layout as at
from ..tables import workspace as ws
from ..tables.layout import BODY_PARAMS
from ..tables.views import header, listed
from .placements import free_rotation

from ..numbers.spatial import angular, cross, force_from, join, linear, matmul3  # isort: skip
from ..numbers.spatial import rigid_in_world, rot, rot6_t, rot_t, sym3_mul, zero3, zero6  # isort: skip


@inline
def rate_of(index, work, v, C, B, d, rate):
    """Return the sum of ``rate`` and (row d of G_b) . v."""
    for k in range(C.nk):
        rate += ws.G_entry(work, B.at_G, C.nk, d, k) * get(v, listed(index, C.column, k))
    return rate


@inline
def along(index, work, v, C, B):
    """Return S_b G_b v, the velocity of body b of a GENERAL cluster relative to its parent."""
    if B.unit >= 0:
        return ws.subspace(work, B.at_S, 0) * get(v, B.unit)
    vj = zero6()
    for d in range(B.ndof):
        vj = vj + ws.subspace(work, B.at_S, d) * rate_of(index, work, v, C, B, d, 0.0)
    return vj


@inline
def motion(work, parent, vj, aj):
    """Return velocity and acceleration of a body: (A1), (A2). If ``aj`` is None, the joint acceleration is zero."""
    up = ws.velocity(work, parent)
    a = ws.acceleration(work, parent) + cross(up, vj)
    return up + vj, a if aj is None else a + aj


@inline
def set_hinge(work, b, R, x, S, v, a):
    ws.set_pose(work, b, R, x)
    ws.set_axis(work, b, S)
    ws.set_velocity(work, b, v)
    ws.set_acceleration(work, b, a)


@inline
def set_motion(work, b, v, a, f):
    ws.set_velocity(work, b, v)
    ws.set_acceleration(work, b, a)
    ws.set_force(work, b, f)


@inline
def base_gravity(params, work, q, b, B):
    """Return minus gravity, expressed in the axes of free flyer b."""
    g = rot_t(load9(params, b * BODY_PARAMS + at.ROTATION), load3(params, at.MINUS_GRAVITY))
    return join(rot_t(free_rotation(q, B.iq), g), zero3())


@inline
def body_inertia(params, b, R, x):
    """Return the rigid-body inertia of body b about the world origin, in world axes."""
    k = b * BODY_PARAMS
    return rigid_in_world(R, x, get(params, k + at.MASS), load3(params, k + at.LEVER), load6(params, k + at.INERTIA))


@inline
def newton_euler(I, v, a):
    """Return the inertial force I a + v x* I v: (A3)."""
    h, w, alpha = Vec3(I[1], I[2], I[3]), angular(v), angular(a)
    J = (I[4], I[5], I[6], I[7], I[8], I[9])
    # n is the acceleration of the body point that is now at the world origin.
    n = linear(a) + cross(w, linear(v))
    f = n * I[0] + cross(alpha, h) + cross(w, cross(w, h))
    return join(f, sym3_mul(J, alpha) + cross(w, sym3_mul(J, w)) + cross(h, n))


@inline
def body_force(params, b, R, x, v, a):
    """Return the force (A3) from the motion of the centre of mass, with half the operations of ``newton_euler``."""
    k = b * BODY_PARAMS
    I, m = load6(params, k + at.INERTIA), get(params, k + at.MASS)
    c = x + rot(R, load3(params, k + at.LEVER))
    w, alpha = angular(v), angular(a)
    local_w = rot_t(R, w)
    spin = rot(R, sym3_mul(I, rot_t(R, alpha)) + cross(local_w, sym3_mul(I, local_w)))
    # The term in parentheses is the acceleration of the centre of mass.
    f = (linear(a) + cross(alpha, c) + cross(w, linear(v) + cross(w, c))) * m
    return join(f, spin + cross(c, f))


@inline
def wrench_in_world(R, x, R_align, f):
    """Transform a force from joint axes to the world; R, x is the body's pose, and R_align maps body to joint axes."""
    return force_from(R, x, rot6_t(R_align, f))


@inline
def external_force(index, params, result_and_forces, b, B, R, x):
    """Return the external force on body b in world axes; ``result_and_forces`` contains nv results, then the forces."""
    # Intermediate bodies of a joint carry no external force. As in Pinocchio, the force on the universe is ignored.
    f = load6(result_and_forces, header(index).nv + 6 * max(B.joint, 0))
    on = 1.0 if B.joint > 0 else 0.0
    return wrench_in_world(R, x, load9(params, b * BODY_PARAMS + at.ALIGN), f) * on


@inline
def inertial_force(index, params, result_and_forces, b, B, R, x, I, v, a, forced):
    """Return the inertial force of body b with inertia I, minus the external force on b: (A3)."""
    f = newton_euler(I, v, a)
    return f - external_force(index, params, result_and_forces, b, B, R, x) if forced else f


@inline
def needed_force(index, params, result_and_forces, b, B, R, x, v, a, forced):
    """Return the same force as ``inertial_force``, but compute it without the inertia in world axes."""
    f = body_force(params, b, R, x, v, a)
    return f - external_force(index, params, result_and_forces, b, B, R, x) if forced else f


@inline
def pose_of_rotor(params, work, q, r):
    """Return rotation and position of rotor r (a table view), which spins about its z axis."""
    R_carrier = ws.rotation(work, r.carrier)
    R = matmul3(R_carrier, load9(params, r.at))
    x = ws.position(work, r.carrier) + rot(R_carrier, load3(params, r.at + 9))
    if r.kind == at.CONTINUOUS:
        return turn_z(R, get(q, r.iq), get(q, r.iq + 1)), x
    s, c = sincos(get(q, r.iq))
    return turn_z(R, c, s), x


@inline
def rotor_force(index, params, work, q, result_and_forces, r):
    R, x = pose_of_rotor(params, work, q, r)
    f, R_align = load6(result_and_forces, header(index).nv + 6 * r.joint), load9(params, r.at + 12)
    return wrench_in_world(R, x, R_align, f), rot_t(R_align, angular(f))[2]


@inline
def spin_moment(work, carrier, h, rate, a):
    """Return the moment (S1) of spin elements on their carrier; h is the spin momentum per unit velocity."""
    moment = cross(angular(ws.velocity(work, carrier)), h) * rate
    return moment if a is None else moment + h * a
