"""Timing of small functions against each other: interleaved, with the garbage collector off."""

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
"""A function and its arguments: bound so, the price of the call is the same and small for all."""


@dataclass(frozen=True, eq=False)
class Timing:
    """Time per call of one function.

    Attributes:
        samples: One number per repeat, [s]; repeat k of all functions was measured within the same moment.
        calls: Calls per repeat.
    """

    samples: np.ndarray
    calls: int

    @property
    def median(self) -> float:
        """Median over the repeats, [s]."""
        return float(np.median(self.samples))

    @property
    def minimum(self) -> float:
        """Smallest of the repeats, [s]."""
        return float(np.min(self.samples))

    @property
    def spread(self) -> float:
        """Half the distance of the quartiles, relative to the median."""
        low, high = np.percentile(self.samples, [25, 75])
        return float((high - low) / 2.0 / self.median)

    def ratio(self, other: "Timing") -> float:
        """Return the median over the repeats of this time over the other's.

        Paired repeats cancel what slows the machine as a whole for a moment.
        """
        return float(np.median(self.samples / other.samples))


def interleaved(
    functions: Mapping[K, Call], *, repeats: int = 25, block: float = 2e-3, progress: Progress | None = None
) -> dict[K, Timing]:
    """Time functions in alternation: a block of calls of each, then the next repeat in another order.

    Args:
        functions: What to call, by any key; each is called a few times before (compilation, caches).
        repeats: How many blocks of each.
        block: Wall time of a block, [s].
        progress: Called with (done, total) after each repeat.

    Returns:
        The timing of each function.
    """
    calls = {name: _calibrate(call, block) for name, call in functions.items()}
    samples: dict[K, list[float]] = {name: [] for name in functions}
    names = list(functions)
    gc.collect()
    for k in range(repeats):
        # rotate, so that nobody always follows the same one (and inherits its cache and clock)
        turn = k % len(names)
        for name in names[turn:] + names[:turn]:
            samples[name].append(_block(functions[name], calls[name]))
        if progress is not None:
            progress(k + 1, repeats)
    return {name: Timing(np.array(samples[name]), calls[name]) for name in names}


def _block(call: Call, calls: int) -> float:
    """Return the time per call of a block of calls, [s]; ``timeit`` keeps the garbage collector off."""
    function, arguments = call
    return timeit.timeit(partial(function, *arguments), number=calls) / calls


def _calibrate(call: Call, block: float) -> int:
    """Return how many calls fill a block."""
    _block(call, 1)
    calls = 1
    while True:
        elapsed = min(_block(call, calls) for _ in range(3)) * calls  # not what something else interrupted
        if elapsed >= block / 4.0:
            return max(1, round(calls * block / elapsed))
        calls *= 4
