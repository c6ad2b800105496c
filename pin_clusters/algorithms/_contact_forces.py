"""Forces of contacts that are redundant, damped, or iterated: dense equations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from ..errors import ArgumentTypeError, RankError


def solved(A: np.ndarray, b: np.ndarray, settings: Any) -> np.ndarray:
    """Solve A x = b: of least norm, damped by a number, or iterated as proximal settings say."""
    if isinstance(settings, pin.ProximalSettings):
        return iterated(A, b, settings)
    damping = damping_of(settings)
    if damping > 0.0 or not len(A):
        return regular(A + damping * np.eye(len(A)), b)
    if not np.all(np.isfinite(A)):
        return np.full(len(b), np.nan)
    smallest = len(A) * 1e2 * np.finfo(float).eps
    try:
        pivots = np.linalg.cholesky(A).diagonal() ** 2 / A.diagonal()
        if pivots.min() > 1e4 * smallest:
            return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        pass  # redundant rows
    w, V = np.linalg.eigh(A)
    used = w > smallest * w[-1]
    return (V[:, used] / w[used]) @ (V[:, used].T @ b)


def damping_of(mu: Any) -> float:
    """Return damping as a number; none is 0."""
    damping = 0.0 if mu is None else float(mu)
    if not damping >= 0.0:
        raise ArgumentTypeError(f"damping (mu) must not be negative, got {mu!r}.")
    return damping


def iterated(A: np.ndarray, b: np.ndarray, settings: Any) -> np.ndarray:
    """Pinocchio's proximal iteration."""
    x = np.zeros(len(b))
    damped = A + settings.mu * np.eye(len(A))
    for _ in range(settings.max_iter):
        new = regular(damped, b + settings.mu * x)
        residual, change, x = np.abs(A @ new - b).max(initial=0.0), np.abs(new - x).max(initial=0.0), new
        if residual <= settings.absolute_accuracy or change <= settings.relative_accuracy:
            break
    return x


def regular(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Solve A x = b where A must have an inverse."""
    try:
        return np.linalg.solve(A, b)
    except np.linalg.LinAlgError:
        rank = int(np.linalg.matrix_rank(A, hermitian=True))
        raise RankError(
            f"the {len(A)} rows of the contacts are redundant: rank {rank}. Give mu > 0; without settings and damping "
            "constraintDynamics, impulseDynamics and forwardDynamics take the forces of least norm.",
            rank,
        ) from None
