"""Poses and motion subspaces of bodies in the world."""

from ...compiler.numba_jit.jit import inline
from ..numbers.angles import quaternion_rotation, sincos, turn_z
from ..numbers.memory import get
from ..numbers.spatial import angular, column, cross, join, linear, matmul3, rot, zero3, zero6
from ..numbers.tuples import Vec3, load3, load9
from ..tables import layout as at
from ..tables import workspace as ws
from ..tables.layout import BODY_PARAMS
from ..tables.views import body, cluster, header


@inline
def start(params, work):
    """Initialize the universe: identity pose, zero velocity, and minus gravity as its acceleration (A2)."""
    ws.set_pose(work, 0, unit_rotation(), zero3())
    ws.set_velocity(work, 0, zero6())
    ws.set_acceleration(work, 0, add_linear(zero6(), load3(params, at.MINUS_GRAVITY)))


@inline
def add_linear(a, n):
    return join(linear(a) + n, angular(a))


@inline
def unit_rotation():
    return (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)


@inline
def turned(R, shuffle, params, k):
    """Return R times the rotation at params[k], which is a cyclic permutation of axes if ``shuffle`` is 1 to 3."""
    if shuffle == 1:
        return R
    if shuffle == 2:
        return (R[1], R[2], R[0], R[4], R[5], R[3], R[7], R[8], R[6])
    if shuffle == 3:
        return (R[2], R[0], R[1], R[5], R[3], R[4], R[8], R[6], R[7])
    return matmul3(R, load9(params, k))


@inline
def fixed_part(params, work, b, B):
    """Return the pose of the joint frame of body b in the world for zero joint displacement."""
    k, R_parent = b * BODY_PARAMS, ws.rotation(work, B.parent)
    R = turned(R_parent, B.shuffle, params, k + at.ROTATION)
    return R, ws.position(work, B.parent) + rot(R_parent, load3(params, k + at.POSITION))


@inline
def turn_joint(work, q, b, B):
    """Store sine and cosine of the joint angle of body b if the joint has exactly one angle."""
    if B.kind == at.REVOLUTE or B.kind == at.HELICAL:
        ws.set_sine_and_cosine(work, b, sincos(get(q, B.iq)))
    elif B.kind == at.CONTINUOUS:
        ws.set_sine_and_cosine(work, b, (get(q, B.iq + 1), get(q, B.iq)))


@inline
def turn_joints(index, work, q):
    """Store sines and cosines of all joints outside LOOP clusters, in one loop that the processor can pipeline."""
    for c in range(header(index).cluster0, header(index).cluster1):
        C = cluster(index, c)
        if C.kind != at.LOOP:
            for b in range(C.first, C.last):
                turn_joint(work, q, b, body(index, b))


@inline
def hinge(params, work, q, b, B):
    """Return pose and motion axis of a body whose joint has one degree of freedom; call ``turn_joint`` first."""
    R, x = fixed_part(params, work, b, B)
    z = column(R, 2)
    S = join(cross(x, z), z)
    if B.kind == at.PRISMATIC:
        x = x + z * get(q, B.iq)
        S = join(z, zero3())
    else:
        s, c = ws.sine_and_cosine(work, b)
        R = turn_z(R, c, s)
        if B.kind == at.HELICAL:
            pitch = get(params, b * BODY_PARAMS + at.PITCH)
            x = x + z * (pitch * get(q, B.iq))
            S = add_linear(S, z * pitch)
    return R, x, S


@inline
def free_rotation(q, i):
    return quaternion_rotation(get(q, i + 3), get(q, i + 4), get(q, i + 5), get(q, i + 6))


@inline
def free_pose(params, q, b, B):
    R = load9(params, b * BODY_PARAMS + at.ROTATION)
    x = load3(params, b * BODY_PARAMS + at.POSITION) + rot(R, load3(q, B.iq))
    return matmul3(R, free_rotation(q, B.iq)), x


@inline
def moved(params, q, L, k, R, d):
    """Return the pose of link or body L; (R, d) is its pose at zero joint displacement, and its params start at k."""
    i = L.iq
    if L.kind == at.REVOLUTE:
        s, c = sincos(get(q, i))
        return turn_z(R, c, s), d
    if L.kind == at.CONTINUOUS:
        return turn_z(R, get(q, i), get(q, i + 1)), d
    if L.kind == at.PRISMATIC:
        return R, d + column(R, 2) * get(q, i)
    if L.kind == at.HELICAL:
        s, c = sincos(get(q, i))
        return turn_z(R, c, s), d + column(R, 2) * (get(params, k + at.PITCH) * get(q, i))
    if L.kind == at.PLANAR:
        x = d + rot(R, Vec3(get(q, i), get(q, i + 1), 0.0))
        return turn_z(R, get(q, i + 2), get(q, i + 3)), x
    if L.kind == at.SPHERICAL:
        return matmul3(R, quaternion_rotation(get(q, i), get(q, i + 1), get(q, i + 2), get(q, i + 3))), d
    x = d + rot(R, load3(q, i))
    return matmul3(R, free_rotation(q, i)), x


@inline
def place(params, work, q, b, B):
    """Compute and store pose and motion subspace of body b, for any type of joint; return the pose."""
    if B.kind == at.REVOLUTE or B.kind == at.CONTINUOUS or B.kind == at.PRISMATIC or B.kind == at.HELICAL:
        R, x, S = hinge(params, work, q, b, B)
        ws.set_subspace(work, B.at_S, 0, S)
        ws.set_pose(work, b, R, x)
        return R, x
    R, x = fixed_part(params, work, b, B)
    R, x = moved(params, q, B, b * BODY_PARAMS, R, x)
    ws.set_pose(work, b, R, x)
    e0, e1, e2, zero, angles = column(R, 0), column(R, 1), column(R, 2), zero3(), 0
    if B.kind != at.SPHERICAL:
        ws.set_subspace(work, B.at_S, 0, join(e0, zero))
        ws.set_subspace(work, B.at_S, 1, join(e1, zero))
        angles = 2
    if B.kind == at.FREEFLYER:
        ws.set_subspace(work, B.at_S, 2, join(e2, zero))
        angles = 3
    if B.kind != at.PLANAR:
        ws.set_subspace(work, B.at_S, angles, join(cross(x, e0), e0))
        ws.set_subspace(work, B.at_S, angles + 1, join(cross(x, e1), e1))
        angles += 2
    ws.set_subspace(work, B.at_S, angles, join(cross(x, e2), e2))
    return R, x
