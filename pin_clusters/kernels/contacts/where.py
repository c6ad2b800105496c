"""Computes contact placements, velocities and right-hand sides from Pinocchio's contact models; writes contact data."""

from ...compiler.numba_jit.jit import inline
from ..bodies.rotation_angles import log6
from ..directions import Out
from ..force_columns.seed import of_world
from ..numbers.memory import get, put
from ..numbers.spatial import angular, cross, join, linear, matmul3, rot, rot6, rot_t, transposed, zero3
from ..numbers.tuples import load3, load6, load9
from ..tables import contacts_layout as at
from ..tables import layout
from ..tables import workspace as ws
from ..tables.addresses import seen
from ..tables.contacts_layout import DYNAMICS, IMPACT


@inline
def side(work, numbers, b, to_joint, given, k):
    R_joint = matmul3(ws.rotation(work, b), load9(numbers, to_joint))
    return matmul3(R_joint, transposed(load9(given, k))), ws.position(work, b) + rot(R_joint, load3(given, k + 9))


@inline
def local_motion(m, R, x):
    """Express a motion m, given in the world, in the axes R and at the origin x of a frame."""
    w = angular(m)
    return join(rot_t(R, linear(m) + cross(w, x)), rot_t(R, w))


@inline
def act(R, p, m):
    """Transform a motion m from a frame at R, p to the frame in which R and p are expressed."""
    w = rot(R, angular(m))
    return join(rot(R, linear(m)) + cross(p, w), w)


@inline
def cross_motion(a, b):
    wa, wb = angular(a), angular(b)
    return join(cross(wa, linear(b)) + cross(linear(a), wb), cross(wa, wb))


@inline
def placed(to: Out, k, R, x):
    put(to, k, transposed(R))
    put(to, k + 9, x)


@inline
def true_acceleration(params, work, b, R_world, R, x):
    """Return a body's true acceleration (without gravity), in the axes and at the origin of a frame on the body."""
    g = rot_t(R_world, load3(params, layout.MINUS_GRAVITY))
    return local_motion(ws.acceleration(work, b) - join(g, zero3()), R, x)


@inline
def point_acceleration(v, a):
    """Return the classical acceleration a + w x v of a frame's origin, in the frame's axes."""
    return linear(a) + cross(angular(v), linear(v))


@inline
def place_contact(index, params, work, q, numbers: Out, K, F, wanted):
    """Write the point and axes of a contact, and the right-hand side of (O6): gamma minus the acceleration at a = 0.

    The kernel also writes the fields of the contact's ``pin.RigidConstraintData`` that do not depend on the force.
    """
    model, data, k, o = seen(K.model, at.READ_MODEL), seen(K.data, at.READ_DATA), K.at, zero3()
    R1, x1 = side(work, numbers, K.body1, k + at.TO_JOINT, model, F.placement1)
    if K.same == 0:
        world1, origin1 = of_world(index, params, q, K.root1, numbers, k + at.HOME)
        put(numbers, at.WORLD, world1)
        put(numbers, at.WORLD + 9, origin1)
    world1, origin1 = load9(numbers, at.WORLD), load3(numbers, at.WORLD + 9)
    R_one, x_one = matmul3(world1, R1), origin1 + rot(world1, x1)
    v1 = local_motion(ws.velocity(work, K.body1), R1, x1)
    # These values apply to contacts with the universe (body2 = 0), which does not move; most contacts are of this kind.
    R_two, x_two = transposed(load9(model, F.placement2)), load3(model, F.placement2 + 9)
    R2, x2, world2, origin2, v2 = R_two, x_two, R_two, x_two, join(o, o)
    if K.body2 > 0:
        R2, x2 = side(work, numbers, K.body2, k + at.SECOND + at.TO_JOINT, model, F.placement2)
        world2, origin2 = of_world(index, params, q, K.root2, numbers, k + at.SECOND + at.HOME)
        R_two, x_two = matmul3(world2, R2), origin2 + rot(world2, x2)
        v2 = local_motion(ws.velocity(work, K.body2), R2, x2)
    R, p = matmul3(transposed(R_one), R_two), rot_t(R_one, x_two - x_one)
    placed(data, F.oMc1, R_one, x_one)
    placed(data, F.oMc2, R_two, x_two)
    placed(data, F.c1Mc2, R, p)

    axes = R1
    if K.aligned == 1:
        axes = transposed(world1)
    put(numbers, k + at.AXES, axes)
    put(numbers, k + at.POINT, x1)
    if K.body2 > 0:
        axes = matmul3(transposed(world2), R_one)
        if K.aligned == 1:
            axes = transposed(world2)
        put(numbers, k + at.AXES2, axes)
        if K.rows == 3:
            put(numbers, k + at.POINT2, x2)
        else:
            put(numbers, k + at.POINT2, rot_t(world2, x_one - origin2))

    if wanted == IMPACT:
        actual = v1
        if K.body2 > 0:
            actual = v1 - act(R, p, v2)
            if K.rows == 3:
                actual = join(linear(v1) - rot(R, linear(v2)), o)
        if K.aligned == 1:
            actual = rot6(R_one, actual)
        put(numbers, k + at.MISSING, actual * (-1.0 - get(numbers, at.RESTITUTION)))
    elif wanted == DYNAMICS:
        a1 = true_acceleration(params, work, K.body1, world1, R1, x1)
        a2 = join(o, o)
        if K.body2 > 0:
            a2 = true_acceleration(params, work, K.body2, world2, R2, x2)
        desired = F.desired_placement
        if K.rows == 3:
            error = join(load3(model, desired + 9) - p, o)
            rate, actual = linear(v1) - load3(model, F.desired_velocity), point_acceleration(v1, a1)
            if K.body2 > 0:
                rate = rate - rot(R, linear(v2))
                actual = actual - rot(R, point_acceleration(v2, a2))
            rate, actual = join(rate, o), join(actual, o)
        else:
            # Pinocchio stores rotations by columns, so R_wanted is the transpose of the desired rotation.
            R_wanted = load9(model, desired)
            error = -log6(matmul3(R_wanted, R), rot(R_wanted, p - load3(model, desired + 9)))
            rate, actual = v1 - load6(model, F.desired_velocity), a1
            if K.body2 > 0:
                v2_in_one = act(R, p, v2)  # velocity of body 2, expressed in the frame of side 1
                actual = actual - act(R, p, a2)
                if K.aligned == 0:
                    actual = actual + cross_motion(v1 - v2_in_one, v2_in_one)
                rate = rate - v2_in_one
        missing = -(error * get(model, F.Kp) + rate * get(model, F.Kd))
        if K.aligned == 1:
            actual = rot6(R_one, actual)
            missing = rot6(R_one, missing)
        put(data, F.velocity1, v1)
        put(data, F.velocity2, v2)
        put(data, F.placement_error, error)
        put(data, F.velocity_error, rate)
        put(data, F.acceleration_error, missing)
        target = load6(model, F.desired_acceleration) + load6(data, F.acceleration_desired)
        put(numbers, k + at.MISSING, missing + target - actual)
