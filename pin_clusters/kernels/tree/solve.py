"""Factors M = L^T D L along the tree of velocities, and solves M x = y for many right-hand sides y (V9).

Velocities are in depth-first order, so the descendants of a velocity follow it. L has nonzero entries only between a
velocity and its ancestors. A row of L contains 1 / D, then the entries of the ancestors, nearest ancestor first.

The array ``plan`` contains a record of five numbers per velocity (``tree_layout``), then the lists of ancestors.
"""

from ...compiler.numba_jit.jit import inline
from ..directions import Out
from ..numbers.memory import get, put, put_copy, put_zeros
from ..tables.tree_layout import BEHIND, DEPTH, IV, PATH, ROW, WIDTH


@inline
def factor(plan, M, n, L: Out, transposed: Out):
    """Write the rows of L; also write L^T as a full matrix, because ``solve`` reads columns of L."""
    for i in range(n):
        iv, path, row = plan[WIDTH * i + IV] * n, plan[WIDTH * i + PATH], plan[WIDTH * i + ROW]
        put(L, row, get(M, iv + plan[WIDTH * i + IV]))
        for t in range(plan[WIDTH * i + DEPTH]):
            put(L, row + 1 + t, get(M, iv + plan[WIDTH * plan[path + t] + IV]))
    for r in range(n):
        k = n - 1 - r
        path, depth, row = plan[WIDTH * k + PATH], plan[WIDTH * k + DEPTH], plan[WIDTH * k + ROW]
        inverse = 1.0 / get(L, row)
        for t in range(depth):
            y = get(L, row + 1 + t)
            x, i = y * inverse, plan[path + t]
            to = plan[WIDTH * i + ROW]
            for s in range(depth - t):
                put(L, to + s, get(L, to + s) - x * get(L, row + 1 + t + s))
            put(transposed, i * n + k, x)
        for t in range(depth):
            put(L, row + 1 + t, get(L, row + 1 + t) * inverse)
        put(L, row, inverse)


@inline
def subtract(X: Out, i, k, factor, n):
    """Compute X[i:i+n] -= factor * X[k:k+n] in a loop that LLVM vectorizes."""
    for j in range(n):
        put(X, i + j, get(X, i + j) - get(X, k + j) * factor)


@inline
def scale(X: Out, i, factor, n):
    for j in range(n):
        put(X, i + j, get(X, i + j) * factor)


@inline
def solve(plan, n, L, transposed, X: Out, width):
    """Replace X, shape (n, width), by M^-1 X."""
    for r in range(n):
        j = n - 1 - r
        for i in range(j + 1, plan[WIDTH * j + BEHIND]):
            subtract(X, j * width, i * width, get(transposed, j * n + i), width)
    for i in range(n):
        row, path = plan[WIDTH * i + ROW], plan[WIDTH * i + PATH]
        scale(X, i * width, get(L, row), width)
        for t in range(plan[WIDTH * i + DEPTH]):
            subtract(X, i * width, plan[path + t] * width, get(L, row + 1 + t), width)


@inline
def right_sides(plan, n, sides: Out, dq, turned, dv):
    """Write the rows of [-dq - turned, -dv, 1]; ``turned`` may be None."""
    for i in range(n):
        iv, to = plan[WIDTH * i + IV], i * 3 * n
        for j in range(n):
            x = -get(dq, iv * n + j)
            put(sides, to + j, x if turned is None else x - get(turned, iv * n + j))
        for j in range(n):
            put(sides, to + n + j, -get(dv, iv * n + j))
        put_zeros(sides, to + 2 * n, n)
        put(sides, to + 2 * n + iv, 1.0)


@inline
def solve_for_accelerations(plan, n, L: Out, X: Out, dq, turned, dv, M):
    """Write M^-1 [-dq - turned, -dv, 1] to the first n rows of X; L is workspace, and ``turned`` may be None."""
    square = n * n
    factor(plan, M, n, L[square:], L)
    right_sides(plan, n, X, dq, turned, dv)
    solve(plan, n, L[square:], L, X, 3 * n)


@inline
def write_motions(sides, s, plan, n, to: Out):
    for i in range(n):
        row, k = plan[WIDTH * i + IV] * n, (3 * i + s) * n
        put_copy(to, row, sides, k, n)


@inline
def mirror(A: Out, n):
    for i in range(n):
        for j in range(i):
            put(A, i * n + j, get(A, j * n + i))
