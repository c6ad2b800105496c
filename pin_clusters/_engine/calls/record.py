"""Records: rows of whole numbers that Python writes and machine code reads, by name and never by place.

A record declares its numbers once, as a class: a name and a kind each. Places follow from the order. In Python a record
is a view of its numbers (``desk.nq = 7``), which refuses names that it has not, and what is not of the kind. While
machine code is written, ``writer.Numbers`` is the same record at an address.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from ..native.words import address_of


class Field:
    """A number of a record, or several; what kinds there are, says ``words``.

    Attributes:
        name: In the record.
        place: Of the first number.
        width: How many there are.
        shape: What is multiplied for how many numbers of eight bytes are meant: numbers, or names of counts of the
            record; empty where others know.
        sizes: The same as numbers, or as places of the counts.
        keeps: Whether it is the address of something: that is kept, and returned when it is read in Python.
    """

    name: str
    place: int
    width = 1
    shape: tuple[int | str, ...] = ()
    sizes: tuple[tuple[int, int | None], ...] = ()
    keeps = True

    def words(self, value: Any, sizes: tuple[int, ...]) -> Sequence[int] | None:
        """Return the numbers of a value; None if it is of another kind, or of other sizes than the shape says."""
        raise NotImplementedError

    def __set_name__(self, record: type[Record], name: str) -> None:
        self.name = name

    def __get__(self, record: Record | None, kind: type[Record]) -> Any:
        if record is None:
            return self
        if self.keeps:
            return record.owned[self.name]
        if self.width == 1:
            return int(record.numbers[self.place])
        return record.numbers[self.place : self.place + self.width].tolist()

    def __set__(self, record: Record, value: Any) -> None:
        before = record.owned.get(self.name)  # whose end may call: it stays until the numbers lead elsewhere
        self.write(type(record), record.numbers, value)
        if self.keeps:
            record.owned[self.name] = value
        del before

    def write(self, record: type[Record], row: Any, value: Any) -> None:
        """Write a value to a row of numbers: an array, or a list.

        Raises:
            TypeError: It is of another kind or of other sizes.
        """
        sizes = tuple([n if at is None else int(row[at]) for n, at in self.sizes]) if self.sizes else ()
        words = self.words(value, sizes)
        if words is None or len(words) != self.width:
            given = f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else repr(value)
            raise TypeError(f"{record.__name__}.{self.name} is {type(self).__name__} {self.shape}, not {given}")
        if self.width == 1:
            row[self.place] = words[0]
        else:
            row[self.place : self.place + self.width] = words


class Count(Field):
    """A whole number."""

    keeps = False

    def words(self, value: Any, sizes: tuple[int, ...]) -> Sequence[int] | None:
        """Take whole numbers, of NumPy too."""
        return None if isinstance(value, (bool, np.ndarray)) else (operator.index(value),)


class Code(Count):
    """The address of machine code; 0 if there is none."""


class Flag(Field):
    """1 if something is so."""

    keeps = False

    def words(self, value: Any, sizes: tuple[int, ...]) -> Sequence[int] | None:
        """Take a bool."""
        return (int(value),) if isinstance(value, (bool, np.bool_)) else None


class Sizes(Field):
    """The shape of an array, whose sizes are named; or so many numbers side by side."""

    keeps = False

    def __init__(self, *shape: int | str) -> None:
        self.width, self.shape = (int(shape[0]), ()) if len(shape) == 1 else (len(shape), shape)

    def words(self, value: Any, sizes: tuple[int, ...]) -> Sequence[int] | None:
        """Take a shape."""
        return value if isinstance(value, tuple) and value == (sizes or value) else None


class Room(Field):
    """The address of numbers of eight bytes."""

    def __init__(self, *shape: int | str) -> None:
        self.shape = shape

    def words(self, value: Any, sizes: tuple[int, ...]) -> Sequence[int] | None:
        """Take an array as kernels take them."""
        fits = _is_array(value) and (not sizes or value.size == math.prod(sizes))
        return (address_of(value),) if fits else None


class Array(Field):
    """The address of the numbers of an array, then its sizes."""

    def __init__(self, nd: int) -> None:
        self.width = 1 + nd

    def words(self, value: Any, sizes: tuple[int, ...]) -> Sequence[int] | None:
        """Take an array of so many dimensions."""
        return (address_of(value), *value.shape) if _is_array(value) else None


class Part(Field):
    """The address of what knows it: another record, a table, tables of a kernel; 0 if there is none."""

    def __init__(self, kind: type[Any]) -> None:
        self.kind = kind

    def words(self, value: Any, sizes: tuple[int, ...]) -> Sequence[int] | None:
        """Take an object of this kind, or None."""
        if value is None:
            return (0,)
        return (value.address,) if isinstance(value, self.kind) else None


class Object(Field):
    """The address of an object of Python."""

    def words(self, value: Any, sizes: tuple[int, ...]) -> Sequence[int]:
        """Take any."""
        return (id(value),)


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

    fields: ClassVar[dict[str, Field]]
    size: ClassVar[int]

    def __init_subclass__(cls, more: Mapping[str, Field] | None = None) -> None:
        """Give each number its place: in the order of the class, then ``more``."""
        for name, field in (more or {}).items():
            assert name not in vars(cls), name
            setattr(cls, name, field)
            field.__set_name__(cls, name)
        cls.fields, cls.size = {name: x for name, x in vars(cls).items() if isinstance(x, Field)}, 0
        for field in cls.fields.values():
            field.place, cls.size = cls.size, cls.size + field.width
            field.sizes = tuple((0, cls.fields[n].place) if isinstance(n, str) else (n, None) for n in field.shape)

    def __init__(self, **values: Any) -> None:
        """Make one, of zeros but for the values, in this order."""
        row, self.owned = [0] * self.size, dict[Any, Any]()
        for name, value in values.items():
            field = self._field(name)
            field.write(type(self), row, value)
            if field.keeps:
                self.owned[name] = value
        self.numbers = np.array(row, dtype=np.int64)[:]  # a view, so that nobody resizes it

    def put(self, **values: Any) -> None:
        """Write several, in this order."""
        for name, value in values.items():
            self[name] = value

    def __setattr__(self, name: str, value: Any) -> None:
        if name in Record.__slots__:
            super().__setattr__(name, value)
        else:
            self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        self._field(name).__set__(self, value)

    def _field(self, name: str) -> Field:
        field = self.fields.get(name)
        if field is None:
            raise AttributeError(f"{type(self).__name__} has no {name}")
        return field

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    @property
    def address(self) -> int:
        """Where the numbers are."""
        return address_of(self.numbers)


class Table:
    """How many rows, then the rows, each of which is a record; what they lead to is kept by who fills it.

    Attributes:
        numbers: All of them.
        rows: A view, with a row in each line.
    """

    __slots__ = ("numbers", "rows")

    row: ClassVar[type[Record]]

    def __init__(self, most: int) -> None:
        """Make one with room for some rows."""
        self.numbers = np.zeros(1 + most * self.row.size, dtype=np.int64)
        self.rows = self.numbers[1:].reshape(most, self.row.size)

    def __len__(self) -> int:
        return int(self.numbers[0])

    def write(self, i: int, **values: Any) -> None:
        """Write row i, which counts from now on, all of it at once; of several numbers those that are given."""
        row = self.rows[i].copy()
        for name, value in values.items():
            place = self.row.fields[name].place
            row[place : place + np.size(value)] = value
        self.rows[i] = row  # signals and the collector may call before and after
        self.numbers[0] = max(len(self), i + 1)

    def column(self, name: str) -> np.ndarray:
        """Return the numbers of a name in all rows that count, of several the first."""
        return self.rows[: len(self), self.row.fields[name].place]

    @property
    def address(self) -> int:
        """Where the numbers are."""
        return address_of(self.numbers)
