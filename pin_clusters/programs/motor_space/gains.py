"""Stiffness and damping of joints as those of motors."""

from typing import Any, NamedTuple

import numpy as np

from ..._support.arrays import numbers
from ...errors import ShapeError


class Gains(NamedTuple):
    """Gains of motors that act at the joints as was asked for, (n, n), and what controllers of one motor each can do.

    ``diagonal_stiffness`` and ``diagonal_damping``, shape (n,), not negative, come nearest at the joints without coupling;
    ``lost_stiffness`` and ``lost_damping`` say how far they are off there, in parts of what was asked for (Frobenius).
    """

    stiffness: np.ndarray
    damping: np.ndarray
    diagonal_stiffness: np.ndarray
    diagonal_damping: np.ndarray
    lost_stiffness: float
    lost_damping: float

    @classmethod
    def of(cls, J: np.ndarray, K: np.ndarray, D: np.ndarray, bent: np.ndarray) -> "Gains":
        """Return those of stiffness and damping at the joints; ``bent`` is sum_k tau_motor_k d2theta_k/dx2."""
        from scipy.optimize import nnls  # whose import takes time

        back, images = np.linalg.inv(J), np.stack([np.outer(row, row).ravel() for row in J], axis=1)
        (k, off_k), (d, off_d) = (nnls(images, wanted.ravel()) for wanted in (K + bent, D))
        lost = (float(off / (np.linalg.norm(M) or 1.0)) for off, M in ((off_k, K), (off_d, D)))
        return cls(back.T @ (K + bent) @ back, back.T @ D @ back, k, d, *lost)


def square(name: str, x: Any, n: int) -> np.ndarray:
    """Return a matrix: itself, of its diagonal, or of one number."""
    found = numbers(name, x)
    if found.shape not in ((), (n,), (n, n)):
        raise ShapeError(f"{name} has shape {found.shape}; expected a number, ({n},) or ({n}, {n}).")
    return found.astype(float) if found.ndim == 2 else np.diag(np.broadcast_to(found, n).astype(float))
