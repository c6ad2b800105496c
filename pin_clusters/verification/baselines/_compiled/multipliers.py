"""Compute forward dynamics of trees by the sparse L D L' factorisation of ``baselines/baraff.py``.

Bodies and joints are eliminated from the tips to the base. When a body is eliminated, its only remaining neighbour is
its joint. When a joint is eliminated, its only remaining neighbour is the parent body. Therefore, there is no fill-in.
"""

from ....compiler.numba_jit.jit import device
from . import fields as f
from .linear import add, backward, cholesky, copy, each, forward, forward_columns, forward_rows, product
from .system import collect, feel, in_maximal_coordinates, kept, own_block


@device
def factorise(I, W):
    for i in range(I[f.BODIES] - 1, 0, -1):
        n, p, m = I[I[f.COUNT] + i], I[I[f.PARENT] + i], I[f.AT_M] + 36 * i
        b, y = I[f.AT_B] + 6 * i, I[f.AT_LAMBDA] + 6 * i
        j, half_p, pivot = I[f.AT_HALF_J] + 36 * i, I[f.AT_HALF_P] + 36 * i, I[f.AT_PIVOT] + 36 * i
        I[f.WRONG] = i
        if not cholesky(W, m, 6, 6):
            return False
        forward(W, m, 6, 6, b)
        copy(W, j, I[f.AT_J] + 36 * i, 6 * n)
        forward_rows(W, m, 6, j, n)
        own_block(I, W, i, pivot, 6, y, False)
        if not cholesky(W, pivot, n, 6):
            return False
        forward(W, pivot, n, 6, y)
        copy(W, half_p, I[f.AT_P] + 36 * i, 6 * n)
        forward_columns(W, pivot, n, half_p, 6)
        if p:
            above, load = I[f.AT_M] + 36 * p, I[f.AT_B] + 6 * p
            for k in range(n):
                row = half_p + 6 * k
                for r in range(6):
                    x = W[row + r]
                    W[load + r] -= x * W[y + k]
                    for c in range(r + 1):
                        W[above + 6 * r + c] += x * W[row + c]
    return True


@device
def felt(I, W):
    bodies, n = I[f.BODIES], kept(I)
    feel(I, W, bodies)
    for i in range(bodies - 1, 0, -1):
        m, p = I[I[f.COUNT] + i], I[I[f.PARENT] + i]
        j, half_p, pivot = I[f.AT_HALF_J] + 36 * i, I[f.AT_HALF_P] + 36 * i, I[f.AT_PIVOT] + 36 * i
        for k in each(I, f.NODE, i):
            x, y = I[f.AT_Y] + 6 * k, I[f.AT_Z] + 6 * k
            forward(W, I[f.AT_M] + 36 * i, 6, 6, x)
            for r in range(m):
                W[y + r] = -product(W, j + 6 * r, x)
            forward(W, pivot, m, 6, y)
            if p:
                to = I[f.AT_Y] + 6 * I[I[f.GOES_TO] + k]
                for r in range(m):
                    add(W, to, -W[y + r], half_p + 6 * r, 6)
        collect(I, W, i, 1.0, I[f.AT_Y], 6, I[f.AT_B] + 6 * i, n)
        collect(I, W, i, -1.0, I[f.AT_Z], m, I[f.AT_LAMBDA] + 6 * i, n)


@device
def release(I, W):
    for i in range(1, I[f.BODIES]):
        n, p, a, y = I[I[f.COUNT] + i], I[I[f.PARENT] + i], I[f.AT_A] + 6 * i, I[f.AT_LAMBDA] + 6 * i
        copy(W, a, I[f.AT_B] + 6 * i, 6)
        for k in each(I, f.NODE, i):
            mu = W[I[f.AT_MU] + I[I[f.NODE_ROW] + k]]
            add(W, a, mu, I[f.AT_Y] + 6 * k, 6)
            add(W, y, mu, I[f.AT_Z] + 6 * k, n)
        for k in range(n):
            if p:
                W[y + k] += product(W, I[f.AT_HALF_P] + 36 * i + 6 * k, I[f.AT_A] + 6 * p)
        backward(W, I[f.AT_PIVOT] + 36 * i, n, 6, y)
        for k in range(n):
            add(W, a, W[y + k], I[f.AT_HALF_J] + 36 * i + 6 * k, 6)
        backward(W, I[f.AT_M] + 36 * i, 6, 6, a)


def baraff_tree(I, W, q, v, tau, fext, out, forces):
    return in_maximal_coordinates(I, W, q, v, tau, fext, out, forces, factorise, felt, release)
