"""Words of objects that others may change: as long as they are what they were, so is the memory to which they lead."""

import ctypes
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..native.process import word
from ..native.words import address_of
from .record import Count, Record, Table


class Word(Record):
    """A word that must be what it was."""

    where = Count()  # at this address is that of the word
    beyond = Count()  # bytes from there
    expected = Count()


class Watch(Table):
    """Some words, and what they are now.

    Those that tell whether others may be read come first: lengths before items, ends of a list before what is in it.
    """

    __slots__ = ("_cells", "_places")

    row = Word

    def __init__(self, places: Iterable[int], items: Iterable[tuple[int, int]] = ()) -> None:
        """Note what the words are.

        Args:
            places: Addresses of words.
            items: Words beyond the address that stands at another one; machine code alone looks at them.
        """
        places, items = list(places), list(items)
        self._places = np.array(places, dtype=np.int64)
        self._cells: list[tuple[Any, int]] | None = None
        own, n = address_of(self._places), len(places)
        super().__init__(n + len(items))
        self.numbers[0] = n + len(items)
        self.column("where")[:] = [*range(own, own + 8 * n, 8), *(where for where, _ in items)]
        self.column("beyond")[n:] = [beyond for _, beyond in items]
        self.column("expected")[:] = [*map(word, places), *(word(word(where) + beyond) for where, beyond in items)]

    def holds(self) -> bool:
        """Whether the words are what they were."""
        if self._cells is None:  # most are asked by machine code only
            known = self.column("expected").tolist()
            self._cells = [
                (ctypes.c_int64.from_address(x), y) for x, y in zip(self._places.tolist(), known, strict=False)
            ]
        return all(cell.value == expected for cell, expected in self._cells)  # in order: the first other one ends it
