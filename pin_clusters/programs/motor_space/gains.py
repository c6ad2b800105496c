"""Stiffness and damping of joints as those of motors, and back."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..._support.arrays import numbers
from ...errors import ShapeError


@dataclass(frozen=True, eq=False)
class Gains:
    """Gains of motors that act at the joints as was asked for, and what controllers of single motors can do of it.

    Attributes:
        stiffness: d tau_motor / d theta, less the sign, shape (n, n).
        damping: The same by speeds, shape (n, n).
        diagonal_stiffness: Gains without coupling, not negative, that come nearest at the joints, shape (n,).
        diagonal_damping: Likewise.
        lost_stiffness: How far the stiffness at the joints is then off, in parts of the one asked for (Frobenius).
        lost_damping: Likewise.
    """

    stiffness: np.ndarray
    damping: np.ndarray
    diagonal_stiffness: np.ndarray
    diagonal_damping: np.ndarray
    lost_stiffness: float
    lost_damping: float


def square(name: str, x: Any, n: int) -> np.ndarray:
    """Return a matrix: itself, of its diagonal, or of one number."""
    found = numbers(name, x)
    if found.shape not in ((), (n,), (n, n)):
        raise ShapeError(f"{name} has shape {found.shape}; expected a number, ({n},) or ({n}, {n}).")
    return np.asarray(found, dtype=float) if found.ndim == 2 else np.diag(np.broadcast_to(found, n).astype(float))


def to_motors(J: np.ndarray, K: np.ndarray, D: np.ndarray, bent: np.ndarray) -> Gains:
    """Return gains of the motors; ``bent`` is sum_k tau_motor_k d2theta_k/dx2."""
    back = np.linalg.inv(J)
    best = [_diagonal(J, K + bent, K), _diagonal(J, D, D)]
    (k, lost_k), (d, lost_d) = best
    return Gains(back.T @ (K + bent) @ back, back.T @ D @ back, k, d, lost_k, lost_d)


def _diagonal(J: np.ndarray, wanted: np.ndarray, whole: np.ndarray) -> tuple[np.ndarray, float]:
    from scipy.optimize import nnls  # whose import takes time

    found, off = nnls(np.stack([np.outer(row, row).ravel() for row in J], axis=1), wanted.ravel())
    size = np.linalg.norm(whole)
    return found, float(off / size) if size else 0.0
