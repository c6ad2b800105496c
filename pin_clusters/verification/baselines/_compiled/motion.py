"""Poses and velocities of the bodies of the expanded tree."""

from __future__ import annotations

import math

from .fields import (
    AT_BETA, AT_O, AT_PRIM, AT_R, AT_S, AT_V, AT_VT, BODIES, CONTINUOUS, DOF, FREEFLYER, HELICAL, KIND, PARENT, PLANAR,
    PRIM, PRIM_Q, PRIM_V, PRISMATIC, SPHERICAL,
)  # fmt: skip
from .jit import jit
from .linear import add_moved, clear, copy


@jit
def turn(W, r, a, b, c, d, e, f, g, h, i):
    """Multiply the rotation at r from the right by one, given by rows."""
    for k in range(r, r + 9, 3):
        x, y, z = W[k], W[k + 1], W[k + 2]
        W[k] = x * a + y * d + z * g
        W[k + 1] = x * b + y * e + z * h
        W[k + 2] = x * c + y * f + z * i


@jit
def turn_about(W, r, x, y, z, s, c):
    """Multiply the rotation at r by that about an axis, by sine and cosine."""
    u = 1.0 - c
    turn(
        W, r, c + u * x * x, u * x * y - s * z, u * x * z + s * y, u * x * y + s * z, c + u * y * y,
        u * y * z - s * x, u * x * z - s * y, u * y * z + s * x, c + u * z * z,
    )  # fmt: skip


@jit
def turn_by(W, r, q, k):
    """Multiply the rotation at r by that of the unit quaternion q[k:k + 4], real part last."""
    x, y, z, w = q[k], q[k + 1], q[k + 2], q[k + 3]
    turn(
        W, r, 1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w), 2.0 * (x * y + z * w),
        1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w), 2.0 * (x * z - y * w), 2.0 * (y * z + x * w),
        1.0 - 2.0 * (x * x + y * y),
    )  # fmt: skip


@jit
def rotate(W, at, r, x):
    """Write the rotation at r times the vector at x."""
    for k in range(3):
        W[at + k] = W[r + 3 * k] * W[x] + W[r + 3 * k + 1] * W[x + 1] + W[r + 3 * k + 2] * W[x + 2]


@jit
def step(W, r, o, x, y, z, s, end):
    """Move a point by (x, y, z) in the axes at r; the motions from s to end are of that point."""
    dx = W[r] * x + W[r + 1] * y + W[r + 2] * z
    dy = W[r + 3] * x + W[r + 4] * y + W[r + 5] * z
    dz = W[r + 6] * x + W[r + 7] * y + W[r + 8] * z
    W[o] += dx
    W[o + 1] += dy
    W[o + 2] += dz
    for k in range(s, end, 6):
        W[k] += W[k + 4] * dz - W[k + 5] * dy
        W[k + 1] += W[k + 5] * dx - W[k + 3] * dz
        W[k + 2] += W[k + 3] * dy - W[k + 4] * dx


@jit
def along(W, s, r, k, angular, x):
    """Write a motion along or about axis k of the rotation at r."""
    clear(W, s, 6)
    for i in range(3):
        W[s + 3 * angular + i] = x * W[r + 3 * i + k]


@jit
def primitive(I, W, q, k, r, o, first):
    """Go through one primitive of a joint: pose in place, and its motions."""
    t = I[AT_PRIM] + 16 * k
    s = I[AT_S] + 6 * I[I[PRIM_V] + k]
    step(W, r, o, W[t + 9], W[t + 10], W[t + 11], first, s)
    turn(W, r, W[t], W[t + 1], W[t + 2], W[t + 3], W[t + 4], W[t + 5], W[t + 6], W[t + 7], W[t + 8])
    kind, iq = I[I[KIND] + k], I[I[PRIM_Q] + k]
    x, y, z = W[t + 12], W[t + 13], W[t + 14]
    if kind == FREEFLYER or kind == SPHERICAL:
        if kind == FREEFLYER:
            step(W, r, o, q[iq], q[iq + 1], q[iq + 2], first, s)
            iq += 3
        turn_by(W, r, q, iq)
        for d in range(3):
            if kind == FREEFLYER:
                along(W, s, r, d, 0, 1.0)
                s += 6
        for d in range(3):
            along(W, s, r, d, 1, 1.0)
            s += 6
    elif kind == PLANAR:
        step(W, r, o, q[iq], q[iq + 1], 0.0, first, s)
        turn_about(W, r, 0.0, 0.0, 1.0, q[iq + 3], q[iq + 2])
        along(W, s, r, 0, 0, 1.0)
        along(W, s + 6, r, 1, 0, 1.0)
        along(W, s + 12, r, 2, 1, 1.0)
    else:
        pitch = W[t + 15]
        if kind == PRISMATIC or kind == HELICAL:
            move = q[iq] * (1.0 if kind == PRISMATIC else pitch)
            step(W, r, o, move * x, move * y, move * z, first, s)
        clear(W, s, 6)
        if kind == PRISMATIC:
            rotate(W, s, r, t + 12)
            return
        rotate(W, s + 3, r, t + 12)
        if kind == HELICAL:
            for d in range(3):
                W[s + d] = pitch * W[s + 3 + d]
        if kind == CONTINUOUS:
            turn_about(W, r, x, y, z, q[iq + 1], q[iq])
        elif iq >= 0:
            turn_about(W, r, x, y, z, math.sin(q[iq]), math.cos(q[iq]))


@jit
def poses(I, W, q):
    """Place all bodies, and write the motions of their joints."""
    for i in range(1, I[BODIES]):
        p = I[I[PARENT] + i]
        r, o = I[AT_R] + 9 * i, I[AT_O] + 3 * i
        copy(W, r, I[AT_R] + 9 * p, 9)
        copy(W, o, I[AT_O] + 3 * p, 3)
        for k in range(I[I[PRIM] + i], I[I[PRIM] + i + 1]):
            primitive(I, W, q, k, r, o, I[AT_S] + 6 * I[I[DOF] + i])


@jit
def offset(I, W, i, k):
    """Return entry k of the way from the origin of a body's parent to its own."""
    return W[I[AT_O] + 3 * i + k] - W[I[AT_O] + 3 * I[I[PARENT] + i] + k]


@jit
def add_cross_motion(W, at, v, m):
    """Add v x m of two motions."""
    W[at] += W[v + 4] * W[m + 2] - W[v + 5] * W[m + 1] + W[v + 1] * W[m + 5] - W[v + 2] * W[m + 4]
    W[at + 1] += W[v + 5] * W[m] - W[v + 3] * W[m + 2] + W[v + 2] * W[m + 3] - W[v] * W[m + 5]
    W[at + 2] += W[v + 3] * W[m + 1] - W[v + 4] * W[m] + W[v] * W[m + 4] - W[v + 1] * W[m + 3]
    W[at + 3] += W[v + 4] * W[m + 5] - W[v + 5] * W[m + 4]
    W[at + 4] += W[v + 5] * W[m + 3] - W[v + 3] * W[m + 5]
    W[at + 5] += W[v + 3] * W[m + 4] - W[v + 4] * W[m + 3]


@jit
def velocities(I, W, room):
    """Write velocities of the bodies, and accelerations of their joints at rest; at ``room`` are 6 numbers."""
    for i in range(1, I[BODIES]):
        v, beta = I[AT_V] + 6 * i, I[AT_BETA] + 6 * i
        clear(W, v, 6)
        clear(W, beta, 6)
        add_moved(W, v, I[AT_V] + 6 * I[I[PARENT] + i], offset(I, W, i, 0), offset(I, W, i, 1), offset(I, W, i, 2))
        last = I[I[DOF] + i + 1]
        for k in range(I[I[PRIM] + i], I[I[PRIM] + i + 1]):
            end = last if k + 1 == I[I[PRIM] + i + 1] else I[I[PRIM_V] + k + 1]
            clear(W, room, 6)
            for d in range(I[I[PRIM_V] + k], end):
                for n in range(6):
                    W[room + n] += W[I[AT_S] + 6 * d + n] * W[I[AT_VT] + d]
            add_cross_motion(W, beta, v, room)
            for n in range(6):
                W[v + n] += W[room + n]
