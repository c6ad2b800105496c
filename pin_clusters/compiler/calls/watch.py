"""Detects whether arrays in Pinocchio's objects have a new address, by comparing 64-bit words in memory."""

import ctypes
from collections.abc import Iterable

import numpy as np


def word(at: int) -> int:
    return ctypes.c_int64.from_address(at).value


class Watch:
    """Addresses of 64-bit words in memory, and the values of these words at construction.

    The words are compared in order, up to the first change, because later addresses can be invalid after a change.

    Attributes:
        table: Number of words; then, for each word, the address of a pointer, an offset [bytes] and the expected value.
            The word is at the address in the pointer plus the offset. The step ``unchanged`` reads this table.
    """

    __slots__ = ("_cells", "_places", "table")

    def __init__(self, places: Iterable[int], items: Iterable[tuple[int, int]] = ()) -> None:
        """``items`` are further words, which ``holds`` does not compare: (address of a pointer, offset [bytes])."""
        places, items = list(places), list(items)
        self._places = np.array(places, dtype=np.int64)
        self._cells: list[tuple[ctypes.c_int64, int]] | None = None
        n, count = len(places), len(places) + len(items)
        self.table = np.zeros(1 + 3 * count, dtype=np.int64)
        self.table[0] = count
        cells, beyond, expected = self.table[1::3], self.table[2::3], self.table[3::3]
        cells[:n] = np.arange(n) * 8 + self._places.ctypes.data
        expected[:n] = [word(address) for address in places]
        for i, (cell, offset) in enumerate(items, n):
            cells[i], beyond[i], expected[i] = cell, offset, word(word(cell) + offset)

    def holds(self) -> bool:
        if self._cells is None:  # created on demand, because the C extension usually compares the words
            expected = self.table[3::3].tolist()
            self._cells = [
                (ctypes.c_int64.from_address(x), y) for x, y in zip(self._places.tolist(), expected, strict=False)
            ]
        # The comparison must stop at the first difference, because later addresses can be invalid in this case.
        return all(cell.value == value for cell, value in self._cells)
