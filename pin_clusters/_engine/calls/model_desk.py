"""What a model has at hand for calls in machine code."""

from __future__ import annotations

from typing import Any

import numpy as np

from .owner import Desk

# "..._at", maps, ways and rooms are addresses
NUMBERS = (
    "integrates", "differs", "projects",  # whether the usual call may be done here
    "nq", "nv", "nv_tree", "tree", "independent_at", "follow",
    "closed", "move", "move_tables", "held", "spare", "left", "left_at", "dependents", "dependents_at", "turns_at",
    "close", "close_tables", "units", "units_at", "way", "holds", "holds_at",
)  # fmt: skip
# the shortest way onto the couplings: what stays, for the kernel and in q; residuals and the step that takes them away
WAY = ("free", "held", "held_at", "outside", "residuals", "residual", "step")
MOST_HOLDS = 16
"""Of so many choices of held joints the ways are at hand."""


class ModelDesk:
    """Fills the desk of a model.

    Attributes:
        held: Choices of held joints that calls may find.
        numbers: Those that ``NUMBERS`` lists.
        table: Address of each choice, and of its way.
    """

    __slots__ = ("_owned", "held", "numbers", "table")

    def __init__(self) -> None:
        self.numbers = np.zeros(len(NUMBERS), dtype=np.int64)
        self._owned: list[Any] = []
        self.held: dict[Any, Any] = {}
        self.table = np.zeros(2 * MOST_HOLDS, dtype=np.int64)
        self.room(holds_at=self.table)

    def desk(self) -> Desk:
        """Return the desk, which owns what there is now."""
        return Desk(self.numbers, self, *self._owned)

    def own(self, thing: Any) -> None:
        """Keep a thing."""
        self._owned.append(thing)

    def put(self, **numbers: int) -> None:
        """Write numbers."""
        for name, value in numbers.items():
            self.numbers[NUMBERS.index(name)] = value

    def room(self, **arrays: np.ndarray) -> None:
        """Keep arrays, and write where their numbers are."""
        for name, array in arrays.items():
            self.put(**{name: self.address(array)})

    def address(self, array: np.ndarray) -> int:
        """Keep an array, and return where its numbers are."""
        self.own(array)
        return int(array.ctypes.data)

    def keep_hold(self, hold: Any, way: int) -> None:
        """Let calls that hold joints by this very object, which nobody can change, find their way."""
        n = len(self.held)
        if n < MOST_HOLDS and hold not in self.held:
            self.held[hold] = hold
            self.own(hold)  # no other object gets its address
            self.table[2 * n : 2 * n + 2] = id(hold), way
            self.put(holds=n + 1)


def filler(desk: Desk | None) -> ModelDesk:
    """Return what fills the desk of a model that has moved."""
    assert desk is not None
    found: ModelDesk = desk[1]
    return found
