"""Looking at calls in machine code: which of them end in the Python function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import pin_clusters as pc
from pin_clusters._engine.calls import entries

needed = pytest.mark.skipif(
    not entries.PYTHON, reason="calls are Python's: no JIT, checked bounds, or not this CPython"
)
NAMES = tuple(name for name in entries.PYTHON if hasattr(pc, name))


def least_growth(act: Callable[[], object]) -> int:
    """Return by how many blocks of memory a repeated action grows: the least of three runs.

    An object that is never freed shows in each run. The interpreter's own caches grow in the first one only, and
    another thread may allocate memory during any of them.
    """
    found = []
    for _ in range(3):
        before = sys.getallocatedblocks()
        act()
        found.append(sys.getallocatedblocks() - before)
    return min(found)


@contextmanager
def python_calls() -> Iterator[dict[str, int]]:
    """Count the calls that machine code hands to the Python functions."""
    counts = dict.fromkeys(entries.PYTHON, 0)

    def counting(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def count(*arguments: Any, **options: Any) -> Any:
            counts[name] += 1
            return function(*arguments, **options)

        return count

    counters = {name: counting(name, function) for name, function in entries.PYTHON.items()}
    try:
        for name, counter in counters.items():
            entries.stand_in(name, counter)
        yield counts
    finally:
        for name, function in entries.PYTHON.items():
            entries.stand_in(name, function)
