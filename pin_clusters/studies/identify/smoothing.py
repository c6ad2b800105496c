"""Remove noise from the motion of a log, and estimate the noise that remains in the pass band."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..study.trajectories import Recorded
from ..study.trajectories.recorded import KINDS

ORDER = 4  # Order of the filter, which runs forwards and backwards
_CUTOFF_BY_BAND, _CUTOFF_BY_RATE, _SIGNAL = 2.5, 0.2, 10.0
"""Default ratio of cutoff to bandwidth; largest ratio of cutoff to sampling rate; least power / noise in the band."""


def channels(motion: Recorded) -> np.ndarray:
    rows = [x for kind in KINDS for x in getattr(motion, kind).values()]
    return np.column_stack([*rows, *([] if motion.base is None else motion.base.T)])


def with_channels(motion: Recorded, columns: np.ndarray) -> Recorded:
    remaining: Iterator[np.ndarray] = iter(columns.T)
    replaced: dict[str, Any] = {kind: {name: next(remaining) for name in getattr(motion, kind)} for kind in KINDS}
    base = np.column_stack(list(remaining)) if motion.base is not None else None
    if base is not None:
        base[:, 3:] /= np.linalg.norm(base[:, 3:], axis=1)[:, None]
    return dataclasses.replace(motion, **replaced, base=base)


def cutoff_of(columns: np.ndarray, rate: float) -> float:
    from scipy.signal import detrend, welch

    f, power = welch(columns, rate, "blackman", min(len(columns), 1024), detrend=detrend, axis=0)
    has_signal = np.any(power > _SIGNAL * np.median(power[len(f) // 2 :], axis=0), axis=1)
    return float(min(_CUTOFF_BY_BAND * max(f[has_signal].max(initial=0.0), 2.0 * f[1]), _CUTOFF_BY_RATE * rate))


def noise_of(columns: np.ndarray, rate: float, cutoff: float) -> np.ndarray:
    """Estimate the standard deviation of each column's white noise from the power just above the cutoff."""
    from scipy.signal import detrend, periodogram

    f, power = periodogram(columns, rate, "blackman", detrend=detrend, axis=0)
    band = (f > 1.5 * cutoff) & (f < 3.0 * cutoff)
    return np.sqrt(np.median(power[band], axis=0) / np.log(2.0) * 0.5 * rate)
