"""How much is measured, and how: interleaved in one process, on one thread, medians with their spread."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ....verification.timing import Call, K, Timing, interleaved


@dataclass(frozen=True)
class Effort:
    """What a run spends."""

    name: str  # ``full``, ``quick``, or ``tiny``, which only tests want; parts choose their sizes by it
    repeats: int  # blocks of calls of each function
    block: float  # wall time of a block, [s]
    longest: int  # links of the longest chain

    def of(self, full: Any, quick: Any, tiny: Any) -> Any:
        """Return one of three, by the name."""
        return {"full": full, "quick": quick, "tiny": tiny}[self.name]


EFFORTS = {
    "full": Effort("full", 61, 3e-3, 1000),
    "quick": Effort("quick", 15, 1e-3, 300),
    "tiny": Effort("tiny", 3, 5e-5, 4),
}


def measured(
    subjects: Iterable[tuple[K, Mapping[str, Call]]], exact: Iterable[str], effort: Effort, done: Callable[[], None]
) -> tuple[dict[K, dict[str, Timing]], float]:
    """Time the methods of all subjects, such as lengths of a chain, in alternation, linear algebra on one thread.

    Return the timings, and by how much exact methods differ at most from the first one, relative to its largest entry.
    """
    calls: dict[K, Mapping[str, Call]] = {}
    agreed = 0.0
    for subject, methods in subjects:
        calls[subject] = methods
        first, *others = (np.array(function(*given)) for function, given in (methods[x] for x in exact if x in methods))
        largest = max(1e-300, np.abs(first).max())
        agreed = max([agreed, *(float(np.abs(other - first).max() / largest) for other in others)])
        done()
    every = {(subject, how): call for subject, methods in calls.items() for how, call in methods.items()}
    with threadpool_limits(1):
        found = interleaved(every, repeats=effort.repeats, block=effort.block)
    return {subject: {how: found[subject, how] for how in methods} for subject, methods in calls.items()}, agreed


def times(t: Mapping[str, Timing], order: Iterable[str] | None = None) -> dict[str, dict[str, float]]:
    """Return the times of methods in the order that is given or their own, in microseconds per call."""
    return {
        how: {
            "median_us": round(1e6 * t[how].median, 4),
            "min_us": round(1e6 * t[how].minimum, 4),
            "spread": round(t[how].spread, 4),
        }
        for how in (t if order is None else order)
        if how in t
    }


def ratios(t: Mapping[str, Timing], pairs: Mapping[str, tuple[str, str]]) -> dict[str, float]:
    """Return how many times as long the first method of each pair takes, where both were timed."""
    return {name: round(t[a].ratio(t[b]), 4) for name, (a, b) in pairs.items() if a in t and b in t}


def slope(sizes: Sequence[float], times: Sequence[float]) -> float:
    """Return the power with which time grows, by least squares on logarithms."""
    return round(float(np.polyfit(np.log(sizes), np.log(times), 1)[0]), 3)


def crossing(sizes: Sequence[float], ratios: Sequence[float]) -> float | None:
    """Return the size beyond which a ratio stays below 1, between sizes on a straight line in logarithms.

    None: it is not below 1 at the largest size. 0: it is never above 1.
    """
    below = np.log(np.asarray(ratios, dtype=float)) < 0.0
    if not below[-1]:
        return None
    if below.all():
        return 0.0
    last = int(np.flatnonzero(~below)[-1])
    high, low = np.log(ratios[last]), np.log(ratios[last + 1])
    part = high / (high - low)
    return round(float(sizes[last] + part * (sizes[last + 1] - sizes[last])), 1)
