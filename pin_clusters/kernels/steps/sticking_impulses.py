"""Impulses of points that stay where they are: of most steps of a robot that stands, without a solver of friction."""

from __future__ import annotations

import math
from typing import Final

from ...compiler.numba_jit.jit import inline

_NEAR: Final = 1e-4
"""Of the mean of the diagonal: how dearly impulses change, which tells the unknown ones of redundant points."""
_ROUNDS: Final = 4
_SWEEPS: Final = 4
_FINE: Final = 1e-2
"""Of what an answer may miss: velocities of held points that are near enough to none."""


@inline
def hold(m, size, mu, most, A, g, l, u, B, change, held):
    """Find impulses near given ones so that points that push stay where they are; return whether the laws hold then.

    Those that would have to pull, or to slide, are let go; those that close are held. What slides is not for this.

    Args:
        m: How many points there are.
        size: Rows of each, its normal last: 3, or 1 without the plane.
        mu: Their friction.
        most: How far an answer may be from its own projection.
        A: Of velocities u = A l + g, by rows, with g; the mean of the diagonal is 1.
        l: In: the impulses before; out: the impulses; u: the velocities.
        B: Room of the size of A; change, of that of g; held, for which points are held.
    """
    w, up, pushing = size * m, size - 1, 0
    for i in range(m):
        held[i] = l[size * i + up] > 0.0
        pushing += held[i]
    for i in range(m if pushing == 0 else 0):
        held[i] = g[size * i + up] < 0.0
    for _ in range(_ROUNDS):
        factor(size, w, A, B, held)
        for i in range(w):
            l[i] *= held[i // size]
        left, before = velocities(size, w, A, g, l, u, held), math.inf
        for _ in range(_SWEEPS):
            if left * (1.0 + mu) <= _FINE * most or not left < 0.5 * before:
                break
            solve(size, w, B, u, change, held)
            for i in range(w):
                l[i] -= change[i]
            before, left = left, velocities(size, w, A, g, l, u, held)
        changed = 0
        for i in range(m):
            k = size * i
            side = math.hypot(l[k], l[k + 1]) if size == 3 else 0.0
            other = l[k + up] > 0.0 and side <= mu * l[k + up] if held[i] else u[k + up] < -_FINE * most
            changed += other != held[i]
            held[i] = other
        if changed == 0:
            return left * (1.0 + mu) < 0.5 * most
    return False


@inline
def factor(size, w, A, B, held):
    """Write the Cholesky factor of the rows of held points, with ``_NEAR`` on the diagonal; others are those of 1."""
    for i in range(w):
        for j in range(i + 1):
            on = held[i // size] and held[j // size]
            x = (A[i * w + j] if on else 0.0) + (0.0 if i != j else _NEAR if on else 1.0)
            for k in range(j):
                x -= B[i * w + k] * B[j * w + k]
            # redundant points make A singular, to rounding, which is far below what was added
            B[i * w + j] = x / B[j * (w + 1)] if j < i else math.sqrt(max(x, 0.1 * _NEAR))


@inline
def solve(size, w, B, u, x, held):
    """Solve with the factor for velocities of held points."""
    for i in range(w):
        x[i] = u[i] * held[i // size]
        for k in range(i):
            x[i] -= B[i * w + k] * x[k]
        x[i] /= B[i * (w + 1)]
    for j in range(w):
        i = w - 1 - j
        for k in range(i + 1, w):
            x[i] -= B[k * w + i] * x[k]
        x[i] /= B[i * (w + 1)]


@inline
def velocities(size, w, A, g, l, u, held):
    """Write velocities with impulses; return the largest one of held points."""
    most = 0.0
    for i in range(w):
        u[i] = g[i]
        for j in range(w):
            u[i] += A[w * i + j] * l[j]
        most = max(most, abs(u[i]) * held[i // size])
    return most
