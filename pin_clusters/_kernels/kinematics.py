"""Poses, motion subspaces and velocities of bodies, in the world."""

from __future__ import annotations

from ._jit import inline
from .angles import quaternion_rotation, sincos, turn_z
from .layout import (
    ALIGN,
    AT_G,
    AT_S,
    BODY_PARAMS,
    BODY_WORK,
    COLUMN,
    CONTINUOUS,
    FREEFLYER,
    HELICAL,
    INERTIA,
    IQ,
    JOINT,
    KIND,
    LEVER,
    MASS,
    MINUS_GRAVITY,
    NDOF,
    NK,
    NV,
    PARENT,
    PITCH,
    PLANAR,
    POSITION,
    PRISMATIC,
    REVOLUTE,
    ROTATION,
    ROTOR_AT,
    ROTOR_CARRIER,
    ROTOR_IQ,
    ROTOR_JOINT,
    ROTOR_KIND,
    SHUFFLE,
    SPHERICAL,
    UNIT,
    W_A,
    W_P,
    W_R,
    W_V,
)
from .memory import load3, load6, load9, store3, store6, store9, zero6
from .simd import entry, get, zero
from .spatial import (
    add3,
    add6,
    angular,
    axpy3,
    axpy6,
    crf,
    cross,
    join,
    linear,
    matmul3,
    rigid_in_world,
    rigid_mul,
    rot,
    rot_t,
    scale3,
    sym3_mul,
)


@inline
def start(params, work):
    """Set the universe: pose, rest, and minus gravity as its acceleration."""
    o = zero(work)
    store9(work, W_R, unit_rotation(o))
    store3(work, W_P, (o, o, o))
    store6(work, W_V, (o, o, o, o, o, o))
    g = load3(params, MINUS_GRAVITY)
    store6(work, W_A, (o + g[0], o + g[1], o + g[2], o, o, o))


@inline
def turned(R, shuffle, params, at):
    """R times a constant rotation; most are identities once axes are named: then nothing is to be computed."""
    if shuffle == 1:
        return R
    if shuffle == 2:
        return (R[1], R[2], R[0], R[4], R[5], R[3], R[7], R[8], R[6])
    if shuffle == 3:
        return (R[2], R[0], R[1], R[5], R[3], R[4], R[8], R[6], R[7])
    return matmul3(R, load9(params, at))


@inline
def fixed_part(index, params, work, b):
    """Pose of the joint frame of body b before the joint moves."""
    at, k = entry(index, b, PARENT) * BODY_WORK, b * BODY_PARAMS
    R_parent = load9(work, at + W_R)
    R = turned(R_parent, entry(index, b, SHUFFLE), params, k + ROTATION)
    return R, add3(load3(work, at + W_P), rot(R_parent, load3(params, k + POSITION)))


@inline
def hinge(index, params, work, q, b):
    """Pose and motion axis of a body with a joint of one degree of freedom."""
    R, x = fixed_part(index, params, work, b)
    kind, i = entry(index, b, KIND), entry(index, b, IQ)
    z = (R[2], R[5], R[8])
    m = cross(x, z)
    S = (m[0], m[1], m[2], z[0], z[1], z[2])
    if kind == REVOLUTE:
        s, c = sincos(get(q, i))
        R = turn_z(R, c, s)
    elif kind == CONTINUOUS:
        R = turn_z(R, get(q, i), get(q, i + 1))
    elif kind == PRISMATIC:
        o = zero(work)
        x = axpy3(get(q, i), z, x)
        S = (z[0], z[1], z[2], o, o, o)
    else:
        s, c = sincos(get(q, i))
        R = turn_z(R, c, s)
        pitch = get(params, b * BODY_PARAMS + PITCH)
        x = axpy3(pitch * get(q, i), z, x)
        S = join(axpy3(pitch, z, (S[0], S[1], S[2])), z)
    return R, x, S


@inline
def free_rotation(q, i):
    """Rotation of a free flyer whose configuration begins at i."""
    return quaternion_rotation(get(q, i + 3), get(q, i + 4), get(q, i + 5), get(q, i + 6))


@inline
def place(index, params, work, q, b):
    """Pose and motion subspace of a body of a GENERAL cluster, written to work."""
    kind, i, at = entry(index, b, KIND), entry(index, b, IQ), entry(index, b, AT_S)
    w = b * BODY_WORK
    o = zero(work)
    if kind == REVOLUTE or kind == CONTINUOUS or kind == PRISMATIC or kind == HELICAL:
        R, x, S = hinge(index, params, work, q, b)
        store6(work, at, S)
        store9(work, w + W_R, R)
        store3(work, w + W_P, x)
        return
    R, x = fixed_part(index, params, work, b)
    if kind == PLANAR:
        x = add3(x, rot(R, (get(q, i), get(q, i + 1), o)))
        R = turn_z(R, get(q, i + 2), get(q, i + 3))
    elif kind == SPHERICAL:
        R = matmul3(R, quaternion_rotation(get(q, i), get(q, i + 1), get(q, i + 2), get(q, i + 3)))
    else:
        x = add3(x, rot(R, load3(q, i)))
        R = matmul3(R, free_rotation(q, i))
    store9(work, w + W_R, R)
    store3(work, w + W_P, x)
    e0, e1, e2 = (R[0], R[3], R[6]), (R[1], R[4], R[7]), (R[2], R[5], R[8])
    rest = (o, o, o)
    if kind == FREEFLYER:
        store6(work, at, join(e0, rest))
        store6(work, at + 6, join(e1, rest))
        store6(work, at + 12, join(e2, rest))
        at += 18
    if kind == PLANAR:
        store6(work, at, join(e0, rest))
        store6(work, at + 6, join(e1, rest))
        store6(work, at + 12, join(cross(x, e2), e2))
    else:
        store6(work, at, join(cross(x, e0), e0))
        store6(work, at + 6, join(cross(x, e1), e1))
        store6(work, at + 12, join(cross(x, e2), e2))


@inline
def along(index, params, work, v, c, b):
    """Return S_b G_b v: the velocity of body b of GENERAL cluster c relative to its parent."""
    nk, column, g, s = entry(index, c, NK), entry(index, c, COLUMN), entry(index, b, AT_G), entry(index, b, AT_S)
    vj = zero6(work)
    for d in range(entry(index, b, NDOF)):
        rate = zero(work)
        for k in range(nk):
            rate += get(work, g + d * nk + k) * get(v, entry(index, column + k, 0))
        vj = axpy6(rate, load6(work, s + 6 * d), vj)
    return vj


@inline
def free_motion(R, v, i):
    """Turn six numbers in the axes of a free flyer to the world."""
    return join(rot(R, load3(v, i)), rot(R, load3(v, i + 3)))


@inline
def base_gravity(index, params, work, q, b):
    """Minus gravity in the axes of free flyer b, as an acceleration; its own frame is the world below it."""
    o, g = zero(work), load3(params, MINUS_GRAVITY)
    local = rot_t(free_rotation(q, entry(index, b, IQ)), rot_t(load9(params, b * BODY_PARAMS + ROTATION), g))
    return (local[0], local[1], local[2], o, o, o)


@inline
def unit_rotation(o):
    """The identity; o is a zero of the scalar type."""
    e = o + 1.0
    return (e, o, o, o, e, o, o, o, e)


@inline
def body_inertia(params, b, R, x):
    """Rigid-body inertia of body b in the world."""
    k = b * BODY_PARAMS
    return rigid_in_world(R, x, get(params, k + MASS), load3(params, k + LEVER), load6(params, k + INERTIA))


@inline
def newton_euler(I, v, a):
    """I a + v x* I v."""
    return add6(rigid_mul(I, a), crf(v, rigid_mul(I, v)))


@inline
def body_force(params, b, R, x, v, a):
    """Force of body b, from the motion of its centre of mass: half the work of moving the inertia to the world."""
    k = b * BODY_PARAMS
    I, m = load6(params, k + INERTIA), get(params, k + MASS)
    c = add3(x, rot(R, load3(params, k + LEVER)))
    w, alpha = angular(v), angular(a)
    local_w = rot_t(R, w)
    spin = rot(R, add3(sym3_mul(I, rot_t(R, alpha)), cross(local_w, sym3_mul(I, local_w))))
    # acceleration of the centre of mass as a point
    point = add3(add3(linear(a), cross(alpha, c)), cross(w, add3(linear(v), cross(w, c))))
    f = scale3(m, point)
    return join(f, add3(spin, cross(c, f)))


@inline
def rates(index, params, work, v, c, b):
    """Velocity of the one degree of freedom of body b of GENERAL cluster c: its row of G times v."""
    if entry(index, b, UNIT) >= 0:
        return get(v, entry(index, b, UNIT))
    column, g = entry(index, c, COLUMN), entry(index, b, AT_G)
    rate = zero(work)
    for k in range(entry(index, c, NK)):
        rate += get(work, g + k) * get(v, entry(index, column + k, 0))
    return rate


@inline
def wrench_in_world(R, x, R_align, f):
    """Turn a force in the joint frame of the tree to the world; R is the aligned frame, R_align leads from it."""
    n = rot(R, rot_t(R_align, (f[0], f[1], f[2])))
    m = add3(rot(R, rot_t(R_align, (f[3], f[4], f[5]))), cross(x, n))
    return join(n, m)


@inline
def external_force(index, params, keep, b, R, x):
    """External force on body b in the world; the user's forces stand in keep behind the result."""
    j = entry(index, b, JOINT)
    # an intermediate body of a joint has no force of its own; body 0's is never used, as in Pinocchio
    at = entry(index, 0, NV) + 6 * max(j, 0)
    f = wrench_in_world(R, x, load9(params, b * BODY_PARAMS + ALIGN), load6(keep, at))
    on = 1.0 if j > 0 else 0.0
    return (on * f[0], on * f[1], on * f[2], on * f[3], on * f[4], on * f[5])


@inline
def rotor_force(index, params, work, q, keep, r):
    """External force on a spinning rotor of the tree: on its carrier, in the world, and about its axis."""
    at, carrier, i = entry(index, r, ROTOR_AT), entry(index, r, ROTOR_CARRIER), entry(index, r, ROTOR_IQ)
    w = carrier * BODY_WORK
    R_carrier = load9(work, w + W_R)
    R = matmul3(R_carrier, load9(params, at))
    x = add3(load3(work, w + W_P), rot(R_carrier, load3(params, at + 9)))
    if entry(index, r, ROTOR_KIND) == CONTINUOUS:
        R = turn_z(R, get(q, i), get(q, i + 1))
    else:
        s, c = sincos(get(q, i))
        R = turn_z(R, c, s)
    f = load6(keep, entry(index, 0, NV) + 6 * entry(index, r, ROTOR_JOINT))
    R_align = load9(params, at + 12)
    axial = rot_t(R_align, (f[3], f[4], f[5]))[2]
    return wrench_in_world(R, x, R_align, f), axial
