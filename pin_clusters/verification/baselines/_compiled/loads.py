"""What the bodies of the expanded tree need to move: loads and inertias; and what their joints transmit and measure."""

from __future__ import annotations

import math

from .fields import (
    ARM, ARM_DOF, AT_B, AT_BETA, AT_COM, AT_D, AT_GRAVITY, AT_INERTIA, AT_J, AT_LUMP, AT_M, AT_MASS, AT_NLOC, AT_P,
    AT_R, AT_S, AT_SHARE, AT_T, AT_TLOC, AT_V, BODIES, COUNT, DOF, DOF_BODY, FREE, LENDS, NV, PARENT, USER, VARIES,
)  # fmt: skip
from .jit import jit
from .linear import add_wrench, clear, copy, dot6
from .motion import offset, rotate


@jit
def orthonormal(W, s, n, to):
    """Write an orthonormal basis whose first n rows span the rows at s, and the rest what is left of space."""
    # each row twice: once leaves what rounding left
    k = 0
    axis = 0
    while k < 6:
        row = to + 6 * k
        size = 0.0
        if k < n:
            copy(W, row, s + 6 * k, 6)
            size = math.sqrt(dot6(W, row, row))
        else:
            clear(W, row, 6)
            W[row + axis] = 1.0
            axis += 1
            size = 1.0
        for _again in range(2):
            for j in range(k):
                other = to + 6 * j
                x = dot6(W, row, other)
                for m in range(6):
                    W[row + m] -= x * W[other + m]
        left = math.sqrt(dot6(W, row, row))
        if k >= n and left < 0.35 * size:
            continue  # one of the axes that are left is at least this far off
        for m in range(6):
            W[row + m] /= left
        k += 1


@jit
def dual(W, s, n, basis, t):
    """Write the rows that times the motions at s are 1, and times what is orthogonal to them 0."""
    for i in range(n):
        clear(W, t + 6 * i, 6)
    # s = L basis with L lower triangular; t solves L' t = basis
    for i in range(n - 1, -1, -1):
        copy(W, t + 6 * i, basis + 6 * i, 6)
        for k in range(i + 1, n):
            x = dot6(W, s + 6 * k, basis + 6 * i)
            for m in range(6):
                W[t + 6 * i + m] -= x * W[t + 6 * k + m]
        x = 1.0 / dot6(W, s + 6 * i, basis + 6 * i)
        for m in range(6):
            W[t + 6 * i + m] *= x


@jit
def joint_axes(I, W, room):
    """Write T, which measures the velocities of each joint, and J, the directions in which it transmits forces.

    J is also what a joint with armature transmits along its motion; P is J as the parent's body sees it.
    """
    for i in range(1, I[BODIES]):
        first, n = I[I[DOF] + i], I[I[DOF] + i + 1] - I[I[DOF] + i]
        r, j, t = I[AT_R] + 9 * i, I[AT_J] + 36 * i, I[AT_T] + 6 * first
        if I[I[VARIES] + i]:
            s = I[AT_S] + 6 * first
            orthonormal(W, s, n, room)
            dual(W, s, n, room, t)
            copy(W, j, room + 6 * n, 6 * (6 - n))
        else:
            for k in range(n):
                rotate(W, t + 6 * k, r, I[AT_TLOC] + 6 * (first + k))
                rotate(W, t + 6 * k + 3, r, I[AT_TLOC] + 6 * (first + k) + 3)
            for k in range(6 - n):
                rotate(W, j + 6 * k, r, I[AT_NLOC] + 36 * i + 6 * k)
                rotate(W, j + 6 * k + 3, r, I[AT_NLOC] + 36 * i + 6 * k + 3)
        k = j + 6 * (6 - n)
        for a in range(I[I[ARM] + i], I[I[ARM] + i + 1]):
            copy(W, k, I[AT_T] + 6 * I[I[ARM_DOF] + a], 6)
            k += 6
        m = I[I[COUNT] + i]
        at = I[AT_P] + 36 * i
        clear(W, at, 6 * m)
        for k in range(m):
            add_wrench(W, at + 6 * k, 1.0, j + 6 * k, offset(I, W, i, 0), offset(I, W, i, 1), offset(I, W, i, 2))


@jit
def body_loads(I, W, fext, room):
    """Write what velocities, gravity aside, and forces from outside ask of each body: its share of the right side."""
    for i in range(1, I[BODIES]):
        r, v, b = I[AT_R] + 9 * i, I[AT_V] + 6 * i, I[AT_B] + 6 * i
        mass = W[I[AT_MASS] + i]
        rotate(W, room, r, I[AT_COM] + 3 * i)
        for k in range(3):  # angular velocity in axes of the body
            W[room + 3 + k] = W[r + k] * W[v + 3] + W[r + 3 + k] * W[v + 4] + W[r + 6 + k] * W[v + 5]
        rotate(W, room + 6, I[AT_INERTIA] + 9 * i, room + 3)
        rotate(W, room + 9, r, room + 6)
        cx, cy, cz = mass * W[room], mass * W[room + 1], mass * W[room + 2]
        vx, vy, vz, x, y, z = W[v], W[v + 1], W[v + 2], W[v + 3], W[v + 4], W[v + 5]
        lx, ly, lz = mass * vx + y * cz - z * cy, mass * vy + z * cx - x * cz, mass * vz + x * cy - y * cx
        ax = W[room + 9] + cy * vz - cz * vy
        ay = W[room + 10] + cz * vx - cx * vz
        az = W[room + 11] + cx * vy - cy * vx
        W[b] = -(y * lz - z * ly)
        W[b + 1] = -(z * lx - x * lz)
        W[b + 2] = -(x * ly - y * lx)
        W[b + 3] = -(y * az - z * ay + vy * lz - vz * ly)
        W[b + 4] = -(z * ax - x * az + vz * lx - vx * lz)
        W[b + 5] = -(x * ay - y * ax + vx * ly - vy * lx)
        j = I[I[USER] + i]
        if j >= 0:
            for k in range(3):
                W[b + k] += W[r + 3 * k] * fext[j, 0] + W[r + 3 * k + 1] * fext[j, 1] + W[r + 3 * k + 2] * fext[j, 2]
                W[b + 3 + k] += (
                    W[r + 3 * k] * fext[j, 3] + W[r + 3 * k + 1] * fext[j, 4] + W[r + 3 * k + 2] * fext[j, 5]
                )


@jit
def turned(W, at, r, x, room):
    """Write R X R' of the block of 3 at x into rows of length 6."""
    for i in range(3):
        for j in range(3):
            W[room + 3 * i + j] = (
                W[r + 3 * i] * W[x + j] + W[r + 3 * i + 1] * W[x + 3 + j] + W[r + 3 * i + 2] * W[x + 6 + j]
            )
    for i in range(3):
        for j in range(3):
            W[at + 6 * i + j] = (
                W[room + 3 * i] * W[r + 3 * j] + W[room + 3 * i + 1] * W[r + 3 * j + 1]
                + W[room + 3 * i + 2] * W[r + 3 * j + 2]
            )  # fmt: skip


@jit
def inertias(I, W, room):
    """Write the inertia of each body, what was lent included, shape 6 x 6."""
    for i in range(1, I[BODIES]):
        r, m, lump = I[AT_R] + 9 * i, I[AT_M] + 36 * i, I[AT_LUMP] + 27 * i
        turned(W, m, r, lump, room)
        turned(W, m + 3, r, lump + 9, room)
        turned(W, m + 21, r, lump + 18, room)
        for k in range(3):
            for n in range(3):
                W[m + 6 * (3 + k) + n] = W[m + 6 * n + 3 + k]


@jit
def lent(I, W, i, a, to):
    """Write the wrench that a parent's lent inertia takes at an acceleration."""
    share = I[AT_SHARE] + 5 * i
    mass, couple = W[share], W[share + 1]
    r = I[AT_R] + 9 * i
    rotate(W, to, r, share + 2)
    x, y, z = W[to], W[to + 1], W[to + 2]
    about = x * W[a + 3] + y * W[a + 4] + z * W[a + 5]
    for k in range(3):
        W[to + 3 + k] = couple * (W[a + 3 + k] - about * W[to + k])
    for k in range(3):
        W[to + k] = mass * W[a + k]


@jit
def right_sides(I, W, tau, room):
    """Add the torques of motors and what lending moved to the bodies' loads, and write the joints' right sides."""
    for i in range(1, I[BODIES]):
        p = I[I[PARENT] + i]
        if I[I[LENDS] + i]:
            lent(I, W, i, I[AT_BETA] + 6 * i, room)
            x, y, z = offset(I, W, i, 0), offset(I, W, i, 1), offset(I, W, i, 2)
            add_wrench(W, I[AT_B] + 6 * p, 1.0, room, x, y, z)
        j, at, d = I[AT_J] + 36 * i, I[AT_P] + 36 * i, I[AT_D] + 6 * i
        for k in range(I[I[COUNT] + i]):
            W[d + k] = dot6(W, j + 6 * k, I[AT_BETA] + 6 * i)
            if p == 0:
                for n in range(3):
                    W[d + k] -= W[at + 6 * k + n] * W[I[AT_GRAVITY] + n]
    for k in range(I[NV]):
        d = I[I[FREE] + k]
        i, t = I[I[DOF_BODY] + d], I[AT_T] + 6 * d
        add_wrench(W, I[AT_B] + 6 * i, tau[k], t, 0.0, 0.0, 0.0)
        x, y, z = offset(I, W, i, 0), offset(I, W, i, 1), offset(I, W, i, 2)
        add_wrench(W, I[AT_B] + 6 * I[I[PARENT] + i], -tau[k], t, x, y, z)
