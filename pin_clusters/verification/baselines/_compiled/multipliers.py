"""Forward dynamics in maximal coordinates by Lagrange multipliers: a sparse system of bodies and joints, L D L'.

    [M  -J'] [  a   ]   [ b ]
    [-J -C ] [lambda] = [-d ]

Bodies and joints are eliminated from the tips to the base. A body then has one neighbour left, its own joint; a joint
one too, the parent's body: the factors have no entry that the system has not.

References:
    Baraff, "Linear-time dynamics using Lagrange multipliers".
"""

from __future__ import annotations

from .fields import (
    ARM, AT_A, AT_ARM, AT_B, AT_D, AT_ENTRY, AT_HALF_J, AT_HALF_P, AT_J, AT_LAMBDA, AT_M, AT_MU, AT_P, AT_PIVOT, AT_Y,
    AT_Z, BODIES, COUNT, ENTRY, ENTRY_NODE, GOES_TO, NODE, NODE_ROW, PARENT, ROWS, WRONG,
)  # fmt: skip
from .jit import jit
from .linear import add, backward, cholesky, clear, copy, dot6, forward, forward_columns, forward_rows
from .system import BODY, SYSTEM, accelerations, collect, joint_wrenches, kept, prepare, solve_system


@jit
def factorise(I, W):
    """Factorise, and carry the right sides inward."""
    for i in range(I[BODIES] - 1, 0, -1):
        n, p, m = I[I[COUNT] + i], I[I[PARENT] + i], I[AT_M] + 36 * i
        b, y = I[AT_B] + 6 * i, I[AT_LAMBDA] + 6 * i
        j, at, pivot = I[AT_HALF_J] + 36 * i, I[AT_HALF_P] + 36 * i, I[AT_PIVOT] + 36 * i
        I[WRONG] = i
        if not cholesky(W, m, 6, 6):
            return False
        forward(W, m, 6, 6, b)
        copy(W, j, I[AT_J] + 36 * i, 6 * n)
        forward_rows(W, m, 6, j, n)
        for k in range(n):
            for c in range(k + 1):
                W[pivot + 6 * k + c] = dot6(W, j + 6 * k, j + 6 * c)
            W[y + k] = W[I[AT_D] + 6 * i + k] - dot6(W, j + 6 * k, b)
        arms = I[I[ARM] + i + 1] - I[I[ARM] + i]
        for k in range(arms):
            W[pivot + 7 * (n - arms + k)] += W[I[AT_ARM] + I[I[ARM] + i] + k]
        if not cholesky(W, pivot, n, 6):
            return False
        forward(W, pivot, n, 6, y)
        copy(W, at, I[AT_P] + 36 * i, 6 * n)
        forward_columns(W, pivot, n, at, 6)
        if p:
            above, load = I[AT_M] + 36 * p, I[AT_B] + 6 * p
            for k in range(n):
                row = at + 6 * k
                for r in range(6):
                    x = W[row + r]
                    W[load + r] -= x * W[y + k]
                    for c in range(r + 1):
                        W[above + 6 * r + c] += x * W[row + c]
    return True


@jit
def felt(I, W):
    """Carry the rows inward as the loads were carried, and write the dense system that is left for them."""
    bodies, n = I[BODIES], kept(I)
    size = 6 * I[I[NODE] + bodies]
    clear(W, I[AT_Y], size)
    for e in range(I[I[ENTRY] + I[ROWS]]):
        if I[I[ENTRY_NODE] + e] >= 0:
            add(W, I[AT_Y] + 6 * I[I[ENTRY_NODE] + e], 1.0, I[AT_ENTRY] + 6 * e, 6)
    for i in range(bodies - 1, 0, -1):
        m, p = I[I[COUNT] + i], I[I[PARENT] + i]
        j, at, pivot = I[AT_HALF_J] + 36 * i, I[AT_HALF_P] + 36 * i, I[AT_PIVOT] + 36 * i
        for k in range(I[I[NODE] + i], I[I[NODE] + i + 1]):
            x, y = I[AT_Y] + 6 * k, I[AT_Z] + 6 * k
            forward(W, I[AT_M] + 36 * i, 6, 6, x)
            for r in range(m):
                W[y + r] = -dot6(W, j + 6 * r, x)
            forward(W, pivot, m, 6, y)
            if p:
                to = I[AT_Y] + 6 * I[I[GOES_TO] + k]
                for r in range(m):
                    add(W, to, -W[y + r], at + 6 * r, 6)
        collect(I, W, i, 1.0, I[AT_Y], 6, I[AT_B] + 6 * i, n)
        collect(I, W, i, -1.0, I[AT_Z], m, I[AT_LAMBDA] + 6 * i, n)


@jit
def release(I, W):
    """Go outward: forces of joints and accelerations of bodies, with those of the rows."""
    for i in range(1, I[BODIES]):
        n, p, a, y = I[I[COUNT] + i], I[I[PARENT] + i], I[AT_A] + 6 * i, I[AT_LAMBDA] + 6 * i
        copy(W, a, I[AT_B] + 6 * i, 6)
        for k in range(I[I[NODE] + i], I[I[NODE] + i + 1]):
            mu = W[I[AT_MU] + I[I[NODE_ROW] + k]]
            add(W, a, mu, I[AT_Y] + 6 * k, 6)
            add(W, y, mu, I[AT_Z] + 6 * k, n)
        for k in range(n):
            if p:
                W[y + k] += dot6(W, I[AT_HALF_P] + 36 * i + 6 * k, I[AT_A] + 6 * p)
        backward(W, I[AT_PIVOT] + 36 * i, n, 6, y)
        for k in range(n):
            add(W, a, W[y + k], I[AT_HALF_J] + 36 * i + 6 * k, 6)
        backward(W, I[AT_M] + 36 * i, 6, 6, a)


def baraff_tree(I, W, q, v, tau, fext, out, forces):
    """Write independent accelerations, and wrenches of joints if there is room for them; returns what went wrong."""
    wrong = prepare(I, W, q, v, tau, fext)
    if wrong:
        return wrong
    if not factorise(I, W):
        return BODY
    if kept(I):
        felt(I, W)
        if not solve_system(I, W, forces.shape[0] > 0):
            return SYSTEM
    release(I, W)
    accelerations(I, W, out)
    if forces.shape[0] > 0:
        joint_wrenches(I, W, tau, forces)
    return 0
