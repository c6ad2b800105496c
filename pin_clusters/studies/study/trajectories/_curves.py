"""Splines and filters of recorded samples."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ._base import TrajectoryError


def spline(time: np.ndarray, values: np.ndarray) -> Any:
    """Return the spline of degree 5 through samples; shape (N,) or (N, n)."""
    from scipy.interpolate import make_interp_spline

    return make_interp_spline(time, values, k=5)


def low_pass(time: np.ndarray, values: np.ndarray, cutoff: float, name: str) -> np.ndarray:
    """Return samples without what is above a frequency: Butterworth, order 2, forwards and backwards.

    A frequency that is not below half the rate of the samples is a ``TrajectoryError``; ``name`` is for its message.
    """
    even = np.linspace(time[0], time[-1], len(time))  # the filter wants even steps
    rate = 1.0 / (even[1] - even[0])
    if not cutoff < 0.5 * rate:
        raise TrajectoryError(
            f"{name}: the cutoff of {cutoff:g} Hz must be below half the rate of the samples, {0.5 * rate:g} Hz."
        )
    return np.asarray(spline(even, butterworth(spline(time, values)(even), rate, cutoff))(time))


def butterworth(values: np.ndarray, rate: float, cutoff: float, order: int = 2) -> np.ndarray:
    """Return samples at even steps without what is above a frequency, filtered forwards and backwards."""
    from scipy.signal import butter, sosfiltfilt

    sections = butter(order, cutoff, fs=rate, output="sos")
    return sosfiltfilt(sections, values, axis=0, padlen=min(len(values) - 1, 50))


def free_flyer(
    recorded: np.ndarray, base: np.ndarray, time: np.ndarray, smooth: Callable[[np.ndarray], np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return pose, (n, 7), velocity and acceleration, (n, 6), of a free-flyer, the latter two in its own frame.

    ``base`` is x y z qx qy qz qw at the times that are ``recorded``; ``smooth`` filters positions.
    """
    from scipy.spatial.transform import Rotation, RotationSpline

    place = spline(recorded, smooth(base[:, :3]))
    signs = np.cumprod(np.where(np.sum(base[1:, 3:] * base[:-1, 3:], axis=1) < 0.0, -1.0, 1.0))
    quaternions = base[:, 3:] * np.append(1.0, signs)[:, None]  # the same rotations, without jumps to the other sign
    turn = RotationSpline(recorded, Rotation.from_quat(smooth(quaternions)))  # of any length
    R, w = turn(time), turn(time, 1)
    linear = R.inv().apply(place(time, 1))
    # d/dt (R' p') = R' p'' - w x (R' p')
    change = R.inv().apply(place(time, 2)) - np.cross(w, linear)
    pose = np.hstack([place(time), R.as_quat()])
    return pose, np.hstack([linear, w]), np.hstack([change, turn(time, 2)])
