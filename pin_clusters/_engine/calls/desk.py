"""The functions that have machine code, what it finds in the table of the process, and what it takes numbers from."""

from typing import Any, Generic, NoReturn, TypeVar

import numpy as np

from ..native.process import FOUND as OF_PROCESS
from ..operations import CALL_GROUPS, CALLED
from .record import Record

R = TypeVar("R", bound=Record)

# what is found in the process and of classes here, by name
FOUND = (
    *OF_PROCESS, "desk_class", "data_class", "model", "desk", "contact_desk", "model_class", "model_desk",
    "pin_integrate", "pin_difference", "pin_dIntegrate", "pin_dDifference", "first", "second", "reference_frame",
    "local", "pin_updateFramePlacements",
)  # fmt: skip

ASK = "ask"
"""What asks functions of the user: a function that only kernels call."""
GROUPS = {
    **{name: tuple(one.name for one in CALLED if one.operation.group == name) for name in CALL_GROUPS},
    "moves": ("integrate", "difference", "project", "dIntegrate", "dDifference"),
    "asking": (ASK,),
}
"""All functions that have machine code; that of a group is made when it is needed."""
TABLE = (*FOUND, *(name for names in GROUPS.values() for name in names))
"""Of each number of the table its name; the last ones are the Python functions."""


class Desk(tuple[Any, ...], Generic[R]):
    """Numbers that machine code reads, then everything that they are addresses of: who holds the one holds the other.

    A tuple, so that nobody takes out what is in use. Machine code knows a desk by its type, and what desk it is by how
    many numbers it has (``Writer.desk_of``).
    """

    __slots__ = ()

    def __new__(cls, record: R) -> "Desk[R]":
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
