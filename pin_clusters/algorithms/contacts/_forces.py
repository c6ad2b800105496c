"""Forces of contacts that are redundant, damped, or iterated: dense equations."""

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ...errors import ArgumentTypeError, RankError


class Solution(NamedTuple):
    """Forces, and how well they do what is asked for."""

    forces: np.ndarray  # shape (rows,)
    rank: int  # of the rows
    missed: np.ndarray  # by how much what is asked for is missed, shape (rows,)
    asked: float = 0.0  # its largest entry

    @property
    def found(self) -> tuple[int, float]:
        """Rank, and the largest entry that is missed."""
        return self.rank, float(np.abs(self.missed).max(initial=0.0))


def solved(A: np.ndarray, b: np.ndarray, settings: Any) -> Solution:
    """Solve A x = b: of least norm, damped by a number, or iterated as proximal settings say."""
    if isinstance(settings, pin.ProximalSettings):
        return _told(A, b, iterated(A, b, settings), len(A))
    damping = damping_of(settings)
    if damping > 0.0 or not len(A):
        return _told(A, b, regular(A + damping * np.eye(len(A)), b), len(A))
    if not np.all(np.isfinite(A)):
        return Solution(np.full(len(b), np.nan), 0, np.full(len(b), np.nan))
    if independent(A):
        return _told(A, b, np.linalg.solve(A, b), len(A))
    w, V = spectrum(A)
    return _told(A, b, (V / w) @ (V.T @ b), len(w))


def _smallest(A: np.ndarray) -> float:
    """Return what is rounding, beside the largest eigenvalue."""
    return len(A) * 1e2 * float(np.finfo(float).eps)


def independent(A: np.ndarray) -> bool:
    """Whether the rows of contacts are, with A = J M^-1 J'."""
    smallest = _smallest(A)
    try:
        pivots, own = np.linalg.cholesky(A).diagonal() ** 2, A.diagonal()
    except np.linalg.LinAlgError:
        return False
    # a row that is nothing but rounding, whose square stands here, is small beside the others, not beside itself
    return bool((pivots / own).min() > 1e4 * smallest and own.min() > (1e4 * smallest) ** 2 * own.max())


def spectrum(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the eigenvalues of A that are no rounding, and their vectors, side by side."""
    w, V = np.linalg.eigh(A)
    used = w > _smallest(A) * w[-1]
    return w[used], V[:, used]


def _told(A: np.ndarray, b: np.ndarray, x: np.ndarray, rank: int) -> Solution:
    return Solution(x, rank, A @ x - b, float(np.abs(b).max(initial=0.0)))


def damping_of(mu: Any) -> float:
    """Return damping as a number; none is 0."""
    damping = 0.0 if mu is None else float(mu)
    if not damping >= 0.0:
        raise ArgumentTypeError(f"damping (mu) must not be negative, got {mu!r}.")
    return damping


def lasting_damping_of(how: Any) -> float:
    """Return by what the diagonal of A is larger; iterated forces come to those without damping."""
    if isinstance(how, pin.ProximalSettings):
        return float(how.mu) if how.max_iter <= 1 else 0.0
    return damping_of(how)


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
