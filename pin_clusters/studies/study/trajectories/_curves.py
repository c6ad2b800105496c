"""Interpolate and filter recorded samples."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ._base import TrajectoryError


def spline(time: np.ndarray, values: np.ndarray) -> Any:
    from scipy.interpolate import make_interp_spline

    return make_interp_spline(time, values, k=5)


def low_pass(time: np.ndarray, values: np.ndarray, cutoff: float, name: str) -> np.ndarray:
    """Apply a Butterworth filter of order 2 forwards and backwards; the cutoff must be below half the sampling rate."""
    even = np.linspace(time[0], time[-1], len(time))  # the filter requires equidistant samples
    rate = 1.0 / (even[1] - even[0])
    if not cutoff < 0.5 * rate:
        raise TrajectoryError(
            f"{name}: the cutoff of {cutoff:g} Hz must be below half the sampling rate, {0.5 * rate:g} Hz."
        )
    return np.asarray(spline(even, butterworth(spline(time, values)(even), rate, cutoff))(time))


def butterworth(values: np.ndarray, rate: float, cutoff: float, order: int = 2) -> np.ndarray:
    from scipy.signal import butter, sosfiltfilt

    sections = butter(order, cutoff, fs=rate, output="sos")
    return sosfiltfilt(sections, values, axis=0, padlen=min(len(values) - 1, 50))


def free_flyer(
    recorded: np.ndarray, base: np.ndarray, time: np.ndarray, smooth: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Interpolate free-flyer poses, (n, 7); compute the velocity and acceleration in the body frame, (n, 6)."""
    from scipy.spatial.transform import Rotation, RotationSpline

    position = spline(recorded, smooth(base[:, :3]))
    signs = np.cumprod(np.where(np.sum(base[1:, 3:] * base[:-1, 3:], axis=1) < 0.0, -1.0, 1.0))
    quaternions = base[:, 3:] * np.append(1.0, signs)[:, None]  # removes sign changes between q and -q
    orientation = RotationSpline(recorded, Rotation.from_quat(smooth(quaternions)))  # from_quat normalizes
    R, w = orientation(time), orientation(time, 1)
    linear = R.inv().apply(position(time, 1))
    # d/dt (R' p') = R' p'' - w x (R' p')
    linear_acceleration = R.inv().apply(position(time, 2)) - np.cross(w, linear)
    pose = np.hstack([position(time), R.as_quat()])
    return pose, np.hstack([linear, w]), np.hstack([linear_acceleration, orientation(time, 2)])
