"""What a model has at hand for calls in machine code."""

from __future__ import annotations

from typing import Any

import numpy as np

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


class Desk:
    """What a model has at hand for calls in machine code; empty until something of its tables is known.

    Attributes:
        numbers: Those that ``NUMBERS`` lists.
        kept: What the addresses among them lead to.
        held: Choices of held joints that calls may find.
        table: Address of each of them, and of its way.
    """

    __slots__ = ("held", "kept", "numbers", "table")

    def __init__(self) -> None:
        self.numbers = np.zeros(len(NUMBERS), dtype=np.int64)
        self.kept: list[Any] = []
        self.held: dict[Any, Any] = {}
        self.table = np.zeros(0, dtype=np.int64)

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
        self.kept.append(array)
        return int(array.ctypes.data)

    def keep_hold(self, hold: Any, way: int) -> None:
        """Let calls that hold joints by this very object, which nobody can change, find their way."""
        held, n = self.held, len(self.held)
        if n < MOST_HOLDS and hold not in held:
            held[hold] = hold  # keeps it: no other object gets its address
            if not n:
                self.room(holds_at=np.zeros(2 * MOST_HOLDS, dtype=np.int64))
                self.table = self.kept[-1]
            self.table[2 * n : 2 * n + 2] = id(hold), way
            self.put(holds=n + 1)
