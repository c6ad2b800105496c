"""What machine code takes numbers and addresses from."""

from __future__ import annotations

from typing import Any, Generic, NoReturn, TypeVar

import numpy as np

from .record import Record

R = TypeVar("R", bound=Record)


class Desk(tuple[Any, ...], Generic[R]):
    """Numbers that machine code reads, then everything that they are addresses of: who holds the one holds the other.

    A tuple, so that nobody takes out what is in use. Machine code knows a desk by its type, and what desk it is by how
    many numbers it has (``Writer.desk_of``).
    """

    __slots__ = ()

    def __new__(cls, record: R) -> Desk[R]:
        """Make one of a record and what it owns now; its numbers are the same in other desks of it."""
        return super().__new__(cls, (record.numbers, record, *record.owned.values()))

    @property
    def record(self) -> R:
        """The numbers, by name."""
        found: R = self[1]
        return found

    @property
    def numbers(self) -> np.ndarray:
        """The numbers."""
        found: np.ndarray = self[0]
        return found

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse: addresses mean nothing elsewhere."""
        raise TypeError("a desk holds addresses of this process: it can be neither pickled nor copied.")
