"""Calls through the C extension: which of them end in the Python function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import pin_clusters as pc
from pin_clusters.compiler.call_layer import layer, native

needed = pytest.mark.skipif(native is None, reason=f"calls: {layer()}")
FUNCTIONS = {name: x for name, x in vars(pc).items() if native is not None and type(x) is native.Function}
"""Functions with fast calls, by name."""
NAMES = tuple(FUNCTIONS)


def python(name: str) -> Callable[..., Any]:
    """Return the Python function that takes the calls of a public function that no plan fits."""
    function = getattr(pc, name)
    return getattr(function, "__wrapped__", function) if name in FUNCTIONS else function


class NoPlans:
    """A base class of data and models whose calls all go to the Python functions."""

    __slots__ = ()

    def _plans_of(self, function: Any) -> tuple[()]:
        return ()

    def _remember_plan(self, function: Any, plan: Any, most: int) -> None:
        pass


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


class Counts:
    """How many calls the Python functions took since this object was made."""

    def __init__(self) -> None:
        self._before = {name: function.python_calls for name, function in FUNCTIONS.items()}

    def __getitem__(self, name: str) -> int:
        return int(FUNCTIONS[name].python_calls - self._before[name])

    def all(self) -> dict[str, int]:
        """Return the counts of the functions that took calls."""
        return {name: self[name] for name in FUNCTIONS if self[name]}


@contextmanager
def no_python_calls() -> Iterator[None]:
    """Fail if a Python function takes a call."""
    counts = Counts()
    yield
    assert not counts.all(), counts.all()
