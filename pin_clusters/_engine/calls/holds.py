"""Choices of held joints that were projected before, and the ways for them: calls in machine code know them again."""

from __future__ import annotations

from typing import Any

from .record import Table
from .records import Hold, Way

MOST_HOLDS = 16


class Holds:
    """Choices that nobody can change, each known by the very object; they stay as long as the model.

    Attributes:
        known: The way of each.
        table: Of each ``Hold``, read by the machine code.
    """

    __slots__ = ("known", "table")

    def __init__(self) -> None:
        self.known: dict[Any, Way] = {}
        self.table = Table(Hold, MOST_HOLDS)

    def keep(self, hold: Any, way: Way) -> None:
        """Let calls that hold joints by this very object find their way."""
        n = len(self.known)
        if n < MOST_HOLDS and hold not in self.known:
            self.known[hold] = way
            self.table.keep(n, hold=id(hold), way=way.address)
