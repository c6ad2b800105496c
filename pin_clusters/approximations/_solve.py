"""Dense mass matrices: symmetric, and refused with a message where they are singular."""

from __future__ import annotations

from typing import Any

import numpy as np

SINGULAR = 1e-13
"""Smallest eigenvalue of a mass matrix scaled to a diagonal of ones, relative to the largest, that can be solved."""


def symmetric(M: Any) -> np.ndarray:
    """Return a matrix of which only the upper triangle may be filled (older Pinocchio) as a whole one."""
    upper = np.triu(M)
    return np.asarray(upper + np.triu(upper, 1).T)


def is_singular(M: np.ndarray) -> bool:
    """Say whether a mass matrix is singular to rounding; scaled, as light joints on heavy bases are no trouble."""
    size = np.sqrt(np.abs(np.diag(M)))
    if not np.all(size > 0.0):
        return M.size > 0
    values = np.abs(np.linalg.eigvalsh(M / size / size[:, None]))
    return bool(values.min(initial=1.0) < SINGULAR * values.max(initial=1.0))
