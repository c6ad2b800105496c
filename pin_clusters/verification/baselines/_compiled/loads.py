"""Compute loads and inertias of the bodies of the expanded tree, and force and motion directions of the joints."""

import math

from ....compiler.numba_jit.jit import device, inline
from ....kernels.numbers.memory import put
from ....kernels.numbers.tuples import Rigid, load3, load6, load9
from . import fields as f
from .linear import clear, copy, each, increase, product
from .motion import to_parent

from ....kernels.numbers.spatial import angular, cross_force, dot3, dot6, join  # isort: skip
from ....kernels.numbers.spatial import linear, rigid_mul, rot, rot6, rotate_sym3  # isort: skip


@device
def orthonormal(W, s, n, to):
    """Compute an orthonormal basis of R^6, as rows; its first n rows have the same span as the n rows at ``s``."""
    k, axis = 0, 0
    while k < 6:
        if k < n:
            row = load6(W, s + 6 * k)
        else:
            clear(W, to + 6 * k, 6)
            W[to + 6 * k + axis] = 1.0
            axis += 1
            row = load6(W, to + 6 * k)
        # Orthogonalise twice, because the first pass leaves rounding errors.
        for _ in range(2):
            for j in range(k):
                basis_row = load6(W, to + 6 * j)
                row = row - basis_row * dot6(row, basis_row)
        residual = math.sqrt(dot6(row, row))
        if k >= n and residual < 0.35:
            continue  # another axis has a larger residual
        put(W, to + 6 * k, row * (1.0 / residual))
        k += 1


@device
def dual(W, s, n, basis, t):
    """Compute the dual basis t of the motions s: t s' = identity, and the rows of t lie in the span of s."""
    # s = L basis, where L is lower triangular, so t solves L' t = basis.
    for i in range(n - 1, -1, -1):
        basis_row = load6(W, basis + 6 * i)
        row = basis_row
        for k in range(i + 1, n):
            row = row - load6(W, t + 6 * k) * dot6(load6(W, s + 6 * k), basis_row)
        put(W, t + 6 * i, row * (1.0 / dot6(load6(W, s + 6 * i), basis_row)))


@device
def joint_axes(I, W, temp):
    """Compute the force directions J of each joint, and T, which maps relative motions to joint velocities.

    J also contains the motion directions of joints with armature. P expresses J about the origin of the parent body.
    """
    for i in range(1, I[f.BODIES]):
        first, n = I[I[f.DOF] + i], len(each(I, f.DOF, i))
        j, t = I[f.AT_J] + 36 * i, I[f.AT_T] + 6 * first
        if I[I[f.VARIES] + i]:
            s = I[f.AT_S] + 6 * first
            orthonormal(W, s, n, temp)
            dual(W, s, n, temp, t)
            copy(W, j, temp + 6 * n, 6 * (6 - n))
        else:
            R = load9(W, I[f.AT_R] + 9 * i)
            for k in range(n):
                put(W, t + 6 * k, rot6(R, load6(W, I[f.AT_TLOC] + 6 * (first + k))))
            for k in range(6 - n):
                put(W, j + 6 * k, rot6(R, load6(W, I[f.AT_NLOC] + 36 * i + 6 * k)))
        k = j + 6 * (6 - n)
        for a in each(I, f.ARM, i):
            copy(W, k, I[f.AT_T] + 6 * I[I[f.ARM_DOF] + a], 6)
            k += 6
        for k in range(I[I[f.COUNT] + i]):
            put(W, I[f.AT_P] + 36 * i + 6 * k, to_parent(I, W, i, load6(W, j + 6 * k)))


@inline
def rigid(I, W, inertias, i):
    R, numbers = load9(W, I[f.AT_R] + 9 * i), inertias + 10 * i
    h, J = rot(R, load3(W, numbers + 1)), rotate_sym3(R, load6(W, numbers + 4))
    return Rigid(W[numbers], h[0], h[1], h[2], J[0], J[1], J[2], J[3], J[4], J[5])


@device
def body_loads(I, W, fext):
    """Compute the inertia, the velocity-dependent load and the external load of each body, without gravity."""
    for i in range(1, I[f.BODIES]):
        v, inertia = load6(W, I[f.AT_V] + 6 * i), rigid(I, W, I[f.AT_RIGID], i)
        put(W, I[f.AT_BODY] + 10 * i, inertia)
        load, j = -cross_force(v, rigid_mul(inertia, v)), I[I[f.USER] + i]
        if j >= 0:
            load = load + rot6(load9(W, I[f.AT_R] + 9 * i), load6(fext[j], 0))
        put(W, I[f.AT_B] + 6 * i, load)


@device
def inertias(I, W):
    """Compute the lower triangle of the 6 x 6 inertia of each body after lending (see ``_shares``)."""
    for i in range(1, I[f.BODIES]):
        m, L = I[f.AT_M] + 36 * i, rigid(I, W, I[f.AT_LUMP], i)
        clear(W, m, 18)
        for k in range(3):
            W[m + 7 * k] = L.m
        put(W, m + 18, (0.0, -L.hz, L.hy, L.xx))
        put(W, m + 24, (L.hz, 0.0, -L.hx, L.xy, L.yy))
        put(W, m + 30, (-L.hy, L.hx, 0.0, L.xz, L.yz, L.zz))


@inline
def lent(I, W, i, a):
    """Compute the wrench that gives the borrowed inertia of body i the acceleration a."""
    share = I[f.AT_SHARE] + 5 * i
    axis, spin = rot(load9(W, I[f.AT_R] + 9 * i), load3(W, share + 2)), angular(a)
    return join(linear(a) * W[share], (spin - axis * dot3(axis, spin)) * W[share + 1])


@device
def right_sides(I, W, tau):
    """Add motor torques and effects of lent inertia to the body loads; compute the right-hand sides of the joints."""
    for i in range(1, I[f.BODIES]):
        p, beta = I[I[f.PARENT] + i], I[f.AT_BETA] + 6 * i
        if I[I[f.LENDS] + i]:
            increase(W, I[f.AT_B] + 6 * p, to_parent(I, W, i, lent(I, W, i, load6(W, beta))))
        d = I[f.AT_D] + 6 * i
        for k in range(I[I[f.COUNT] + i]):
            W[d + k] = product(W, I[f.AT_J] + 36 * i + 6 * k, beta)
            if p == 0:
                W[d + k] -= dot3(load3(W, I[f.AT_P] + 36 * i + 6 * k), load3(W, I[f.AT_GRAVITY]))
    for k in range(I[f.NV]):
        d = I[I[f.FREE] + k]
        i, motor = I[I[f.DOF_BODY] + d], load6(W, I[f.AT_T] + 6 * d) * tau[k]
        increase(W, I[f.AT_B] + 6 * i, motor)
        increase(W, I[f.AT_B] + 6 * I[I[f.PARENT] + i], -to_parent(I, W, i, motor))
