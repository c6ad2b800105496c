"""Records: rows of whole numbers that Python writes and machine code reads, by name and never by place.

A record declares its numbers once, as a class: a name and a kind each. Places follow from the order. In Python a record
is a view of its numbers (``desk.nq = 7``), which refuses names that it has not, and what is not of the kind. While
machine code is written, ``writer.Numbers`` is the same record at an address.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Generic, TypeVar, overload

import numpy as np

F = TypeVar("F", bound="Field")
V = TypeVar("V")


class Field(Generic[V]):
    """A number of a record, or several.

    Attributes:
        name: In the record.
        place: Of the first number.
        width: How many there are.
    """

    name: str
    place: int
    width = 1

    def __set_name__(self, record: type[Record], name: str) -> None:
        self.name = name

    @overload
    def __get__(self: F, record: None, kind: type[Record]) -> F: ...
    @overload
    def __get__(self, record: Record, kind: type[Record]) -> V: ...
    def __get__(self, record: Record | None, kind: type[Record]) -> Any:
        """Return what the numbers say."""
        return self if record is None else self.value(record.numbers[self.place : self.place + self.width].tolist())

    def __set__(self, record: Record, value: Any) -> None:
        """Write the numbers of a value, and keep what they are addresses of.

        Raises:
            TypeError: It is not of this kind.
        """
        words = self.words(value)
        if words is None or len(words) != self.width:
            raise TypeError(f"{type(record).__name__}.{self.name} is a {type(self).__name__}, not {value!r}")
        before = record.owned.get(self.name)  # whose end may call: it stays until the numbers lead elsewhere
        record.numbers[self.place : self.place + self.width] = words
        if isinstance(self, Address):
            record.owned[self.name] = value
        del before

    def value(self, numbers: list[int]) -> Any:
        """Return what is read in Python."""
        return numbers[0]

    def words(self, value: Any) -> Sequence[int] | None:
        """Return the numbers of a value; None if it is of another kind."""
        raise NotImplementedError


class Count(Field[int]):
    """A whole number that is no address."""

    def words(self, value: Any) -> Sequence[int] | None:
        """Take whole numbers, of NumPy too."""
        return None if isinstance(value, (bool, np.ndarray)) else (operator.index(value),)


class Flag(Field[bool]):
    """Whether something is so."""

    def value(self, numbers: list[int]) -> bool:
        """Return it as Python has it."""
        return bool(numbers[0])

    def words(self, value: Any) -> Sequence[int] | None:
        """Take a bool."""
        return (int(value),) if isinstance(value, (bool, np.bool_)) else None


class Sizes(Field[Sequence[int]]):
    """The shape of an array."""

    def __init__(self, width: int) -> None:
        self.width = width

    def value(self, numbers: list[int]) -> Sequence[int]:
        """Return all of them."""
        return numbers

    def words(self, value: Any) -> Sequence[int] | None:
        """Take a shape."""
        return value if isinstance(value, tuple) else None


class Code(Count):
    """The address of machine code; 0 if there is none."""


class Call(Code):
    """The address of a kernel, and that of its tables."""

    width = 2

    def value(self, numbers: list[int]) -> Any:
        """Return both."""
        return numbers

    def words(self, value: Any) -> Sequence[int] | None:
        """Take both addresses."""
        return value if isinstance(value, tuple) else None


class Address(Field[V]):
    """An address; in Python it is read as what is there, which the record keeps."""

    @overload
    def __get__(self: F, record: None, kind: type[Record]) -> F: ...
    @overload
    def __get__(self, record: Record, kind: type[Record]) -> V: ...
    def __get__(self, record: Record | None, kind: type[Record]) -> Any:
        """Return what is there."""
        return self if record is None else record.owned[self.name]


class Tables(Address[Any]):
    """Tables of a kernel, or None."""

    def words(self, value: Any) -> Sequence[int] | None:
        """Take a ``Pointer``."""
        return (0,) if value is None else (value.address,)


class Object(Address[Any]):
    """An object of Python."""

    def words(self, value: Any) -> Sequence[int]:
        """Take any."""
        return (id(value),)


class Room(Address[np.ndarray]):
    """Numbers of eight bytes.

    Attributes:
        shape: How many: what is multiplied, numbers or names of counts of the record; nothing where others know.
    """

    def __init__(self, *shape: int | str) -> None:
        self.shape = shape

    def words(self, value: Any) -> Sequence[int] | None:
        """Take an array as kernels take them."""
        return (value.ctypes.data,) if _is_array(value) else None

    def __set__(self, record: Record, value: Any) -> None:
        """Take an array of the size that the record says."""
        size = math.prod(int(getattr(record, n)) if isinstance(n, str) else n for n in self.shape)
        if self.shape and _is_array(value) and value.size != size:
            raise TypeError(f"{type(record).__name__}.{self.name} has {size} numbers, not {value.size}")
        super().__set__(record, value)


class Array(Address[np.ndarray]):
    """The numbers of an array, then its sizes."""

    def __init__(self, nd: int) -> None:
        self.width = 1 + nd

    def words(self, value: Any) -> Sequence[int] | None:
        """Take an array of so many dimensions; packs are numbers where nothing is compiled."""
        if not _is_array(value):
            return None
        return value.ctypes.data, *value.shape, *[1] * (self.width - 1 - value.ndim)


R = TypeVar("R", bound="Record")


class Part(Address[R]):
    """Another record.

    Attributes:
        kind: Which.
    """

    def __init__(self, kind: type[R]) -> None:
        self.kind = kind

    def words(self, value: Any) -> Sequence[int] | None:
        """Take such a record."""
        return (value.address,) if isinstance(value, self.kind) else None


class Rows(Address[Any]):
    """A table: how many rows, then the rows.

    Attributes:
        kind: Record that each row is.
    """

    def __init__(self, kind: type[Record]) -> None:
        self.kind = kind

    def words(self, value: Any) -> Sequence[int] | None:
        """Take what has such a table, and all that its rows lead to."""
        return (value.table.address,) if value.table.kind is self.kind else None


def _is_array(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.flags.c_contiguous and x.itemsize == 8


class Record:
    """A row of numbers.

    Attributes:
        fields: What is declared, by name.
        size: How many numbers that is.
        numbers: The row.
        owned: What its numbers are addresses of, and what else must live as long, by name.
    """

    __slots__ = ("numbers", "owned")

    fields: ClassVar[dict[str, Field[Any]]]
    size: ClassVar[int]

    def __init_subclass__(cls, more: Mapping[str, Field[Any]] | None = None) -> None:
        """Give each number its place: in the order of the class, then ``more``."""
        for name, field in (more or {}).items():
            assert name not in vars(cls), name
            setattr(cls, name, field)
            field.__set_name__(cls, name)
        cls.fields, cls.size = {name: x for name, x in vars(cls).items() if isinstance(x, Field)}, 0
        for field in cls.fields.values():
            field.place, cls.size = cls.size, cls.size + field.width
        assert "__slots__" in vars(cls), "else it would take any name"

    def __init__(self, **values: Any) -> None:
        """Make one, of zeros but for the values."""
        self.numbers = np.zeros(self.size, dtype=np.int64)[:]  # a view, so that nobody resizes it
        self.owned: dict[Any, Any] = {}
        self.put(**values)

    def __setitem__(self, name: str, value: Any) -> None:
        """Write what has a name that is made up while the program runs."""
        if name not in self.fields:
            raise AttributeError(f"{type(self).__name__} has no {name}")
        setattr(self, name, value)

    def __getitem__(self, name: str) -> Any:
        """Read it."""
        return getattr(self, name)

    def put(self, **values: Any) -> None:
        """Write several, in this order."""
        for name, value in values.items():
            self[name] = value

    @property
    def address(self) -> int:
        """Where the numbers are."""
        return int(self.numbers.ctypes.data)


class Table:
    """How many rows, then the rows, each of which is a record.

    Attributes:
        kind: Of the rows.
        numbers: All of them.
        rows: A view, with a row in each line.
    """

    __slots__ = ("kind", "numbers", "rows")

    def __init__(self, kind: type[Record], most: int, count: int = 0) -> None:
        """Make one with room for some rows, of which so many count."""
        self.kind, self.numbers = kind, np.zeros(1 + most * kind.size, dtype=np.int64)
        self.numbers[0], self.rows = count, self.numbers[1:].reshape(most, kind.size)

    def __len__(self) -> int:
        return int(self.numbers[0])

    def keep(self, i: int, **values: Any) -> None:
        """Write row i, which counts from now on; of a shape what is given."""
        for name, value in values.items():
            place = self.kind.fields[name].place
            self.rows[i, place : place + np.size(value)] = value
        self.numbers[0] = max(len(self), i + 1)

    def column(self, name: str) -> np.ndarray:
        """Return the numbers of a name in all rows, of several the first."""
        return self.rows[:, self.kind.fields[name].place]

    @property
    def address(self) -> int:
        """Where the numbers are."""
        return int(self.numbers.ctypes.data)
