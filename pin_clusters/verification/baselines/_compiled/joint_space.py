"""Forward dynamics in generalized coordinates: the mass matrix by columns or by composite inertias, and Cholesky."""

from __future__ import annotations

from .coupling import couple, drift, spread
from .fields import (
    ARM, ARM_DOF, AT_A, AT_ARM, AT_AT, AT_B, AT_BETA, AT_COM, AT_COMPLIANCE, AT_ENTRY, AT_GRAVITY, AT_INERTIA,
    AT_LAMBDA, AT_M, AT_MASS, AT_MASSES, AT_MG, AT_MU, AT_MY, AT_R, AT_RIGHT, AT_ROOM, AT_S, AT_VT, BODIES, DOF, ENTRY,
    ENTRY_BODY, G_AT, G_DOF, G_ROW, HARD, NV, PAIR, PAIRS, PARENT, ROD_DOF, ROD_DOFS, ROWS, TERM, TREE_V, UP, UPS,
    WRONG,
)  # fmt: skip
from .jit import jit
from .linear import TINY, add, add_moved, add_wrench, backward, cholesky, clear, copy, dot6, forward
from .loads import body_loads, turned
from .motion import offset, poses, rotate, velocities
from .rows import biases, closures_at
from .system import LOOPS, MASSES


@jit
def prepare(I, W, q, v, fext):
    """Do what both methods begin with; whether the loops could be solved."""
    room = I[AT_ROOM]
    poses(I, W, q)
    closures_at(I, W, q, room)
    if not couple(I, W):
        return False
    spread(I, W, v, I[AT_VT])
    velocities(I, W, room)
    biases(I, W, room)
    turning(I, W)
    drift(I, W, I[AT_AT])
    body_loads(I, W, fext, room)
    return True


@jit
def turning(I, W):
    """Take what bodies do at joints that do not accelerate off the right sides of closures of bodies."""
    clear(W, I[AT_A], 6)
    for i in range(1, I[BODIES]):
        a = I[AT_A] + 6 * i
        copy(W, a, I[AT_BETA] + 6 * i, 6)
        add_moved(W, a, I[AT_A] + 6 * I[I[PARENT] + i], offset(I, W, i, 0), offset(I, W, i, 1), offset(I, W, i, 2))
    for r in range(I[HARD]):
        if I[I[TERM] + r] == I[I[TERM] + r + 1]:
            for e in range(I[I[ENTRY] + r], I[I[ENTRY] + r + 1]):
                W[I[AT_RIGHT] + r] -= dot6(W, I[AT_ENTRY] + 6 * e, I[AT_A] + 6 * I[I[ENTRY_BODY] + e])


@jit
def inertia_times(I, W, i, a, to):
    """Write the inertia of a body, mass, first and second moments, times a motion."""
    m = I[AT_M] + 10 * i
    mass, hx, hy, hz = W[m], W[m + 1], W[m + 2], W[m + 3]
    x, y, z, wx, wy, wz = W[a], W[a + 1], W[a + 2], W[a + 3], W[a + 4], W[a + 5]
    W[to] = mass * x + wy * hz - wz * hy
    W[to + 1] = mass * y + wz * hx - wx * hz
    W[to + 2] = mass * z + wx * hy - wy * hx
    W[to + 3] = W[m + 4] * wx + W[m + 5] * wy + W[m + 6] * wz + hy * z - hz * y
    W[to + 4] = W[m + 5] * wx + W[m + 7] * wy + W[m + 8] * wz + hz * x - hx * z
    W[to + 5] = W[m + 6] * wx + W[m + 8] * wy + W[m + 9] * wz + hx * y - hy * x


@jit
def inertias_of(I, W, room):
    """Write mass, first and second moments of each body in the orientation of the world."""
    for i in range(1, I[BODIES]):
        m, r = I[AT_M] + 10 * i, I[AT_R] + 9 * i
        mass = W[I[AT_MASS] + i]
        W[m] = mass
        rotate(W, m + 1, r, I[AT_COM] + 3 * i)
        for k in range(1, 4):
            W[m + k] *= mass
        turned(W, room, r, I[AT_INERTIA] + 9 * i, room + 18)
        W[m + 4], W[m + 5], W[m + 6] = W[room], W[room + 1], W[room + 2]
        W[m + 7], W[m + 8], W[m + 9] = W[room + 7], W[room + 8], W[room + 14]


@jit
def inverse_dynamics(I, W, moving, to):
    """Write the torques of the tree for accelerations at ``AT_AT``; at rest and without gravity if not moving."""
    a0 = I[AT_A]
    for k in range(3):
        W[a0 + k] = -W[I[AT_GRAVITY] + k] if moving else 0.0
        W[a0 + 3 + k] = 0.0
    for i in range(1, I[BODIES]):
        a, f = I[AT_A] + 6 * i, I[AT_LAMBDA] + 6 * i
        if moving:
            copy(W, a, I[AT_BETA] + 6 * i, 6)
        else:
            clear(W, a, 6)
        add_moved(W, a, I[AT_A] + 6 * I[I[PARENT] + i], offset(I, W, i, 0), offset(I, W, i, 1), offset(I, W, i, 2))
        for d in range(I[I[DOF] + i], I[I[DOF] + i + 1]):
            add(W, a, W[I[AT_AT] + d], I[AT_S] + 6 * d, 6)
        inertia_times(I, W, i, a, f)
        if moving:
            add(W, f, -1.0, I[AT_B] + 6 * i, 6)
    # the middles of rods: their wrenches on the ends, and what velocities add, are known
    for k in range(I[ROWS] - I[HARD]):
        e, x = I[I[ENTRY] + I[HARD] + k], 0.0
        for n in range(2):
            x += dot6(W, I[AT_ENTRY] + 6 * (e + n), I[AT_A] + 6 * I[I[ENTRY_BODY] + e + n])
        if moving:
            x -= W[I[AT_RIGHT] + I[HARD] + k]
        x /= W[I[AT_COMPLIANCE] + I[HARD] + k]
        for n in range(2):
            add(W, I[AT_LAMBDA] + 6 * I[I[ENTRY_BODY] + e + n], x, I[AT_ENTRY] + 6 * (e + n), 6)
    for i in range(I[BODIES] - 1, 0, -1):
        f = I[AT_LAMBDA] + 6 * i
        for d in range(I[I[DOF] + i], I[I[DOF] + i + 1]):
            W[to + d] = dot6(W, I[AT_S] + 6 * d, f)
        for k in range(I[I[ARM] + i], I[I[ARM] + i + 1]):
            d = I[I[ARM_DOF] + k]
            W[to + d] += W[I[AT_AT] + d] / W[I[AT_ARM] + k]
        p = I[I[PARENT] + i]
        if p:
            x, y, z = offset(I, W, i, 0), offset(I, W, i, 1), offset(I, W, i, 2)
            add_wrench(W, I[AT_LAMBDA] + 6 * p, 1.0, f, x, y, z)


@jit
def gather(I, W, t, to):
    """Write G' times torques of the tree."""
    for j in range(I[NV]):
        total = 0.0
        for k in range(I[I[G_ROW] + j], I[I[G_ROW] + j + 1]):
            total += W[I[I[G_AT] + k]] * W[t + I[I[G_DOF] + k]]
        W[to + j] = total


@jit
def right_side(I, W, tau, to):
    """Write the torques that are left for the accelerations."""
    t = I[AT_MG]
    inverse_dynamics(I, W, True, t)
    gather(I, W, t, to)
    for j in range(I[NV]):
        W[to + j] = tau[j] - W[to + j]


def unit_vectors(I, W, q, v, tau, fext, out, forces):
    """Write independent accelerations; returns what went wrong."""
    n, M, x = I[NV], I[AT_MY], I[AT_MU]
    if not prepare(I, W, q, v, fext):
        return LOOPS
    inertias_of(I, W, I[AT_ROOM])
    right_side(I, W, tau, x)
    for j in range(n):
        for k in range(n):
            out[k] = 0.0
        out[j] = 1.0
        spread(I, W, out, I[AT_AT])
        inverse_dynamics(I, W, False, I[AT_MG])
        gather(I, W, I[AT_MG], M + n * j)
    if not cholesky(W, M, n, n):
        I[WRONG] = -1
        return MASSES
    forward(W, M, n, n, x)
    backward(W, M, n, n, x)
    for k in range(n):
        out[k] = W[x + k]
    return 0


@jit
def tree_masses(I, W):
    """Write the mass matrix of the tree, its lower triangle where it is not zero; the inertias become composite."""
    nt, masses = I[TREE_V], I[AT_MASSES]
    for k in range((I[ROWS] - I[HARD]) // 3):  # rods tie velocities that nothing else does
        for n in range(I[I[ROD_DOF] + k], I[I[ROD_DOF] + k + 1]):
            for m in range(I[I[ROD_DOF] + k], n + 1):
                W[masses + nt * I[I[ROD_DOFS] + n] + I[I[ROD_DOFS] + m]] = 0.0
    for i in range(I[BODIES] - 1, 0, -1):
        p, m = I[I[PARENT] + i], I[AT_M] + 10 * i
        for d in range(I[I[DOF] + i], I[I[DOF] + i + 1]):
            f, g = I[AT_ROOM], I[AT_ROOM] + 6
            inertia_times(I, W, i, I[AT_S] + 6 * d, f)
            row = masses + nt * d
            for c in range(I[I[DOF] + i], d + 1):
                W[row + c] = dot6(W, I[AT_S] + 6 * c, f)
            j = i
            while I[I[PARENT] + j]:
                clear(W, g, 6)
                add_wrench(W, g, 1.0, f, offset(I, W, j, 0), offset(I, W, j, 1), offset(I, W, j, 2))
                f, g = g, f
                j = I[I[PARENT] + j]
                for c in range(I[I[DOF] + j], I[I[DOF] + j + 1]):
                    W[row + c] = dot6(W, I[AT_S] + 6 * c, f)
        for k in range(I[I[ARM] + i], I[I[ARM] + i + 1]):
            d = I[I[ARM_DOF] + k]
            W[masses + nt * d + d] += 1.0 / W[I[AT_ARM] + k]
        if p:
            to, x, y, z = I[AT_M] + 10 * p, offset(I, W, i, 0), offset(I, W, i, 1), offset(I, W, i, 2)
            mass, hx, hy, hz = W[m], W[m + 1], W[m + 2], W[m + 3]
            # with c = h + m d / 2 on both sides: - (d x h x + h x d x + m d x d x)
            cx, cy, cz = 2.0 * hx + mass * x, 2.0 * hy + mass * y, 2.0 * hz + mass * z
            W[to] += mass
            W[to + 1] += hx + mass * x
            W[to + 2] += hy + mass * y
            W[to + 3] += hz + mass * z
            W[to + 4] += W[m + 4] + cy * y + cz * z
            W[to + 5] += W[m + 5] - 0.5 * (cx * y + cy * x)
            W[to + 6] += W[m + 6] - 0.5 * (cx * z + cz * x)
            W[to + 7] += W[m + 7] + cx * x + cz * z
            W[to + 8] += W[m + 8] - 0.5 * (cy * z + cz * y)
            W[to + 9] += W[m + 9] + cx * x + cy * y


@jit
def rod_masses(I, W):
    """Add the middles of rods to the mass matrix of the tree."""
    nt, masses, J = I[TREE_V], I[AT_MASSES], I[AT_VT]
    room = I[AT_ROOM]
    for k in range(I[ROWS] - I[HARD]):
        r = I[HARD] + k
        clear(W, J, nt)
        for e in range(I[I[ENTRY] + r], I[I[ENTRY] + r + 1]):
            copy(W, room, I[AT_ENTRY] + 6 * e, 6)
            j = I[I[ENTRY_BODY] + e]
            while j:
                for d in range(I[I[DOF] + j], I[I[DOF] + j + 1]):
                    W[J + d] += dot6(W, I[AT_S] + 6 * d, room)
                clear(W, room + 6, 6)
                add_wrench(W, room + 6, 1.0, room, offset(I, W, j, 0), offset(I, W, j, 1), offset(I, W, j, 2))
                copy(W, room, room + 6, 6)
                j = I[I[PARENT] + j]
        for n in range(I[I[ROD_DOF] + k // 3], I[I[ROD_DOF] + k // 3 + 1]):
            d = I[I[ROD_DOFS] + n]
            for m in range(I[I[ROD_DOF] + k // 3], n + 1):
                c = I[I[ROD_DOFS] + m]
                W[masses + nt * d + c] += W[J + d] * W[J + c] / W[I[AT_COMPLIANCE] + r]


@jit
def project(I, W):
    """Write G' M G where it is not zero, its lower triangle."""
    n, t, M, masses = I[NV], I[AT_MG], I[AT_MY], I[AT_MASSES]
    for j in range(n):
        for k in range(I[I[UP] + j], I[I[UP] + j + 1]):
            i = I[I[UPS] + k]
            for r in range(I[I[G_ROW] + i], I[I[G_ROW] + i + 1]):
                W[t + I[I[G_DOF] + r]] = 0.0
        for k in range(I[I[PAIR] + j], I[I[PAIR] + j + 1], 3):
            W[t + I[I[PAIRS] + k]] += W[masses + I[I[PAIRS] + k + 1]] * W[I[I[PAIRS] + k + 2]]
        for k in range(I[I[UP] + j], I[I[UP] + j + 1]):
            i = I[I[UPS] + k]
            total = 0.0
            for r in range(I[I[G_ROW] + i], I[I[G_ROW] + i + 1]):
                total += W[I[I[G_AT] + r]] * W[t + I[I[G_DOF] + r]]
            W[M + n * j + i] = total


@jit
def factorise(I, W):
    """Factorise M = L' D L in place, from the tips; what is zero stays so. The last of each list is the row itself."""
    n, M = I[NV], I[AT_MY]
    for k in range(n - 1, -1, -1):
        first, last = I[UPS] + I[I[UP] + k], I[UPS] + I[I[UP] + k + 1] - 1
        row = M + n * k
        d = W[row + k]
        if not d > TINY * W[I[AT_MU] + n + k]:
            I[WRONG] = k
            return False
        for a in range(first, last):
            i = I[a]
            x = W[row + i] / d
            for b in range(first, a + 1):
                W[M + n * i + I[b]] -= x * W[row + I[b]]
        for a in range(first, last):
            W[row + I[a]] /= d
    return True


def sparse_crba(I, W, q, v, tau, fext, out, forces):
    """Write independent accelerations; returns what went wrong."""
    n, M, x = I[NV], I[AT_MY], I[AT_MU]
    if not prepare(I, W, q, v, fext):
        return LOOPS
    inertias_of(I, W, I[AT_ROOM])
    right_side(I, W, tau, x)
    tree_masses(I, W)
    rod_masses(I, W)
    project(I, W)
    for k in range(n):
        W[x + n + k] = W[M + n * k + k]
    if not factorise(I, W):
        return MASSES
    for k in range(n - 1, -1, -1):
        for a in range(I[I[UP] + k], I[I[UP] + k + 1] - 1):
            W[x + I[I[UPS] + a]] -= W[M + n * k + I[I[UPS] + a]] * W[x + k]
    for k in range(n):
        y = W[x + k] / W[M + n * k + k]
        for a in range(I[I[UP] + k], I[I[UP] + k + 1] - 1):
            y -= W[M + n * k + I[I[UPS] + a]] * W[x + I[I[UPS] + a]]
        W[x + k] = y
        out[k] = y
    return 0
