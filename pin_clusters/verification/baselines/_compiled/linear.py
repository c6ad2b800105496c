"""Dense linear algebra for small matrices in a flat array; arguments are offsets and row lengths."""

import math

from ....compiler.numba_jit.jit import device, inline
from ....kernels.numbers.memory import put
from ....kernels.numbers.spatial import dot6
from ....kernels.numbers.tuples import load6

TINY = 1e-14
"""A pivot below this fraction of the original diagonal entry counts as zero."""
ALL = 1 << 40
"""Bandwidth that denotes a full matrix. Rows of banded matrices may overlap in memory outside their bands."""


@inline
def each(I, table, i):
    """Return the range of indices of list i in a table of concatenated lists."""
    return range(I[I[table] + i], I[I[table] + i + 1])


@device
def cholesky(W, a, n, width, band=ALL):
    """Replace the lower triangle at offset ``a`` by its Cholesky factor L; return whether this succeeds."""
    for j in range(n):
        row = a + width * j
        original = W[row + j]
        d = original
        for k in range(max(0, j - band + 1), j):
            d -= W[row + k] * W[row + k]
        if not d > TINY * original:
            return False
        d = math.sqrt(d)
        W[row + j] = d
        d = 1.0 / d
        for i in range(j + 1, min(n, j + band)):
            lower_row = a + width * i
            x = W[lower_row + j]
            for k in range(max(0, i - band + 1), j):
                x -= W[lower_row + k] * W[row + k]
            W[lower_row + j] = x * d
    return True


@device
def forward(W, a, n, width, x, band=ALL):
    """Multiply the vector at offset ``x`` by L^-1, where L is the Cholesky factor at offset ``a``."""
    for i in range(n):
        row = a + width * i
        y = W[x + i]
        for k in range(max(0, i - band + 1), i):
            y -= W[row + k] * W[x + k]
        W[x + i] = y / W[row + i]


@device
def backward(W, a, n, width, x, band=ALL):
    """Multiply the vector at offset ``x`` by L^-T, where L is the Cholesky factor at offset ``a``."""
    for i in range(n - 1, -1, -1):
        y = W[x + i]
        for k in range(i + 1, min(n, i + band)):
            y -= W[a + width * k + i] * W[x + k]
        W[x + i] = y / W[a + width * i + i]


@device
def forward_rows(W, a, n, b, rows):
    """Multiply the rows of length 6 at b by L^-T from the right, in place."""
    for r in range(rows):
        forward(W, a, n, 6, b + 6 * r)


@device
def forward_columns(W, a, n, b, columns):
    """Multiply the matrix at b, with rows of length 6, by L^-1 from the left, in place."""
    for i in range(n):
        row = a + 6 * i
        d = 1.0 / W[row + i]
        for c in range(columns):
            y = W[b + 6 * i + c]
            for k in range(i):
                y -= W[row + k] * W[b + 6 * k + c]
            W[b + 6 * i + c] = y * d


@inline
def product(W, x, y):
    return dot6(load6(W, x), load6(W, y))


@device
def dot(W, x, y, n):
    total = 0.0
    for k in range(n):
        total += W[x + k] * W[y + k]
    return total


@inline
def increase(W, at, by):
    put(W, at, load6(W, at) + by)


@device
def add(W, x, scale, y, n):
    """Add ``scale`` times the vector at y to the vector at x."""
    for k in range(n):
        W[x + k] += scale * W[y + k]


@device
def copy(W, x, y, n):
    for k in range(n):
        W[x + k] = W[y + k]


@device
def clear(W, x, n):
    for k in range(n):
        W[x + k] = 0.0
