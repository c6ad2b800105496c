"""Computes impulses without a friction solver if all points stick, as in most steps of a standing robot."""

from __future__ import annotations

import math
from typing import Final

from ...compiler.numba_jit.jit import inline
from ..directions import Out

_NEAR: Final = 1e-4
"""Regularization, relative to the mean of the diagonal; it determines the impulses of redundant points."""
_ROUNDS: Final = 4
_SWEEPS: Final = 4
_FINE: Final = 1e-2
"""Speed below which a sticking point counts as at rest, as a fraction of the argument ``most`` of ``hold``."""


@inline
def hold(m, size, mu, most, A, g, l: Out, u: Out, B: Out, change: Out, held: Out):
    """Compute impulses that stop all pushing points; return whether these impulses satisfy the contact laws.

    A point is released if its impulse would have to pull, or would leave the friction cone. A released point that
    approaches the ground is fixed again. Sliding points require a friction solver.

    Args:
        m, size: There are m points, with ``size`` rows each: 3 (normal last) or 1 (only the normal).
        mu, most: mu is the friction coefficient; ``most`` is the largest allowed value of ``phases.distance``.
        A, g: In u = A l + g, A is a matrix (row-major, mean diagonal entry 1), and g are velocities without impulses.
        l, u: l are the impulses (input: a guess, output: the result); u are the velocities with them (output).
        B, change: Workspaces of the sizes of A and g.
        held: Output: 1 for each point that stays in place, else 0.
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
        residual, before = velocities(size, w, A, g, l, u, held), math.inf
        for _ in range(_SWEEPS):
            if residual * (1.0 + mu) <= _FINE * most or not residual < 0.5 * before:
                break
            solve(size, w, B, u, change, held)
            for i in range(w):
                l[i] -= change[i]
            before, residual = residual, velocities(size, w, A, g, l, u, held)
        changed = 0
        for i in range(m):
            k = size * i
            side = math.hypot(l[k], l[k + 1]) if size == 3 else 0.0
            holds = l[k + up] > 0.0 and side <= mu * l[k + up] if held[i] else u[k + up] < -_FINE * most
            changed += holds != held[i]
            held[i] = holds
        if changed == 0:
            return residual * (1.0 + mu) < 0.5 * most
    return False


@inline
def factor(size, w, A, B: Out, held):
    """Write the Cholesky factor of A, regularized by ``_NEAR`` and with identity rows for free points."""
    for i in range(w):
        for j in range(i + 1):
            on = held[i // size] and held[j // size]
            x = (A[i * w + j] if on else 0.0) + (0.0 if i != j else _NEAR if on else 1.0)
            for k in range(j):
                x -= B[i * w + k] * B[j * w + k]
            # Redundant points make A singular; the regularization is much larger than the rounding errors of A.
            B[i * w + j] = x / B[j * (w + 1)] if j < i else math.sqrt(max(x, 0.1 * _NEAR))


@inline
def solve(size, w, B, u, x: Out, held):
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
def velocities(size, w, A, g, l, u: Out, held):
    """Write the velocities u = A l + g after the impulses; return the largest absolute velocity of held points."""
    fastest = 0.0
    for i in range(w):
        u[i] = g[i]
        for j in range(w):
            u[i] += A[w * i + j] * l[j]
        fastest = max(fastest, abs(u[i]) * held[i // size])
    return fastest
