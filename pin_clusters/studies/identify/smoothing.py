"""The motion of a log without its noise, and how strong the noise is that stays in it."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..study.trajectories import Recorded
from ..study.trajectories.recorded import KINDS

ORDER = 4
"""Of the filter, which is run forwards and backwards."""
_ABOVE, _MOST, _SIGNAL = 2.5, 0.2, 10.0
"""Cutoff by the end of the motion's band, at most of the rate; power of the motion there by that of noise."""


def channels(motion: Recorded) -> np.ndarray:
    """Return all columns of a motion, shape (N, columns)."""
    rows = [x for kind in KINDS for x in getattr(motion, kind).values()]
    return np.column_stack([*rows, *([] if motion.base is None else motion.base.T)])


def with_channels(motion: Recorded, columns: np.ndarray) -> Recorded:
    """Return the motion with other numbers in its columns."""
    rest: Iterator[np.ndarray] = iter(columns.T)
    parts: dict[str, Any] = {kind: {name: next(rest) for name in getattr(motion, kind)} for kind in KINDS}
    base = np.column_stack(list(rest)) if motion.base is not None else None
    if base is not None:
        base[:, 3:] /= np.linalg.norm(base[:, 3:], axis=1)[:, None]
    return dataclasses.replace(motion, **parts, base=base)


def cutoff_of(columns: np.ndarray, rate: float) -> float:
    """Return a frequency [Hz] above the band of the motion, where only noise is left."""
    from scipy.signal import detrend, welch

    f, power = welch(columns, rate, "blackman", min(len(columns), 1024), detrend=detrend, axis=0)
    moves = np.any(power > _SIGNAL * np.median(power[len(f) // 2 :], axis=0), axis=1)
    return float(min(_ABOVE * max(f[moves].max(initial=0.0), 2.0 * f[1]), _MOST * rate))


def noise_of(columns: np.ndarray, rate: float, cutoff: float) -> np.ndarray:
    """Return the deviation of white noise that is as strong as each column is just above the cutoff."""
    from scipy.signal import detrend, periodogram

    f, power = periodogram(columns, rate, "blackman", detrend=detrend, axis=0)
    band = (f > 1.5 * cutoff) & (f < 3.0 * cutoff)
    return np.sqrt(np.median(power[band], axis=0) / np.log(2.0) * 0.5 * rate)
