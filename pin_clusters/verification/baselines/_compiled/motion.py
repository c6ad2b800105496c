"""Compute poses and velocities of the bodies of the expanded tree."""

import math

from ....compiler.numba_jit.jit import device, inline
from ....kernels.numbers.angles import quaternion_rotation, turn_z
from ....kernels.numbers.memory import put
from ....kernels.numbers.tuples import Vec3, load3, load6, load9
from . import fields as f
from .linear import each

from ....kernels.numbers.spatial import add_angular, angular, column, cross  # isort: skip
from ....kernels.numbers.spatial import join, linear, matmul3, rot, zero3, zero6  # isort: skip


@inline
def moved(m, d):
    """Return the spatial motion m of a body about a reference point that is displaced by d."""
    return join(linear(m) + cross(angular(m), d), angular(m))


@inline
def offset(I, W, i):
    """Return the vector from the origin of a body's parent to the origin of the body."""
    return load3(W, I[f.AT_O] + 3 * i) - load3(W, I[f.AT_O] + 3 * I[I[f.PARENT] + i])


@inline
def from_parent(I, W, motions, i):
    """Return the spatial motion of a body's parent, about the origin of the body."""
    return moved(load6(W, motions + 6 * I[I[f.PARENT] + i]), offset(I, W, i))


@inline
def to_parent(I, W, i, w):
    """Convert a wrench about the origin of a body to a wrench about the origin of its parent."""
    return add_angular(w, cross(offset(I, W, i), linear(w)))


@inline
def about(axis, s, c):
    x, y, z = axis
    u = 1.0 - c
    return (
        c + u * x * x,
        u * x * y - s * z,
        u * x * z + s * y,
        u * x * y + s * z,
        c + u * y * y,
        u * y * z - s * x,
        u * x * z - s * y,
        u * y * z + s * x,
        c + u * z * z,
    )


@inline
def step(W, R, o, d, s, end):
    """Move the point o by d (in axes R), and convert the motions in ``W[s:end]`` to the new reference point."""
    d = rot(R, d)
    for k in range(s, end, 6):
        put(W, k, moved(load6(W, k), d))
    return o + d


@device
def primitive(I, W, q, k, R, o, first):
    """Compute the motions of a primitive joint, and return the pose after this joint."""
    t, s = I[f.AT_PRIM] + 16 * k, I[f.AT_S] + 6 * I[I[f.PRIM_V] + k]
    kind, iq, none = I[I[f.KIND] + k], I[I[f.PRIM_Q] + k], zero3()
    o = step(W, R, o, load3(W, t + 9), first, s)
    R = matmul3(R, load9(W, t))
    if kind == f.FREEFLYER or kind == f.SPHERICAL:
        if kind == f.FREEFLYER:
            o = step(W, R, o, load3(q, iq), first, s)
            iq += 3
        R = matmul3(R, quaternion_rotation(q[iq], q[iq + 1], q[iq + 2], q[iq + 3]))
        if kind == f.FREEFLYER:
            for d in range(3):
                put(W, s + 6 * d, join(column(R, d), none))
            s += 18
        for d in range(3):
            put(W, s + 6 * d, join(none, column(R, d)))
    elif kind == f.PLANAR:
        o = step(W, R, o, Vec3(q[iq], q[iq + 1], 0.0), first, s)
        R = turn_z(R, q[iq + 2], q[iq + 3])
        put(W, s, join(column(R, 0), none))
        put(W, s + 6, join(column(R, 1), none))
        put(W, s + 12, join(none, column(R, 2)))
    else:
        axis, pitch, slides = load3(W, t + 12), W[t + 15], kind == f.PRISMATIC
        if slides or kind == f.HELICAL:
            o = step(W, R, o, axis * (q[iq] * pitch), first, s)
        along = rot(R, axis)
        put(W, s, join(along * pitch, none if slides else along))
        if kind == f.CONTINUOUS:
            R = matmul3(R, about(axis, q[iq + 1], q[iq]))
        elif iq >= 0 and not slides:
            R = matmul3(R, about(axis, math.sin(q[iq]), math.cos(q[iq])))
    return R, o


@device
def poses(I, W, q):
    for i in range(1, I[f.BODIES]):
        p, first = I[I[f.PARENT] + i], I[f.AT_S] + 6 * I[I[f.DOF] + i]
        R, o = load9(W, I[f.AT_R] + 9 * p), load3(W, I[f.AT_O] + 3 * p)
        for k in each(I, f.PRIM, i):
            R, o = primitive(I, W, q, k, R, o, first)
        put(W, I[f.AT_R] + 9 * i, R)
        put(W, I[f.AT_O] + 3 * i, o)


@device
def velocities(I, W):
    """Compute body velocities, and accelerations relative to the parents at zero joint acceleration."""
    for i in range(1, I[f.BODIES]):
        v, beta = from_parent(I, W, I[f.AT_V], i), zero6()
        for k in each(I, f.PRIM, i):
            rate = zero6()
            for d in each(I, f.PRIM_V, k):
                rate = rate + load6(W, I[f.AT_S] + 6 * d) * W[I[f.AT_VT] + d]
            beta = beta + cross(v, rate)
            v = v + rate
        put(W, I[f.AT_V] + 6 * i, v)
        put(W, I[f.AT_BETA] + 6 * i, beta)
