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
        first = self._places.ctypes.data
        rows = [(first + 8 * i, 0, word(place)) for i, place in enumerate(places)]
        rows += [(cell, beyond, word(word(cell) + beyond)) for cell, beyond in items]
        self.table = np.array([len(rows), *(x for row in rows for x in row)], dtype=np.int64)

    def holds(self) -> bool:
        """Return whether the words have their values."""
        if self._cells is None:  # most are only compared by the extension
            expected = self.table[3::3].tolist()
            self._cells = [
                (ctypes.c_int64.from_address(x), y) for x, y in zip(self._places.tolist(), expected, strict=False)
            ]
        return all(cell.value == known for cell, known in self._cells)  # in order: the first difference ends it
