"""The motion of a log without its noise, and how strong the noise is that stays in it."""

import dataclasses
import warnings
from itertools import chain
from typing import Any

import numpy as np

from ...errors import PinClustersWarning
from ...model import ClusterModel
from ..study.trajectories import Motion, Recorded
from ..study.trajectories._curves import butterworth
from ..study.trajectories.recorded import KINDS

ORDER = 4
"""Of the filter, which is run forwards and backwards."""
_ABOVE, _MOST, _SIGNAL = 2.5, 0.2, 10.0
"""Cutoff above the motion, at most of the rate; how far the motion is above the noise, in power."""


def channels(motion: Recorded) -> np.ndarray:
    """Return all columns of a motion, shape (N, columns)."""
    rows = list(chain.from_iterable(getattr(motion, kind).values() for kind in KINDS))
    return np.column_stack([*rows, *([] if motion.base is None else motion.base.T)])


def with_channels(motion: Recorded, columns: np.ndarray) -> Recorded:
    """Return the motion with other numbers in its columns."""
    rest, parts = iter(columns.T), dict[str, Any]()
    for kind in KINDS:
        parts[kind] = {name: next(rest) for name in getattr(motion, kind)}
    return dataclasses.replace(motion, **parts, base=None if motion.base is None else np.column_stack(list(rest)))


def cutoff_of(columns: np.ndarray, rate: float) -> float:
    """Return a frequency [Hz] that is above the motion, where noise is left only."""
    from scipy.signal import welch

    f, power = welch(columns, rate, "blackman", min(len(columns), 1024), detrend="linear", axis=0)
    floor = np.median(power[len(f) // 2 :], axis=0)
    highest = f[np.argmax(np.flip(power > _SIGNAL * floor, axis=0), axis=0) * -1 - 1]
    return float(min(_ABOVE * max(highest.max(), 2.0 * f[1]), _MOST * rate))


def noise_of(columns: np.ndarray, rate: float, cutoff: float) -> np.ndarray:
    """Return the deviation of white noise that is as strong as each column is just above the cutoff."""
    from scipy.signal import periodogram

    f, power = periodogram(columns, rate, "blackman", detrend="linear", axis=0)
    band = (f > 1.5 * cutoff) & (f < min(3.0 * cutoff, 0.5 * rate))
    return np.sqrt(np.median(power[band], axis=0) / np.log(2.0) * 0.5 * rate)


def smooth(motion: Recorded, columns: np.ndarray, rate: float, cutoff: float) -> Recorded:
    """Return the motion of noisy columns below a cutoff; infinite: as they are."""
    if np.isfinite(cutoff):
        columns = butterworth(columns, rate, cutoff, ORDER)
        if motion.base is not None:
            columns[:, -4:] /= np.linalg.norm(columns[:, -4:], axis=1)[:, None]
    return with_channels(motion, columns)


def states_of(model: ClusterModel, motion: Recorded, *, quiet: bool) -> Motion:
    """Return time, q, v and a; what was said once of a log need not be said again."""
    with warnings.catch_warnings():
        if quiet:
            warnings.simplefilter("ignore", PinClustersWarning)
        return motion.states(model)
