"""Tuples in flat arrays: load, store, accumulate. Written out, so that they stay in registers."""

from __future__ import annotations

from ._jit import inline
from .simd import get, put
from .spatial import Vec3, Vec6, add21


@inline
def load3(a, i):
    return Vec3(get(a, i), get(a, i + 1), get(a, i + 2))


@inline
def load6(a, i):
    return Vec6(get(a, i), get(a, i + 1), get(a, i + 2), get(a, i + 3), get(a, i + 4), get(a, i + 5))


@inline
def load9(a, i):
    return join9(load3(a, i), load3(a, i + 3), load3(a, i + 6))


@inline
def join9(a, b, c):
    return (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2])


@inline
def load10(a, i):
    x, y = load6(a, i), load3(a, i + 6)
    return (x[0], x[1], x[2], x[3], x[4], x[5], y[0], y[1], y[2], get(a, i + 9))


@inline
def load15(a, i):
    x, y = load9(a, i), load6(a, i + 9)
    return (
        x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8],
        y[0], y[1], y[2], y[3], y[4], y[5],
    )  # fmt: skip


@inline
def load21(a, i):
    x, y, z, w = load6(a, i), load6(a, i + 6), load6(a, i + 12), load3(a, i + 18)
    return (
        x[0], x[1], x[2], x[3], x[4], x[5], y[0], y[1], y[2], y[3], y[4], y[5],
        z[0], z[1], z[2], z[3], z[4], z[5], w[0], w[1], w[2],
    )  # fmt: skip


@inline
def store3(a, i, x):
    put(a, i, x[0])
    put(a, i + 1, x[1])
    put(a, i + 2, x[2])


@inline
def store6(a, i, x):
    store3(a, i, (x[0], x[1], x[2]))
    store3(a, i + 3, (x[3], x[4], x[5]))


@inline
def store9(a, i, x):
    store6(a, i, (x[0], x[1], x[2], x[3], x[4], x[5]))
    store3(a, i + 6, (x[6], x[7], x[8]))


@inline
def store10(a, i, x):
    store9(a, i, (x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]))
    put(a, i + 9, x[9])


@inline
def store15(a, i, x):
    store9(a, i, (x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]))
    store6(a, i + 9, (x[9], x[10], x[11], x[12], x[13], x[14]))


@inline
def store21(a, i, x):
    store9(a, i, (x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]))
    store9(a, i + 9, (x[9], x[10], x[11], x[12], x[13], x[14], x[15], x[16], x[17]))
    store3(a, i + 18, (x[18], x[19], x[20]))


@inline
def accumulate3(a, i, x):
    store3(a, i, load3(a, i) + x)


@inline
def accumulate6(a, i, x):
    store6(a, i, load6(a, i) + x)


@inline
def accumulate10(a, i, x):
    accumulate6(a, i, Vec6(x[0], x[1], x[2], x[3], x[4], x[5]))
    accumulate3(a, i + 6, Vec3(x[6], x[7], x[8]))
    put(a, i + 9, get(a, i + 9) + x[9])


@inline
def accumulate21(a, i, x):
    store21(a, i, add21(load21(a, i), x))


@inline
def fill_square(flat, n, out):
    """Copy n x n numbers to a matrix; returns whether it has that shape."""
    if out.shape[0] != n or out.shape[1] != n:
        return False
    for i in range(n):
        for k in range(n):
            out[i, k] = get(flat, i * n + k)
    return True
