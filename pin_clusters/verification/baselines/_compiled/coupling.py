"""How velocities of the tree follow from the independent ones, part by part of the rows that tie them.

Gauss and Jordan on [K_d, K_i, 1], scaled rows, with the largest pivot of all rows and columns that are left. It leaves
K_d^-1 K_i, K_d^-1, which rows were solved, and of which combinations the others are.
"""

from __future__ import annotations

import math

from .fields import (
    AT_ENTRY, AT_MU, AT_RIGHT, AT_ROOM, AT_S, AT_SCALE, AT_SCALED, AT_TERM, C_ROW, C_SIZE, C_TOP, CLOSURES, COLUMN, DOF,
    ENTRY, ENTRY_BODY, FREE, HARD, KEEP, NV, PARENT, PART_A, PART_DEP, PART_DEPS, PART_FREE, PART_FREES, PART_G,
    PART_MOVES, PART_ROW, PART_ROWS, PARTS, PIVOTS, ROWS, TERM, TERM_DOF, TREE_V, WRONG,
)  # fmt: skip
from .jit import jit
from .linear import add_wrench, backward, cholesky, clear, copy, dot, dot6, forward
from .motion import offset

SINGULAR = 1e-10
"""A pivot of scaled rows below this share of the first one: the rows do not tie the dependent velocities."""


@jit
def row_of_tree(I, W, r, top, a, room):
    """Add a row to a row of the matrix of its part."""
    for k in range(I[I[TERM] + r], I[I[TERM] + r + 1]):
        W[a + I[I[COLUMN] + I[I[TERM_DOF] + k]]] += W[I[AT_TERM] + k]
    if I[I[TERM] + r] < I[I[TERM] + r + 1]:
        return
    for e in range(I[I[ENTRY] + r], I[I[ENTRY] + r + 1]):
        copy(W, room, I[AT_ENTRY] + 6 * e, 6)
        j = I[I[ENTRY_BODY] + e]
        while j != top:
            for d in range(I[I[DOF] + j], I[I[DOF] + j + 1]):
                W[a + I[I[COLUMN] + d]] += dot6(W, I[AT_S] + 6 * d, room)
            clear(W, room + 6, 6)
            add_wrench(W, room + 6, 1.0, room, offset(I, W, j, 0), offset(I, W, j, 1), offset(I, W, j, 2))
            copy(W, room, room + 6, 6)
            j = I[I[PARENT] + j]


@jit
def eliminate(W, a, rows, width, n, I, pivots):
    """Solve the first n columns by Gauss and Jordan; writes the row of each, returns whether there was one."""
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


@jit
def couple(I, W):
    """Write the coupling matrices of parts that change with the pose, and which rows are kept; whether it worked."""
    room = I[AT_ROOM]
    scales(I, W)
    for r in range(I[ROWS]):
        I[I[KEEP] + I[ROWS] + r] = 0 if r < I[HARD] else 1
    for p in range(I[PARTS]):
        rows = I[I[PART_ROW] + p + 1] - I[I[PART_ROW] + p]
        n, free = I[I[PART_DEP] + p + 1] - I[I[PART_DEP] + p], I[I[PART_FREE] + p + 1] - I[I[PART_FREE] + p]
        mine, pivots = I[PART_ROWS] + I[I[PART_ROW] + p], I[PIVOTS] + I[I[PART_DEP] + p]
        if I[I[PART_MOVES] + p]:
            a, width = I[I[PART_A] + p], n + free + rows
            clear(W, a, rows * width)
            for k in range(rows):
                r = I[mine + k]
                row_of_tree(I, W, r, top_of(I, r), a + k * width, room)
                x = 1.0 / W[I[AT_SCALED] + r]
                for c in range(n + free):
                    W[a + k * width + c] *= x
                W[a + k * width + n + free + k] = 1.0
            if not eliminate(W, a, rows, width, n, I, pivots):
                I[WRONG] = p
                return False
            for c in range(n):
                at = a + I[pivots + c] * width + n
                for f in range(free):
                    W[I[I[PART_G] + p] + c * free + f] = -W[at + f]
        for c in range(n):
            I[I[KEEP] + I[ROWS] + I[mine + I[pivots + c]]] = 1
    k = 0
    for r in range(I[ROWS]):
        if I[I[KEEP] + I[ROWS] + r]:
            I[I[KEEP] + k] = r
            I[I[KEEP] + I[ROWS] + r] = k
            k += 1
        else:
            I[I[KEEP] + I[ROWS] + r] = -1
    I[I[KEEP] + 2 * I[ROWS]] = k
    return True


@jit
def top_of(I, r):
    """Return the body above which a row does not see; of rows of joints the universe."""
    for c in range(I[CLOSURES]):
        if I[I[C_ROW] + c] <= r < I[I[C_ROW] + c] + I[I[C_SIZE] + c]:
            return I[I[C_TOP] + c]
    return 0


@jit
def scales(I, W):
    """Write what rows are measured by: given, or their norm here."""
    for r in range(I[HARD]):
        scale = W[I[AT_SCALE] + r]
        if scale <= 0.0:
            first = I[I[TERM] + r]
            scale = max(math.sqrt(dot(W, I[AT_TERM] + first, I[AT_TERM] + first, I[I[TERM] + r + 1] - first)), 1e-12)
        W[I[AT_SCALED] + r] = scale


@jit
def spread(I, W, v, to):
    """Write G times an independent velocity."""
    for k in range(I[NV]):
        W[to + I[I[FREE] + k]] = v[k]
    for p in range(I[PARTS]):
        free, first = I[I[PART_FREE] + p + 1] - I[I[PART_FREE] + p], I[I[PART_FREE] + p]
        g = I[I[PART_G] + p]
        for c in range(I[I[PART_DEP] + p], I[I[PART_DEP] + p + 1]):
            total = 0.0
            for f in range(free):
                total += W[g + f] * v[I[I[PART_FREES] + first + f]]
            W[to + I[I[PART_DEPS] + c]] = total
            g += free


@jit
def drift(I, W, to):
    """Write g: accelerations of the tree that the rows ask for at independent accelerations of zero."""
    clear(W, to, I[TREE_V])
    for p in range(I[PARTS]):
        if not I[I[PART_MOVES] + p]:
            continue
        rows = I[I[PART_ROW] + p + 1] - I[I[PART_ROW] + p]
        n, free = I[I[PART_DEP] + p + 1] - I[I[PART_DEP] + p], I[I[PART_FREE] + p + 1] - I[I[PART_FREE] + p]
        width, pivots = n + free + rows, I[PIVOTS] + I[I[PART_DEP] + p]
        for c in range(n):
            at = I[I[PART_A] + p] + I[pivots + c] * width + n + free
            total = 0.0
            for k in range(rows):
                r = I[I[PART_ROWS] + I[I[PART_ROW] + p] + k]
                total += W[at + k] * W[I[AT_RIGHT] + r] / W[I[AT_SCALED] + r]
            W[to + I[I[PART_DEPS] + I[I[PART_DEP] + p] + c]] = total


@jit
def least_multipliers(I, W):
    """Spread multipliers of the rows that were solved over all rows: those of least norm, in scaled rows."""
    for p in range(I[PARTS]):
        rows = I[I[PART_ROW] + p + 1] - I[I[PART_ROW] + p]
        n, free = I[I[PART_DEP] + p + 1] - I[I[PART_DEP] + p], I[I[PART_FREE] + p + 1] - I[I[PART_FREE] + p]
        if rows == n:
            continue
        mine, pivots = I[PART_ROWS] + I[I[PART_ROW] + p], I[PIVOTS] + I[I[PART_DEP] + p]
        width, a = n + free + rows, I[I[PART_A] + p] + n + free
        # with T the other rows in terms of these: (1 + T'T) x = multipliers, then x and T x
        room, x = I[AT_ROOM], I[AT_ROOM] + n * n
        for c in range(n):
            r = I[mine + I[pivots + c]]
            W[x + c] = W[I[AT_MU] + r] * W[I[AT_SCALED] + r]
            for d in range(n):
                total = 1.0 if c == d else 0.0
                for k in range(rows):
                    if I[I[KEEP] + I[ROWS] + I[mine + k]] < 0:
                        total += W[a + k * width + I[pivots + c]] * W[a + k * width + I[pivots + d]]
                W[room + c * n + d] = total
        cholesky(W, room, n, n)
        forward(W, room, n, n, x)
        backward(W, room, n, n, x)
        for k in range(rows):
            r = I[mine + k]
            if I[I[KEEP] + I[ROWS] + r] < 0:
                total = 0.0
                for c in range(n):
                    total -= W[a + k * width + I[pivots + c]] * W[x + c]
                W[I[AT_MU] + r] = total / W[I[AT_SCALED] + r]
        for c in range(n):
            r = I[mine + I[pivots + c]]
            W[I[AT_MU] + r] = W[x + c] / W[I[AT_SCALED] + r]
