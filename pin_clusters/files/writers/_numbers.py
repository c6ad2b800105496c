"""Numbers as text that gives the same bits when it is read."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pinocchio as pin

from ._joints import UNLIMITED


def text(*numbers: float | Iterable[float]) -> str:
    """Return numbers, shortest digits that are exact, with spaces between them; no negative zeros."""
    flat = np.concatenate([np.ravel(np.asarray(x, dtype=float)) for x in numbers])
    return " ".join(repr(x + 0.0).removesuffix(".0") for x in flat.tolist())


def finite(number: float) -> float:
    """Return a number with the largest float in the place of infinity."""
    return float(np.clip(number, -UNLIMITED, UNLIMITED))


def rpy(rotation: np.ndarray) -> np.ndarray:
    """Return roll, pitch and yaw of a rotation, exact to rounding at right angles too, shape (3,)."""
    return np.asarray(pin.rpy.matrixToRpy(np.asarray(rotation)))


def wxyz(rotation: np.ndarray) -> np.ndarray:
    """Return the quaternion of a rotation, the real part first, shape (4,)."""
    return np.asarray(pin.Quaternion(np.asarray(rotation)).normalized().coeffs()[[3, 0, 1, 2]])
