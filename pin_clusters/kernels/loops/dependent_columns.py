"""Inverse P of the dependent columns of K (L2); pivot rows are chosen among all rows at each state.

A fixed set of pivot rows fails if the column space of K changes with q, as in Bennett's linkage.
"""

from ...compiler.numba_jit.jit import inline
from ..numbers.choices import if_less, may_be_less
from ..numbers.memory import get, put


@inline
def invert(work, K, width, nd, nr, P, scratch):
    """Write P with P K = 1 (L2) for a matrix K of shape (nr, nd), by Gauss-Jordan elimination of [K 1].

    If there are more rows than columns, the columns of P that belong to rows without a pivot are zero.
    """
    wide = nd + nr
    for i in range(nr):
        for j in range(nd):
            put(work, scratch + i * wide + j, get(work, K + i * width + j))
        for j in range(nr):
            put(work, scratch + i * wide + nd + j, 1.0 if i == j else 0.0)
    for k in range(nd):
        top = scratch + k * wide
        for i in range(k + 1, nr):
            # Swap the two rows if the lower row has the larger pivot.
            row = scratch + i * wide
            x, y = get(work, top + k), get(work, row + k)
            a, b = x * x, y * y  # comparing squares is equivalent to comparing absolute values
            if may_be_less(a, b):
                for j in range(k, wide):
                    x, y = get(work, top + j), get(work, row + j)
                    put(work, top + j, if_less(a, b, y, x))
                    put(work, row + j, if_less(a, b, x, y))
        inverse = 1.0 / get(work, top + k)
        # Column k itself is not read again.
        for j in range(k + 1, wide):
            put(work, top + j, inverse * get(work, top + j))
        for i in range(nr):
            if i != k and (i < nd or k + 1 < nd):
                row = scratch + i * wide
                x = get(work, row + k)
                for j in range(k + 1, wide):
                    put(work, row + j, get(work, row + j) - x * get(work, top + j))
    for i in range(nd):
        for j in range(nr):
            put(work, P + i * nr + j, get(work, scratch + i * wide + nd + j))


@inline
def invert_dependents(work, L):
    """Write P, the inverse of the dependent columns (L2); one or two equations use explicit formulas."""
    if L.nd == 1 and L.nr == 1:
        put(work, L.P, 1.0 / get(work, L.K))
    elif L.nd == 2 and L.nr == 2:
        invert_pair(work, L)
    else:
        invert(work, L.K, L.width, L.nd, L.nr, L.P, L.scratch)


@inline
def invert_pair(work, L):
    """Write P for two dependent columns; return its four entries and ``product_of_norms``."""
    a, b = get(work, L.K), get(work, L.K + 1)
    c, d = get(work, L.K + L.width), get(work, L.K + L.width + 1)
    x = 1.0 / (a * d - b * c)
    p00, p01, p10, p11 = x * d, -(x * b), -(x * c), x * a
    put(work, L.P, p00)
    put(work, L.P + 1, p01)
    put(work, L.P + 2, p10)
    put(work, L.P + 3, p11)
    # Up to signs and order, P contains the entries of K_d, multiplied by x.
    norms = x * (a * a + b * b + c * c + d * d)
    return p00, p01, p10, p11, norms * norms


@inline
def product_of_norms(work, L):
    """Return the product of the squared Frobenius norms of K_d and P, which is at least cond(K_d)^2."""
    a, b = 0.0, 0.0
    for i in range(L.nr):
        for j in range(L.nd):
            x, y = get(work, L.K + i * L.width + j), get(work, L.P + j * L.nr + i)
            a += x * x
            b += y * y
    return a * b
