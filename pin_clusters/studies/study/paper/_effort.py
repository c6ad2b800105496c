"""Measure run times of functions called alternately in one process and thread; report medians and their spread."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ....verification.timing import Call, K, Timing, interleaved


@dataclass(frozen=True)
class Effort:
    name: str  # ``full``, ``quick`` or ``tiny`` (for tests); determines the sizes of the measured models
    repeats: int  # number of blocks of calls for each function
    block: float  # wall time of a block, [s]
    longest: int  # number of links of the longest chain

    def of(self, full: Any, quick: Any, tiny: Any) -> Any:
        return {"full": full, "quick": quick, "tiny": tiny}[self.name]


EFFORTS = {
    "full": Effort("full", 61, 3e-3, 1000),
    "quick": Effort("quick", 15, 1e-3, 300),
    "tiny": Effort("tiny", 3, 5e-5, 4),
}


def measured(
    subjects: Iterable[tuple[K, Mapping[str, Call]]], exact: Iterable[str], effort: Effort, done: Callable[[], None]
) -> tuple[dict[K, dict[str, Timing]], float]:
    """Measure run times of methods called alternately; also return the largest relative gap between exact methods."""
    calls: dict[K, Mapping[str, Call]] = {}
    gap = 0.0
    for subject, methods in subjects:
        calls[subject] = methods
        reference, *alternatives = (
            np.array(function(*args)) for function, args in (methods[x] for x in exact if x in methods)
        )
        largest = max(1e-300, np.abs(reference).max())
        gap = max([gap, *(float(np.abs(values - reference).max() / largest) for values in alternatives)])
        done()
    timed_calls = {(subject, name): call for subject, methods in calls.items() for name, call in methods.items()}
    with threadpool_limits(1):
        timed = interleaved(timed_calls, repeats=effort.repeats, block=effort.block)
    return {subject: {name: timed[subject, name] for name in methods} for subject, methods in calls.items()}, gap


def times(t: Mapping[str, Timing], order: Iterable[str] | None = None) -> dict[str, dict[str, float]]:
    return {
        method: {
            "median_us": round(1e6 * t[method].median, 4),
            "min_us": round(1e6 * t[method].minimum, 4),
            "spread": round(t[method].spread, 4),
        }
        for method in (t if order is None else order)
        if method in t
    }


def ratios(t: Mapping[str, Timing], pairs: Mapping[str, tuple[str, str]]) -> dict[str, float]:
    return {name: round(t[a].ratio(t[b]), 4) for name, (a, b) in pairs.items() if a in t and b in t}


def slope(sizes: Sequence[float], times: Sequence[float]) -> float:
    return round(float(np.polyfit(np.log(sizes), np.log(times), 1)[0]), 3)


def crossing(sizes: Sequence[float], ratios: Sequence[float]) -> float | None:
    """Interpolate the size beyond which ratios stay below 1; 0 if all ratios are below 1, None if the last is not."""
    below = np.log(np.asarray(ratios, dtype=float)) < 0.0
    if not below[-1]:
        return None
    if below.all():
        return 0.0
    last = int(np.flatnonzero(~below)[-1])
    high, low = np.log(ratios[last]), np.log(ratios[last + 1])
    part = high / (high - low)
    return round(float(sizes[last] + part * (sizes[last + 1] - sizes[last])), 1)
