"""Compute tree velocities from the independent velocities, for each part (group of rows that share velocities).

In the scaled rows of a part, let K_d be the columns of the dependent velocities, and K_i all other columns.
Gauss-Jordan elimination of [K_d, K_i, 1] with complete pivoting yields K_d^-1 K_i, K_d^-1, the pivot rows, and the
other rows as combinations of the pivot rows.
"""

import math
from collections import namedtuple

from ....compiler.numba_jit.jit import device, inline
from ....kernels.numbers.spatial import dot6
from ....kernels.numbers.tuples import load6
from . import fields as f
from .linear import backward, cholesky, clear, dot, each, forward
from .motion import to_parent

SINGULAR = 1e-10
"""If a pivot is below this fraction of the first pivot, the rows do not determine the dependent velocities."""

# Counts of rows, dependent velocities, independent velocities; offsets of rows, pivots, elimination; row length.
Part = namedtuple("Part", "rows n free first_row pivots a width")


@inline
def part(I, p):
    rows, n, free = len(each(I, f.PART_ROW, p)), len(each(I, f.PART_DEP, p)), len(each(I, f.PART_FREE, p))
    first_row, pivots = I[f.PART_ROWS] + I[I[f.PART_ROW] + p], I[f.PIVOTS] + I[I[f.PART_DEP] + p]
    return Part(rows, n, free, first_row, pivots, I[I[f.PART_A] + p], n + free + rows)


@device
def add_row(I, W, r, top, to, columns):
    """Add the coefficients of row r for the joints below body ``top``; ``columns`` maps velocities to columns."""
    for e in each(I, f.ENTRY, r):
        w, j = load6(W, I[f.AT_ENTRY] + 6 * e), I[I[f.ENTRY_BODY] + e]
        while j != top:
            for d in each(I, f.DOF, j):
                W[to + I[columns + d]] += dot6(load6(W, I[f.AT_S] + 6 * d), w)
            w, j = to_parent(I, W, j, w), I[I[f.PARENT] + j]


@device
def eliminate(W, a, rows, width, n, I, pivots):
    """Eliminate the first n columns by Gauss-Jordan and store the pivot rows; return False if a pivot is too small."""
    first = 0.0
    for c in range(n):
        I[pivots + c] = -1
    for _ in range(n):
        best, row, column = 0.0, -1, -1
        for r in range(rows):
            used = False
            for c in range(n):
                used = used or I[pivots + c] == r
            if used:
                continue
            for c in range(n):
                x = abs(W[a + r * width + c])
                if I[pivots + c] < 0 and x > best:
                    best, row, column = x, r, c
        first = max(first, best)
        if row < 0 or not best > SINGULAR * first:
            return False
        I[pivots + column] = row
        x = 1.0 / W[a + row * width + column]
        for c in range(width):
            W[a + row * width + c] *= x
        for r in range(rows):
            if r != row:
                x = W[a + r * width + column]
                for c in range(width):
                    W[a + r * width + c] -= x * W[a + row * width + c]
    return True


@device
def couple(I, W):
    """Compute pose-dependent coupling matrices and select independent rows; return whether all parts are regular."""
    keep, row_index = I[f.KEEP], I[f.KEEP] + I[f.ROWS]
    scales(I, W)
    for r in range(I[f.ROWS]):
        I[row_index + r] = 0 if r < I[f.HARD] else 1
    for p in range(I[f.PARTS]):
        P = part(I, p)
        if I[I[f.PART_MOVES] + p]:
            clear(W, P.a, P.rows * P.width)
            for k in range(P.rows):
                r, row = I[P.first_row + k], P.a + k * P.width
                for t in each(I, f.TERM, r):
                    W[row + I[I[f.COLUMN] + I[I[f.TERM_DOF] + t]]] += W[I[f.AT_TERM] + t]
                if I[I[f.TOP] + r] >= 0:
                    add_row(I, W, r, I[I[f.TOP] + r], row, I[f.COLUMN])
                x = 1.0 / W[I[f.AT_SCALED] + r]
                for c in range(P.n + P.free):
                    W[row + c] *= x
                W[row + P.n + P.free + k] = 1.0
            if not eliminate(W, P.a, P.rows, P.width, P.n, I, P.pivots):
                I[f.WRONG] = p
                return False
            for c in range(P.n):
                pivot_row = P.a + I[P.pivots + c] * P.width + P.n
                for k in range(P.free):
                    W[I[I[f.PART_G] + p] + c * P.free + k] = -W[pivot_row + k]
        for c in range(P.n):
            I[row_index + I[P.first_row + I[P.pivots + c]]] = 1
    k = 0
    for r in range(I[f.ROWS]):
        if I[row_index + r]:
            I[keep + k] = r
            I[row_index + r] = k
            k += 1
        else:
            I[row_index + r] = -1
    I[keep + 2 * I[f.ROWS]] = k
    return True


@device
def scales(I, W):
    for r in range(I[f.HARD]):
        scale = W[I[f.AT_SCALE] + r]
        if scale <= 0.0:
            first = I[f.AT_TERM] + I[I[f.TERM] + r]
            scale = max(math.sqrt(dot(W, first, first, len(each(I, f.TERM, r)))), 1e-12)
        W[I[f.AT_SCALED] + r] = scale


@device
def spread(I, W, v, to):
    """Compute the tree velocity G v from the independent velocity v."""
    for k in range(I[f.NV]):
        W[to + I[I[f.FREE] + k]] = v[k]
    for p in range(I[f.PARTS]):
        g = I[I[f.PART_G] + p]
        for c in each(I, f.PART_DEP, p):
            total = 0.0
            for k in each(I, f.PART_FREE, p):
                total += W[g] * v[I[I[f.PART_FREES] + k]]
                g += 1
            W[to + I[I[f.PART_DEPS] + c]] = total


@device
def drift(I, W, to):
    """Compute the bias g: the tree acceleration at zero independent acceleration."""
    clear(W, to, I[f.TREE_V])
    for p in range(I[f.PARTS]):
        if not I[I[f.PART_MOVES] + p]:
            continue
        P = part(I, p)
        for c in range(P.n):
            pivot_row = P.a + I[P.pivots + c] * P.width + P.n + P.free
            total = 0.0
            for k in range(P.rows):
                r = I[P.first_row + k]
                total += W[pivot_row + k] * W[I[f.AT_RIGHT] + r] / W[I[f.AT_SCALED] + r]
            W[to + I[I[f.PART_DEPS] + I[I[f.PART_DEP] + p] + c]] = total


@device
def least_multipliers(I, W):
    """Distribute the multipliers of the solved rows over all rows, so that the scaled multipliers have minimum norm."""
    for p in range(I[f.PARTS]):
        P = part(I, p)
        n, pivots, width, a = P.n, P.pivots, P.width, P.a + P.n + P.free
        if P.rows == n:
            continue
        # The other rows are T times the solved rows. The result is x and T x, where (1 + T'T) x = old multipliers.
        temp, x = I[f.AT_SCRATCH], I[f.AT_SCRATCH] + n * n
        for c in range(n):
            r = I[P.first_row + I[pivots + c]]
            W[x + c] = W[I[f.AT_MU] + r] * W[I[f.AT_SCALED] + r]
            for d in range(n):
                total = 1.0 if c == d else 0.0
                for k in range(P.rows):
                    if I[I[f.KEEP] + I[f.ROWS] + I[P.first_row + k]] < 0:
                        total += W[a + k * width + I[pivots + c]] * W[a + k * width + I[pivots + d]]
                W[temp + c * n + d] = total
        cholesky(W, temp, n, n)
        forward(W, temp, n, n, x)
        backward(W, temp, n, n, x)
        for k in range(P.rows):
            r = I[P.first_row + k]
            if I[I[f.KEEP] + I[f.ROWS] + r] < 0:
                total = 0.0
                for c in range(n):
                    total -= W[a + k * width + I[pivots + c]] * W[x + c]
                W[I[f.AT_MU] + r] = total / W[I[f.AT_SCALED] + r]
        for c in range(n):
            r = I[P.first_row + I[pivots + c]]
            W[I[f.AT_MU] + r] = W[x + c] / W[I[f.AT_SCALED] + r]
