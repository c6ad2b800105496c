"""M = L' D L along the tree of velocities, and solving with it: many right sides side by side in packs; (V9).

Velocities stand in the kernels' order, in which what hangs from one follows it at once: entries of L are zero but
between a velocity and those above it. A row of L is kept as 1 / D, then the entries of those above, the nearest first:
the row of one above has the same numbers from its own place on.

``plan``: five numbers per velocity, then the lists of those above; see ``tree_of_velocities``.
"""

from __future__ import annotations

from typing import Final

from ._jit import inline
from .simd import get, put

IV: Final = 0  # its index in v
BEHIND: Final = 1  # behind the last one that hangs from it
PATH: Final = 2  # where the list of those above begins
DEPTH: Final = 3  # how many there are
ROW: Final = 4  # where its row of L begins
WIDTH: Final = 5


@inline
def factor(plan, M, n, L, transposed):
    """Write the rows of L, and L' once more as a full matrix, as its columns are read, too.

    Reads: L, M.
    Writes: L, transposed.
    """
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
def solve_four(plan, n, L, transposed, X, width, g):
    """Replace four columns of X, from g on, by M^-1 times them, in registers row by row.

    Reads: L, transposed, X.
    Writes: X.
    """
    for r in range(n):
        j = n - 1 - r
        at = j * width + g
        a, b, c, d = get(X, at), get(X, at + 1), get(X, at + 2), get(X, at + 3)
        for i in range(j + 1, plan[WIDTH * j + BEHIND]):
            x, s = get(transposed, j * n + i), i * width + g
            a, b, c, d = a - get(X, s) * x, b - get(X, s + 1) * x, c - get(X, s + 2) * x, d - get(X, s + 3) * x
        put(X, at, a)
        put(X, at + 1, b)
        put(X, at + 2, c)
        put(X, at + 3, d)
    for i in range(n):
        at, row, path = i * width + g, plan[WIDTH * i + ROW], plan[WIDTH * i + PATH]
        e = get(L, row)
        a, b, c, d = get(X, at) * e, get(X, at + 1) * e, get(X, at + 2) * e, get(X, at + 3) * e
        for t in range(plan[WIDTH * i + DEPTH]):
            x, s = get(L, row + 1 + t), plan[path + t] * width + g
            a, b, c, d = a - get(X, s) * x, b - get(X, s + 1) * x, c - get(X, s + 2) * x, d - get(X, s + 3) * x
        put(X, at, a)
        put(X, at + 1, b)
        put(X, at + 2, c)
        put(X, at + 3, d)


@inline
def solve_one(plan, n, L, transposed, X, width, g):
    """The same of one column.

    Reads: L, transposed, X.
    Writes: X.
    """
    for r in range(n):
        j = n - 1 - r
        a = get(X, j * width + g)
        for i in range(j + 1, plan[WIDTH * j + BEHIND]):
            a = a - get(X, i * width + g) * get(transposed, j * n + i)
        put(X, j * width + g, a)
    for i in range(n):
        row, path = plan[WIDTH * i + ROW], plan[WIDTH * i + PATH]
        a = get(X, i * width + g) * get(L, row)
        for t in range(plan[WIDTH * i + DEPTH]):
            a = a - get(X, plan[path + t] * width + g) * get(L, row + 1 + t)
        put(X, i * width + g, a)


@inline
def solve(plan, n, L, transposed, X, width):
    """Replace X, n rows of ``width`` scalars, by M^-1 X.

    Reads: L, transposed, X.
    Writes: X.
    """
    for g in range(width // 4):
        solve_four(plan, n, L, transposed, X, width, 4 * g)
    for g in range(width - width % 4, width):
        solve_one(plan, n, L, transposed, X, width, g)
