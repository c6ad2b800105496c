"""M = L' D L along the tree of velocities, and solving with it: many right sides side by side in packs; (V9).

Velocities stand in the kernels' order, in which what hangs from one follows it at once: entries of L are zero but
between a velocity and those above it.
"""

from __future__ import annotations

from typing import NamedTuple

from ._jit import inline
from .simd import get, put
from .views import view_of


class Place(NamedTuple):
    """Row of a velocity in the kernels' order."""

    iv: int  # its index in v
    above: int  # the next velocity above, -1 for none
    behind: int  # behind the last one that hangs from it
    path0: int  # rows of those above it, the nearest first
    path1: int


class Above(NamedTuple):
    """Row of a velocity above another one."""

    place: int


place = view_of(Place)
_above = view_of(Above)


@inline
def factor(plan, M, n, L):
    """Write L, and 1 / D on its diagonal; above the diagonal L' once more, as columns are read, too.

    Reads: L, M.
    Writes: L.
    """
    for i in range(n):
        P = place(plan, i)
        put(L, i * n + i, get(M, P.iv * n + P.iv))
        for t in range(P.path0, P.path1):
            j = _above(plan, t).place
            put(L, i * n + j, get(M, P.iv * n + place(plan, j).iv))
    for r in range(n):
        k = n - 1 - r
        P = place(plan, k)
        inverse = 1.0 / get(L, k * n + k)
        for t in range(P.path0, P.path1):
            i = _above(plan, t).place
            x = get(L, k * n + i) * inverse
            put(L, i * n + i, get(L, i * n + i) - x * get(L, k * n + i))
            for s in range(t + 1, P.path1):
                j = _above(plan, s).place
                put(L, i * n + j, get(L, i * n + j) - x * get(L, k * n + j))
            put(L, i * n + k, x)
        for t in range(P.path0, P.path1):
            i = _above(plan, t).place
            put(L, k * n + i, get(L, i * n + k))
        put(L, k * n + k, inverse)


@inline
def solve_four(plan, n, L, X, width, g):
    """Replace four columns of X, from g on, by M^-1 times them, in registers row by row.

    Reads: L, X.
    Writes: X.
    """
    for r in range(n):
        j = n - 1 - r
        at = j * width + g
        a, b, c, d = get(X, at), get(X, at + 1), get(X, at + 2), get(X, at + 3)
        for i in range(j + 1, place(plan, j).behind):
            x, s = get(L, j * n + i), i * width + g
            a, b, c, d = a - get(X, s) * x, b - get(X, s + 1) * x, c - get(X, s + 2) * x, d - get(X, s + 3) * x
        put(X, at, a)
        put(X, at + 1, b)
        put(X, at + 2, c)
        put(X, at + 3, d)
    for i in range(n):
        P, at, e = place(plan, i), i * width + g, get(L, i * n + i)
        a, b, c, d = get(X, at) * e, get(X, at + 1) * e, get(X, at + 2) * e, get(X, at + 3) * e
        for t in range(P.path0, P.path1):
            j = _above(plan, t).place
            x, s = get(L, i * n + j), j * width + g
            a, b, c, d = a - get(X, s) * x, b - get(X, s + 1) * x, c - get(X, s + 2) * x, d - get(X, s + 3) * x
        put(X, at, a)
        put(X, at + 1, b)
        put(X, at + 2, c)
        put(X, at + 3, d)


@inline
def solve(plan, n, L, X, width):
    """Replace X, n rows of ``width`` scalars, a multiple of four, by M^-1 X.

    Reads: L, X.
    Writes: X.
    """
    for g in range(width // 4):
        solve_four(plan, n, L, X, width, 4 * g)
