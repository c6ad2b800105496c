"""Choices of held joints that were projected before, and the ways for them: calls in machine code know them again."""

from __future__ import annotations

from typing import Any

from .record import Count, Record, Table

MOST_HOLDS = 16


class Hold(Record):
    """Joints that were held before: the object that named them, which nobody can change, and the way for them."""

    hold = Count()
    way = Count()


class Holds(Table):
    """Choices that calls may find.

    Attributes:
        known: The way of each.
    """

    __slots__ = ("known",)

    row = Hold

    def __init__(self) -> None:
        super().__init__(MOST_HOLDS)
        self.known: dict[Any, Record] = {}

    def keep(self, hold: Any, way: Record) -> None:
        """Let calls that hold joints by this very object find their way."""
        n = len(self.known)
        if n < MOST_HOLDS and hold not in self.known:
            self.known[hold] = way
            self.write(n, hold=id(hold), way=way.address)
