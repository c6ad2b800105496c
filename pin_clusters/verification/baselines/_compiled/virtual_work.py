"""Forward dynamics by the principle of virtual work (see ``baselines/yamane_nakamura.py``).

The inverse inertia Phi = L^-T L^-1 of a link couples its joints by J Phi J', with one block per pair of joints. Joints
are eliminated from the tips to the base. Each elimination connects the partial chain behind a joint to the rest of the
robot, and changes the blocks of the remaining joints on the link.
"""

from ....compiler.numba_jit.jit import device
from . import fields as f
from .linear import add, backward, cholesky, each, forward, forward_columns, product
from .system import collect, feel, in_maximal_coordinates, kept, links, move_bodies, own_block


@device
def blocks(I, W):
    """Compute the right-hand sides, and the blocks of J Phi J' for each joint and for each pair of joints on a link."""
    for i in range(1, I[f.BODIES]):
        n, p, half_p = I[I[f.COUNT] + i], I[I[f.PARENT] + i], I[f.AT_HALF_P] + 36 * i
        own_block(I, W, i, I[f.AT_PIVOT] + 36 * i, 6, I[f.AT_LAMBDA] + 6 * i, True)
        for k in each(I, f.NEAR, i):
            neighbour, block = I[I[f.NEARS] + k], I[f.AT_BLOCK] + 36 * k
            sign, half = (-1.0, I[f.AT_HALF_J]) if neighbour == p else (1.0, I[f.AT_HALF_P])
            for r in range(n):
                for c in range(I[I[f.COUNT] + neighbour]):
                    W[block + 6 * r + c] = sign * product(W, half_p + 6 * r, half + 36 * neighbour + 6 * c)


@device
def factorise(I, W):
    if not links(I, W):
        return False
    blocks(I, W)
    for i in range(I[f.BODIES] - 1, 0, -1):
        n, pivot = I[I[f.COUNT] + i], I[f.AT_PIVOT] + 36 * i
        if not cholesky(W, pivot, n, 6):
            I[f.WRONG] = i
            return False
        y = I[f.AT_LAMBDA] + 6 * i
        forward(W, pivot, n, 6, y)
        fill = I[f.FILLS] + I[I[f.FILL] + i]
        for a in each(I, f.NEAR, i):
            r_joint, x = I[I[f.NEARS] + a], I[f.AT_BLOCK] + 36 * a
            forward_columns(W, pivot, n, x, I[I[f.COUNT] + r_joint])
            to = I[f.AT_LAMBDA] + 6 * r_joint
            for r in range(I[I[f.COUNT] + r_joint]):
                for k in range(n):
                    W[to + r] -= W[x + 6 * k + r] * W[y + k]
            for b in range(I[I[f.NEAR] + i], a + 1):
                c_joint, z = I[I[f.NEARS] + b], I[f.AT_BLOCK] + 36 * b
                target = I[fill]
                fill += 1
                # The block of two joints is stored with the joint that is eliminated first, which has the larger index.
                first, second, u, w = (r_joint, c_joint, x, z) if r_joint > c_joint else (c_joint, r_joint, z, x)
                to = I[f.AT_PIVOT] + 36 * r_joint if r_joint == c_joint else I[f.AT_BLOCK] + 36 * target
                for k in range(n):
                    for r in range(I[I[f.COUNT] + first]):
                        for c in range(r + 1 if r_joint == c_joint else I[I[f.COUNT] + second]):
                            W[to + 6 * r + c] -= W[u + 6 * k + r] * W[w + 6 * k + c]
    return True


@device
def felt(I, W):
    bodies, n = I[f.BODIES], kept(I)
    feel(I, W, 2 * bodies)
    for b in range(1, bodies):
        for entry in each(I, f.NODE, b):
            x = I[f.AT_Y] + 6 * entry
            forward(W, I[f.AT_M] + 36 * b, 6, 6, x)
            to = I[f.GOES_TO] + I[I[f.GOES] + entry]
            for k in each(I, f.LINK, b):
                j = I[I[f.LINKS] + k]
                half = I[f.AT_HALF_J] + 36 * j if j == b else I[f.AT_HALF_P] + 36 * j
                sign = -1.0 if j == b else 1.0
                for r in range(I[I[f.COUNT] + j]):
                    W[I[f.AT_Y] + 6 * I[to] + r] += sign * product(W, half + 6 * r, x)
                to += 1
        collect(I, W, b, 1.0, I[f.AT_Y], 6, I[f.AT_B] + 6 * b, n)
    for i in range(bodies - 1, 0, -1):
        m, pivot = I[I[f.COUNT] + i], I[f.AT_PIVOT] + 36 * i
        for entry in range(I[I[f.NODE] + bodies + i], I[I[f.NODE] + bodies + i + 1]):
            y = I[f.AT_Y] + 6 * entry
            forward(W, pivot, m, 6, y)
            to = I[f.GOES_TO] + I[I[f.GOES] + entry]
            for k in each(I, f.NEAR, i):
                x, z = I[f.AT_BLOCK] + 36 * k, I[f.AT_Y] + 6 * I[to]
                for r in range(I[I[f.COUNT] + I[I[f.NEARS] + k]]):
                    for c in range(m):
                        W[z + r] -= W[x + 6 * c + r] * W[y + c]
                to += 1
        collect(I, W, bodies + i, -1.0, I[f.AT_Y], 6, I[f.AT_LAMBDA] + 6 * i, n)


@device
def release(I, W):
    for i in range(1, I[f.BODIES]):
        n, y = I[I[f.COUNT] + i], I[f.AT_LAMBDA] + 6 * i
        for entry in each(I, f.NODE, I[f.BODIES] + i):
            add(W, y, W[I[f.AT_MU] + I[I[f.NODE_ROW] + entry]], I[f.AT_Y] + 6 * entry, n)
        for k in each(I, f.NEAR, i):
            neighbour, x = I[I[f.NEARS] + k], I[f.AT_BLOCK] + 36 * k
            for r in range(n):
                for c in range(I[I[f.COUNT] + neighbour]):
                    W[y + r] -= W[x + 6 * r + c] * W[I[f.AT_LAMBDA] + 6 * neighbour + c]
        backward(W, I[f.AT_PIVOT] + 36 * i, n, 6, y)
    move_bodies(I, W)


def yamane_nakamura(I, W, q, v, tau, fext, out, forces):
    return in_maximal_coordinates(I, W, q, v, tau, fext, out, forces, factorise, felt, release)
