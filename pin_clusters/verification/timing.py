"""Measure the computing times of small functions, in alternation and without garbage collection."""

import gc
import timeit
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

K = TypeVar("K", bound=Hashable)
Progress = Callable[[int, int], None]
Call = tuple[Callable[..., object], tuple[Any, ...]]
"""A function and its arguments. All functions are called in the same way and have the same call overhead."""


@dataclass(frozen=True, eq=False)
class Timing:
    """Measured times per call of one function."""

    samples: np.ndarray  # time per call in each repeat, [s]; all functions run in every repeat
    calls: int  # number of calls per repeat

    @property
    def median(self) -> float:
        return float(np.median(self.samples))

    @property
    def minimum(self) -> float:
        return float(np.min(self.samples))

    @property
    def spread(self) -> float:
        """Half the interquartile range, relative to the median."""
        low, high = np.percentile(self.samples, [25, 75])
        return float((high - low) / 2.0 / self.median)

    def ratio(self, other: "Timing") -> float:
        """Return the median of (this time / time of ``other``) over the repeats; disturbances affect both times."""
        return float(np.median(self.samples / other.samples))


def interleaved(
    functions: Mapping[K, Call], *, repeats: int = 25, block: float = 2e-3, progress: Progress | None = None
) -> dict[K, Timing]:
    """Time functions alternately: each repeat runs one block of calls of every function, in varying order.

    Args:
        functions: Functions to time, by arbitrary keys. Each first runs a few times to compile code and fill caches.
        repeats: Number of blocks per function.
        block: Wall time of a block, [s].
        progress: Function that is called with the arguments (done, total) after each repeat.
    """
    calls = {name: _calibrate(call, block) for name, call in functions.items()}
    samples: dict[K, list[float]] = {name: [] for name in functions}
    names = list(functions)
    gc.collect()
    for k in range(repeats):
        # Rotate the order of the functions, because the previous function affects caches and clock rate.
        turn = k % len(names)
        for name in names[turn:] + names[:turn]:
            samples[name].append(_block(functions[name], calls[name]))
        if progress is not None:
            progress(k + 1, repeats)
    return {name: Timing(np.array(samples[name]), calls[name]) for name in names}


def _block(call: Call, calls: int) -> float:
    """Return the time per call in a block, [s]; ``timeit`` disables the garbage collector."""
    function, arguments = call
    return timeit.timeit(partial(function, *arguments), number=calls) / calls


def _calibrate(call: Call, block: float) -> int:
    _block(call, 1)
    calls = 1
    while True:
        elapsed = min(_block(call, calls) for _ in range(3)) * calls  # the minimum excludes runs that were interrupted
        if elapsed >= block / 4.0:
            return max(1, round(calls * block / elapsed))
        calls *= 4
