"""Where contacts are, how they move, and what they lack: read from Pinocchio's objects and left in their data."""

from ...compiler.numba_jit.jit import inline
from ..bodies.rotation_angles import log6
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
    """Pose of one side of a contact in the kernels' world; k is where its placement in the joint stands."""
    R_joint = matmul3(ws.rotation(work, b), load9(numbers, to_joint))
    return matmul3(R_joint, transposed(load9(given, k))), ws.position(work, b) + rot(R_joint, load3(given, k + 9))


@inline
def local_motion(m, R, x):
    """A motion in the axes of a frame, at its origin."""
    w = angular(m)
    return join(rot_t(R, linear(m) + cross(w, x)), rot_t(R, w))


@inline
def act(R, p, m):
    """A motion in another frame, where this one is at R, p."""
    w = rot(R, angular(m))
    return join(rot(R, linear(m)) + cross(p, w), w)


@inline
def cross_motion(a, b):
    """The cross product a x b of spatial motions."""
    wa, wb = angular(a), angular(b)
    return join(cross(wa, linear(b)) + cross(linear(a), wb), cross(wa, wb))


@inline
def placed(to, k, R, x):
    """Write a placement as Pinocchio keeps it."""
    put(to, k, transposed(R))
    put(to, k + 9, x)


@inline
def true_acceleration(params, work, b, R_world, R, x):
    """Acceleration of a body in the axes of a frame on it, at its origin, without gravity."""
    g = rot_t(R_world, load3(params, layout.MINUS_GRAVITY))
    return local_motion(ws.acceleration(work, b) - join(g, zero3()), R, x)


@inline
def point_acceleration(v, a):
    """Acceleration of the origin of a frame as a point, in its own axes."""
    return linear(a) + cross(angular(v), linear(v))


@inline
def place_contact(index, params, work, q, numbers, K, F, wanted):
    """Place a contact: where it acts and along which axes, for its columns; and what it lacks.

    Of what Pinocchio keeps in the data of a contact, all is left there but what the force decides.
    """
    given, left, k, o = seen(K.model, at.READ_MODEL), seen(K.data, at.READ_DATA), K.at, zero3()
    R1, x1 = side(work, numbers, K.body1, k + at.TO_JOINT, given, F.placement1)
    if K.same == 0:
        world1, origin1 = of_world(index, params, q, K.root1, numbers, k + at.HOME)
        put(numbers, at.WORLD, world1)
        put(numbers, at.WORLD + 9, origin1)
    world1, origin1 = load9(numbers, at.WORLD), load3(numbers, at.WORLD + 9)
    R_one, x_one = matmul3(world1, R1), origin1 + rot(world1, x1)
    v1 = local_motion(ws.velocity(work, K.body1), R1, x1)
    # the universe, on which most contacts are, neither turns nor moves
    R_two, x_two = transposed(load9(given, F.placement2)), load3(given, F.placement2 + 9)
    R2, x2, world2, origin2, v2 = R_two, x_two, R_two, x_two, join(o, o)
    if K.body2 > 0:
        R2, x2 = side(work, numbers, K.body2, k + at.SECOND + at.TO_JOINT, given, F.placement2)
        world2, origin2 = of_world(index, params, q, K.root2, numbers, k + at.SECOND + at.HOME)
        R_two, x_two = matmul3(world2, R2), origin2 + rot(world2, x2)
        v2 = local_motion(ws.velocity(work, K.body2), R2, x2)
    R, p = matmul3(transposed(R_one), R_two), rot_t(R_one, x_two - x_one)
    placed(left, F.oMc1, R_one, x_one)
    placed(left, F.oMc2, R_two, x_two)
    placed(left, F.c1Mc2, R, p)

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
        has = v1
        if K.body2 > 0:
            has = v1 - act(R, p, v2)
            if K.rows == 3:
                has = join(linear(v1) - rot(R, linear(v2)), o)
        if K.aligned == 1:
            has = rot6(R_one, has)
        put(numbers, k + at.MISSING, has * (-1.0 - get(numbers, at.RESTITUTION)))
    elif wanted == DYNAMICS:
        a1 = true_acceleration(params, work, K.body1, world1, R1, x1)
        a2 = join(o, o)
        if K.body2 > 0:
            a2 = true_acceleration(params, work, K.body2, world2, R2, x2)
        desired = F.desired_placement
        if K.rows == 3:
            error = join(load3(given, desired + 9) - p, o)
            rate, has = linear(v1) - load3(given, F.desired_velocity), point_acceleration(v1, a1)
            if K.body2 > 0:
                rate = rate - rot(R, linear(v2))
                has = has - rot(R, point_acceleration(v2, a2))
            rate, has = join(rate, o), join(has, o)
        else:
            # Pinocchio keeps rotations by columns, so this is the transpose
            R_wanted = load9(given, desired)
            error = -log6(matmul3(R_wanted, R), rot(R_wanted, p - load3(given, desired + 9)))
            rate, has = v1 - load6(given, F.desired_velocity), a1
            if K.body2 > 0:
                there = act(R, p, v2)  # the second body's velocity, in the frame of the first one
                has = has - act(R, p, a2)
                if K.aligned == 0:
                    has = has + cross_motion(v1 - there, there)
                rate = rate - there
        missing = -(error * get(given, F.Kp) + rate * get(given, F.Kd))
        if K.aligned == 1:
            has = rot6(R_one, has)
            missing = rot6(R_one, missing)
        put(left, F.velocity1, v1)
        put(left, F.velocity2, v2)
        put(left, F.placement_error, error)
        put(left, F.velocity_error, rate)
        put(left, F.acceleration_error, missing)
        asked = load6(given, F.desired_acceleration) + load6(left, F.acceleration_desired)
        put(numbers, k + at.MISSING, missing + asked - has)
