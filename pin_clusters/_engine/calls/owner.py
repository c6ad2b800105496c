"""What machine code takes numbers and addresses from."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np


class Desk(tuple):
    """Numbers that machine code reads, then everything that they are addresses of: who holds the one holds the other.

    A tuple, so that nobody takes out what is in use; the numbers are a view, so that nobody resizes them. Machine code
    knows a desk by its type, and what desk it is by how many numbers it has (``Writer.desk_of``).
    """

    __slots__ = ()

    def __new__(cls, numbers: np.ndarray, *owned: Any) -> Desk:
        """Make one of whole numbers in one dimension; they stay the same array in other desks of them."""
        return super().__new__(cls, (numbers if numbers.base is not None else numbers[:], *owned))

    @property
    def numbers(self) -> np.ndarray:
        """The numbers."""
        return self[0]

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuse: addresses mean nothing elsewhere."""
        raise TypeError("a desk holds addresses of this process: it can be neither pickled nor copied.")
