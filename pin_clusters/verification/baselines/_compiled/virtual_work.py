"""Forward dynamics by virtual work: partial chains are assembled joint by joint, the forces of joints are unknown.

With Phi = L^-T L^-1 of each link's inertia, the joints of a link feel each other through J Phi J', a block for each
pair. Joints are eliminated from the tips to the base; each elimination assembles the partial chain behind a joint with
the rest, and changes the blocks between the joints that are left on its link.

References:
    Yamane and Nakamura, equations (36) to (41) inward and (46) to (53) outward.
"""

from __future__ import annotations

from .fields import (
    ARM, AT_A, AT_ARM, AT_B, AT_BLOCK, AT_D, AT_ENTRY, AT_HALF_J, AT_HALF_P, AT_LAMBDA, AT_M, AT_MU, AT_PIVOT, AT_Y,
    BODIES, COUNT, ENTRY, ENTRY_NODE, FILL, FILLS, GOES, GOES_TO, LINK, LINKS, NEAR, NEARS, NODE, NODE_ROW, PARENT,
    ROWS, WRONG,
)  # fmt: skip
from .jit import jit
from .linear import add, backward, cholesky, clear, copy, dot6, forward, forward_columns
from .system import BODY, SYSTEM, accelerations, collect, joint_wrenches, kept, links, prepare, solve_system


@jit
def products(W, to, sign, x, rows, y, columns):
    """Write the products of rows of 6 with rows of 6."""
    for i in range(rows):
        for k in range(columns):
            W[to + 6 * i + k] = sign * dot6(W, x + 6 * i, y + 6 * k)


@jit
def blocks(I, W):
    """Write the blocks of J Phi J' of each joint and of each pair on a link, and the right sides."""
    for i in range(1, I[BODIES]):
        n, p = I[I[COUNT] + i], I[I[PARENT] + i]
        j, at, pivot = I[AT_HALF_J] + 36 * i, I[AT_HALF_P] + 36 * i, I[AT_PIVOT] + 36 * i
        for k in range(n):
            for c in range(k + 1):
                W[pivot + 6 * k + c] = dot6(W, j + 6 * k, j + 6 * c) + dot6(W, at + 6 * k, at + 6 * c)
        arms = I[I[ARM] + i + 1] - I[I[ARM] + i]
        for k in range(arms):
            W[pivot + 7 * (n - arms + k)] += W[I[AT_ARM] + I[I[ARM] + i] + k]
        y = I[AT_LAMBDA] + 6 * i
        for k in range(n):
            W[y + k] = W[I[AT_D] + 6 * i + k] - dot6(W, j + 6 * k, I[AT_B] + 6 * i)
            if p:
                W[y + k] += dot6(W, at + 6 * k, I[AT_B] + 6 * p)
        for k in range(I[I[NEAR] + i], I[I[NEAR] + i + 1]):
            other, block = I[I[NEARS] + k], I[AT_BLOCK] + 36 * k
            m = I[I[COUNT] + other]
            if other == p:
                products(W, block, -1.0, at, n, I[AT_HALF_J] + 36 * other, m)
            else:
                products(W, block, 1.0, at, n, I[AT_HALF_P] + 36 * other, m)


@jit
def assemble(I, W):
    """Eliminate joints from the tips to the base."""
    for i in range(I[BODIES] - 1, 0, -1):
        n, pivot = I[I[COUNT] + i], I[AT_PIVOT] + 36 * i
        if not cholesky(W, pivot, n, 6):
            I[WRONG] = i
            return False
        y = I[AT_LAMBDA] + 6 * i
        forward(W, pivot, n, 6, y)
        fill = I[FILLS] + I[I[FILL] + i]
        for a in range(I[I[NEAR] + i], I[I[NEAR] + i + 1]):
            one, x = I[I[NEARS] + a], I[AT_BLOCK] + 36 * a
            forward_columns(W, pivot, n, x, I[I[COUNT] + one])
            to = I[AT_LAMBDA] + 6 * one
            for r in range(I[I[COUNT] + one]):
                for k in range(n):
                    W[to + r] -= W[x + 6 * k + r] * W[y + k]
            for b in range(I[I[NEAR] + i], a + 1):
                two, z = I[I[NEARS] + b], I[AT_BLOCK] + 36 * b
                target = I[fill]
                fill += 1
                # the pair stands in the block of the one that goes first, which is the farther one
                first, second, u, w = (one, two, x, z) if one > two else (two, one, z, x)
                to = I[AT_PIVOT] + 36 * one if one == two else I[AT_BLOCK] + 36 * target
                for k in range(n):
                    for r in range(I[I[COUNT] + first]):
                        for c in range(r + 1 if one == two else I[I[COUNT] + second]):
                            W[to + 6 * r + c] -= W[u + 6 * k + r] * W[w + 6 * k + c]
    return True


@jit
def felt(I, W):
    """Carry the rows inward as the loads were carried, and write the dense system that is left for them."""
    bodies, n = I[BODIES], kept(I)
    clear(W, I[AT_Y], 6 * I[I[NODE] + 2 * bodies])
    for e in range(I[I[ENTRY] + I[ROWS]]):
        if I[I[ENTRY_NODE] + e] >= 0:
            add(W, I[AT_Y] + 6 * I[I[ENTRY_NODE] + e], 1.0, I[AT_ENTRY] + 6 * e, 6)
    for b in range(1, bodies):
        for at in range(I[I[NODE] + b], I[I[NODE] + b + 1]):
            x = I[AT_Y] + 6 * at
            forward(W, I[AT_M] + 36 * b, 6, 6, x)
            to = I[GOES_TO] + I[I[GOES] + at]
            for k in range(I[I[LINK] + b], I[I[LINK] + b + 1]):
                j = I[I[LINKS] + k]
                half = I[AT_HALF_J] + 36 * j if j == b else I[AT_HALF_P] + 36 * j
                sign = -1.0 if j == b else 1.0
                for r in range(I[I[COUNT] + j]):
                    W[I[AT_Y] + 6 * I[to] + r] += sign * dot6(W, half + 6 * r, x)
                to += 1
        collect(I, W, b, 1.0, I[AT_Y], 6, I[AT_B] + 6 * b, n)
    for i in range(bodies - 1, 0, -1):
        m, pivot = I[I[COUNT] + i], I[AT_PIVOT] + 36 * i
        for at in range(I[I[NODE] + bodies + i], I[I[NODE] + bodies + i + 1]):
            y = I[AT_Y] + 6 * at
            forward(W, pivot, m, 6, y)
            to = I[GOES_TO] + I[I[GOES] + at]
            for k in range(I[I[NEAR] + i], I[I[NEAR] + i + 1]):
                x, z = I[AT_BLOCK] + 36 * k, I[AT_Y] + 6 * I[to]
                for r in range(I[I[COUNT] + I[I[NEARS] + k]]):
                    for c in range(m):
                        W[z + r] -= W[x + 6 * c + r] * W[y + c]
                to += 1
        collect(I, W, bodies + i, -1.0, I[AT_Y], 6, I[AT_LAMBDA] + 6 * i, n)


@jit
def release(I, W):
    """Go outward: forces of joints and accelerations of links, with those of the rows."""
    bodies = I[BODIES]
    for b in range(1, bodies):
        for at in range(I[I[NODE] + b], I[I[NODE] + b + 1]):
            add(W, I[AT_B] + 6 * b, W[I[AT_MU] + I[I[NODE_ROW] + at]], I[AT_Y] + 6 * at, 6)
    for i in range(1, bodies):
        n, y = I[I[COUNT] + i], I[AT_LAMBDA] + 6 * i
        node = bodies + i
        for at in range(I[I[NODE] + node], I[I[NODE] + node + 1]):
            add(W, y, W[I[AT_MU] + I[I[NODE_ROW] + at]], I[AT_Y] + 6 * at, n)
        for k in range(I[I[NEAR] + i], I[I[NEAR] + i + 1]):
            other, x = I[I[NEARS] + k], I[AT_BLOCK] + 36 * k
            for r in range(n):
                for c in range(I[I[COUNT] + other]):
                    W[y + r] -= W[x + 6 * r + c] * W[I[AT_LAMBDA] + 6 * other + c]
        backward(W, I[AT_PIVOT] + 36 * i, n, 6, y)
        p = I[I[PARENT] + i]
        for k in range(n):
            add(W, I[AT_B] + 6 * i, W[y + k], I[AT_HALF_J] + 36 * i + 6 * k, 6)
            if p:
                add(W, I[AT_B] + 6 * p, -W[y + k], I[AT_HALF_P] + 36 * i + 6 * k, 6)
    for i in range(1, bodies):
        copy(W, I[AT_A] + 6 * i, I[AT_B] + 6 * i, 6)
        backward(W, I[AT_M] + 36 * i, 6, 6, I[AT_A] + 6 * i)


def yamane_nakamura(I, W, q, v, tau, fext, out, forces):
    """Write independent accelerations, and wrenches of joints if there is room for them; returns what went wrong."""
    wrong = prepare(I, W, q, v, tau, fext)
    if wrong:
        return wrong
    if not links(I, W):
        return BODY
    blocks(I, W)
    if not assemble(I, W):
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
