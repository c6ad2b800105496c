"""Small dense linear algebra, by place and row length in a flat array."""

from __future__ import annotations

import math

from .jit import jit

TINY = 1e-14
"""A pivot below this share of what stood there is rounding."""


@jit
def cholesky(W, a, n, width):
    """Factorise the symmetric matrix at a in place (lower triangle); returns whether it is positive definite."""
    for j in range(n):
        row = a + width * j
        was = W[row + j]
        d = was
        for k in range(j):
            d -= W[row + k] * W[row + k]
        if not d > TINY * was:
            return False
        d = math.sqrt(d)
        W[row + j] = d
        d = 1.0 / d
        for i in range(j + 1, n):
            other = a + width * i
            x = W[other + j]
            for k in range(j):
                x -= W[other + k] * W[row + k]
            W[other + j] = x * d
    return True


@jit
def forward(W, a, n, width, x):
    """Replace the vector at x by L^-1 x."""
    for i in range(n):
        row = a + width * i
        y = W[x + i]
        for k in range(i):
            y -= W[row + k] * W[x + k]
        W[x + i] = y / W[row + i]


@jit
def backward(W, a, n, width, x):
    """Replace the vector at x by L^-T x."""
    for i in range(n - 1, -1, -1):
        y = W[x + i]
        for k in range(i + 1, n):
            y -= W[a + width * k + i] * W[x + k]
        W[x + i] = y / W[a + width * i + i]


@jit
def forward_rows(W, a, n, b, rows):
    """Replace the rows of length 6 at b by their products with L^-T."""
    for r in range(rows):
        forward(W, a, n, 6, b + 6 * r)


@jit
def forward_columns(W, a, n, b, columns):
    """Replace the columns of the matrix at b, rows of length 6, by their products with L^-1."""
    for i in range(n):
        row = a + 6 * i
        d = 1.0 / W[row + i]
        for c in range(columns):
            y = W[b + 6 * i + c]
            for k in range(i):
                y -= W[row + k] * W[b + 6 * k + c]
            W[b + 6 * i + c] = y * d


@jit
def dot6(W, x, y):
    """Return the product of two vectors of 6."""
    return (
        W[x] * W[y] + W[x + 1] * W[y + 1] + W[x + 2] * W[y + 2]
        + W[x + 3] * W[y + 3] + W[x + 4] * W[y + 4] + W[x + 5] * W[y + 5]
    )  # fmt: skip


@jit
def dot(W, x, y, n):
    """Return the product of two vectors."""
    total = 0.0
    for k in range(n):
        total += W[x + k] * W[y + k]
    return total


@jit
def add(W, x, scale, y, n):
    """Add scale times the vector at y to that at x."""
    for k in range(n):
        W[x + k] += scale * W[y + k]


@jit
def copy(W, x, y, n):
    """Write the vector at y to x."""
    for k in range(n):
        W[x + k] = W[y + k]


@jit
def clear(W, x, n):
    """Write zeros."""
    for k in range(n):
        W[x + k] = 0.0


@jit
def add_wrench(W, at, scale, w, dx, dy, dz):
    """Add scale times a wrench, moved from a point to one from which it is seen at d."""
    x, y, z = scale * W[w], scale * W[w + 1], scale * W[w + 2]
    W[at] += x
    W[at + 1] += y
    W[at + 2] += z
    W[at + 3] += scale * W[w + 3] + dy * z - dz * y
    W[at + 4] += scale * W[w + 4] + dz * x - dx * z
    W[at + 5] += scale * W[w + 5] + dx * y - dy * x


@jit
def add_moved(W, at, m, dx, dy, dz):
    """Add a motion, moved by d to another point of the same body."""
    x, y, z = W[m + 3], W[m + 4], W[m + 5]
    W[at] += W[m] + y * dz - z * dy
    W[at + 1] += W[m + 1] + z * dx - x * dz
    W[at + 2] += W[m + 2] + x * dy - y * dx
    W[at + 3] += x
    W[at + 4] += y
    W[at + 5] += z
