"""M = L' D L along the tree of velocities, and solving with it: many right sides side by side in packs; (V9).

Velocities stand in the kernels' order, in which what hangs from one follows it at once: entries of L are zero but
between a velocity and those above it. A row of L is kept as 1 / D, then the entries of those above, the nearest first:
the row of one above has the same numbers from its own place on.

``plan``: five numbers per velocity, then the lists of those above; see ``tree_of_velocities``.
"""

from __future__ import annotations

from ..compiling.jit import inline
from ..numbers.simd import get, put
from ..numbers.tuples import load3, load6
from ..tables.tree_layout import BEHIND, DEPTH, IV, PATH, ROW, WIDTH


@inline
def factor(plan, M, n, L, transposed):
    """Write the rows of L, and L' once more as a full matrix, as its columns are read, too."""
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


def _solving(load):
    """Make what replaces some columns of X, from g on, by M^-1 times them, in registers row by row."""

    @inline
    def solve_some(plan, n, L, transposed, X, width, g):
        """Solve in place."""
        for r in range(n):
            j = n - 1 - r
            x = load(X, j * width + g)
            for i in range(j + 1, plan[WIDTH * j + BEHIND]):
                x = x - load(X, i * width + g) * get(transposed, j * n + i)
            put(X, j * width + g, x)
        for i in range(n):
            row, path = plan[WIDTH * i + ROW], plan[WIDTH * i + PATH]
            x = load(X, i * width + g) * get(L, row)
            for t in range(plan[WIDTH * i + DEPTH]):
                x = x - load(X, plan[path + t] * width + g) * get(L, row + 1 + t)
            put(X, i * width + g, x)

    return solve_some


# more columns at once take more registers than there are, fewer wait for each other
_six, _three, _one = _solving(load6), _solving(load3), _solving(get)


@inline
def solve(plan, n, L, transposed, X, width):
    """Replace X, n rows of ``width`` scalars, by M^-1 X."""
    g = 0
    while g + 6 <= width:
        _six(plan, n, L, transposed, X, width, g)
        g += 6
    if g + 3 <= width:
        _three(plan, n, L, transposed, X, width, g)
        g += 3
    while g < width:
        _one(plan, n, L, transposed, X, width, g)
        g += 1
