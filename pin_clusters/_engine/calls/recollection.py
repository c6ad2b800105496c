"""Lists of names and ids that were given before, and what became of them: calls in machine code know them again.

A list is known by the objects in it, which nobody can change and which are kept, not by itself, which anybody can.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# numbers of a row: two that say of what question, how many objects, where what was kept is; then the objects
FIRST, SECOND, COUNT, THING, HEADER = range(5)
MOST_OBJECTS = 32
ROW = HEADER + MOST_OBJECTS
_MOST_ROWS = 16
_FIXED = (str, int, np.int64)


class Recollection:
    """What was asked before; the oldest is forgotten where there are too many.

    Attributes:
        table: Read by the machine code: how many rows, then the rows.
    """

    __slots__ = ("_kept", "_next", "_places", "table")

    def __init__(self) -> None:
        self.table = np.zeros(1 + _MOST_ROWS * ROW, dtype=np.int64)
        self._places: dict[Any, int] = {}
        self._kept: list[Any] = [None] * _MOST_ROWS
        self._next = 0

    def keep(self, first: int, second: int, objects: Any, address: int, *kept: Any) -> None:
        """Keep under two numbers and a list or tuple of names or ids; others are not kept.

        Args:
            first: A number.
            second: Another one, which may be the address of an object.
            objects: The names or ids.
            address: What is to be found.
            kept: What the numbers are addresses of.
        """
        if type(objects) not in (list, tuple) or len(objects) > MOST_OBJECTS:
            return
        if not all(type(x) in _FIXED for x in objects):
            return
        key = (first, second, *map(id, objects))
        if key in self._places:
            return
        i = self._next
        self._next = (i + 1) % _MOST_ROWS
        before = self._kept[i]  # until its row is another one: signals and the collector may call
        if before is not None:
            self._places.pop(before[0], None)
        self._kept[i], self._places[key] = (key, tuple(objects), kept), i
        row = self.table[1 + i * ROW :][:ROW]
        row[: HEADER + len(objects)] = first, second, len(objects), address, *key[2:]
        self.table[0] = max(len(self._places), int(self.table[0]))
        del before
