"""Words in memory of Pinocchio's objects: as long as they are unchanged, so is the memory to which they lead."""

import ctypes
from collections.abc import Iterable

import numpy as np


def word(at: int) -> int:
    """Read eight bytes at an address."""
    return ctypes.c_int64.from_address(at).value


class Watch:
    """Some words, and their values now.

    Words that tell whether others may be read come first: lengths before items, the end of a list before its items.

    Attributes:
        table: How many words there are, then for each the address of a cell, an offset in bytes, and the value that is
            expected at the address in the cell plus the offset: as the step ``unchanged`` reads it.
    """

    __slots__ = ("_cells", "_places", "table")

    def __init__(self, places: Iterable[int], items: Iterable[tuple[int, int]] = ()) -> None:
        """Note the values.

        Args:
            places: Addresses of words.
            items: Words beyond the address that stands at another address; only the step looks at them.
        """
        places, items = list(places), list(items)
        self._places = np.array(places, dtype=np.int64)
        self._cells: list[tuple[ctypes.c_int64, int]] | None = None
        n, count = len(places), len(places) + len(items)
        self.table = np.zeros(1 + 3 * count, dtype=np.int64)
        self.table[0] = count
        cells, beyond, expected = self.table[1::3], self.table[2::3], self.table[3::3]
        cells[:n] = np.arange(n) * 8 + self._places.ctypes.data
        expected[:n] = [word(place) for place in places]
        for i, (cell, offset) in enumerate(items, n):
            cells[i], beyond[i], expected[i] = cell, offset, word(word(cell) + offset)

    def holds(self) -> bool:
        """Return whether the words have their values."""
        if self._cells is None:  # most are only compared by the extension
            expected = self.table[3::3].tolist()
            self._cells = [
                (ctypes.c_int64.from_address(x), y) for x, y in zip(self._places.tolist(), expected, strict=False)
            ]
        return all(cell.value == known for cell, known in self._cells)  # in order: the first difference ends it
