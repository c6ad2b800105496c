"""M = L' D L along the tree of velocities, and solving with it: many right sides side by side; (V9).

Velocities stand in the kernels' order, in which what hangs from one follows it at once: entries of L are zero but
between a velocity and those above it. A row of L is kept as 1 / D, then the entries of those above, the nearest first:
the row of one above has the same numbers from its own place on.

``plan``: five numbers per velocity, then the lists of those above; see ``tree_of_velocities``.
"""

from __future__ import annotations

from ..compiling.jit import inline
from ..numbers.memory import get, put, put_copy, put_zeros
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


def for_columns(make):
    """Make what does the same to all columns of a matrix: ``make`` takes what loads some numbers of a row.

    More columns at once take more registers than there are, fewer wait for each other. What is made takes a table of
    rows, their width, and whatever it needs; what ``make`` makes takes the first of its columns as well.
    """
    six, three, one = make(load6), make(load3), make(get)

    @inline
    def all_columns(X, width, *given):
        g = 0
        while g + 6 <= width:
            six(X, width, g, *given)
            g += 6
        if g + 3 <= width:
            three(X, width, g, *given)
            g += 3
        while g < width:
            one(X, width, g, *given)
            g += 1

    return all_columns


def _solving(load):
    """Make what replaces some columns of X, from g on, by M^-1 times them, in registers row by row."""

    @inline
    def solve_some(X, width, g, plan, n, L, transposed):
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


_solve = for_columns(_solving)


@inline
def solve(plan, n, L, transposed, X, width):
    """Replace X, n rows of ``width`` numbers, by M^-1 X."""
    _solve(X, width, plan, n, L, transposed)


@inline
def right_sides(plan, n, sides, dq, turned, dv):
    """Write [-dq - turned, -dv, 1] by rows; ``turned`` may be None."""
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
def solve_for_accelerations(plan, n, L, X, dq, turned, dv, M):
    """Write M^-1 [-dq - turned, -dv, 1] to the first n rows of X; ``turned`` may be None.

    L is room for L', then for the rows of L.
    """
    square = n * n
    factor(plan, M, n, L[square:], L)
    right_sides(plan, n, X, dq, turned, dv)
    solve(plan, n, L[square:], L, X, 3 * n)


@inline
def write_motions(sides, s, plan, n, to):
    """Write block s of that, n columns, to a matrix; rows in the order of v."""
    for i in range(n):
        row, k = plan[WIDTH * i + IV] * n, (3 * i + s) * n
        put_copy(to, row, sides, k, n)


@inline
def mirror(A, n):
    """Copy what is above the diagonal of a matrix below it: symmetric to the last bit."""
    for i in range(n):
        for j in range(i):
            put(A, i * n + j, get(A, j * n + i))
