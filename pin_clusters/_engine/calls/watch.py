"""Words of objects that others may change: as long as they are what they were, so is the memory to which they lead."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..native.process import word

# of a row: where the address of the word is kept, bytes from that address, what the word must be
WHERE, BEYOND, EXPECTED, ROW = range(4)


class Watch:
    """Some words, and what they are now.

    Those that tell whether others may be read come first: lengths before items, ends of a list before what is in it.

    Attributes:
        table: Read by the machine code: how many rows, then the rows.
    """

    __slots__ = ("_cells", "_places", "table")

    def __init__(self, places: Iterable[int], items: Iterable[tuple[int, int]] = ()) -> None:
        """Note what the words are.

        Args:
            places: Addresses of words.
            items: Words beyond the address that stands at another one; machine code alone looks at them.
        """
        self._places = np.array(list(places), dtype=np.int64)
        self._cells: list[tuple[Any, int]] | None = None
        own = self._places.ctypes.data
        rows = [(own + 8 * i, 0, word(x)) for i, x in enumerate(self._places.tolist())]
        rows += [(where, beyond, word(word(where) + beyond)) for where, beyond in items]
        self.table = np.array([len(rows), *(x for row in rows for x in row)], dtype=np.int64)

    def holds(self) -> bool:
        """Whether the words are what they were."""
        if self._cells is None:  # most are asked by machine code only
            known = self.table[1 + EXPECTED :: ROW].tolist()
            self._cells = [
                (ctypes.c_int64.from_address(x), y) for x, y in zip(self._places.tolist(), known, strict=False)
            ]
        return all(cell.value == expected for cell, expected in self._cells)  # in order: the first other one ends it
