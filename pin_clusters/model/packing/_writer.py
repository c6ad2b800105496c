"""The tables while they grow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from ..._engine.kernels.tables import layout as at
from ..primitives import Primitive

# identity and the two cyclic exchanges of axes, in the order of layout.Body.shuffle
SHUFFLES = tuple(np.roll(np.eye(3), i, axis=0) for i in range(3))


@dataclass
class Body:
    """A body of the kernels, before it is written."""

    joint: int
    primitive: Primitive
    parent: int
    last: bool
    inertia: pin.Inertia = field(default_factory=pin.Inertia.Zero)
    row: int = 0


class Row:
    """A row of ``index`` while it is written: the fields of one of the named tuples of ``layout``, zero at first."""

    def __init__(self, kind: Any) -> None:
        vars(self).update(dict.fromkeys(kind._fields, 0))

    def __setattr__(self, name: str, value: int) -> None:
        if name not in vars(self):
            raise AttributeError(name)
        vars(self)[name] = int(value)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class Writer:
    """Grows ``params`` and the lists of ``index``."""

    def __init__(self, bodies: int, clusters: int) -> None:
        self.params: list[float] = [0.0] * ((bodies + 1) * at.BODY_PARAMS)
        self.rows: list[Any] = [Row(at.Header), *(Row(at.Body) for _ in range(bodies))]
        self.rows += [Row(at.Cluster) for _ in range(clusters)]
        self.work = (bodies + 1) * at.BODY_WORK
        self.initial: dict[int, float] = {}  # what the workspace holds when it is made; the rest is zero

    def append(self, values: Any) -> int:
        """Return where numbers stand that are parameters."""
        offset = len(self.params)
        self.params.extend(np.asarray(values, dtype=float).ravel().tolist())
        return offset

    def put(self, offset: int, values: Any) -> None:
        """Write parameters for which there is room."""
        numbers = np.ravel(values).tolist()
        self.params[offset : offset + len(numbers)] = numbers

    def add(self, row: Row | tuple[int, ...]) -> int:
        """Append a row; return its number."""
        self.rows.append(row)
        return len(self.rows) - 1

    def add_all(self, rows: Iterable[Row | tuple[int, ...]]) -> tuple[int, int]:
        """Append rows; return the number of the first, and that behind the last."""
        first = len(self.rows)
        self.rows.extend(rows)
        return first, len(self.rows)

    def add_list(self, values: Sequence[int]) -> int:
        """Return the first of the rows that hold a list."""
        return self.add_all(at.Entry(int(v)) for v in values)[0]

    def store(self, values: np.ndarray) -> int:
        """Return where numbers stand that are in the workspace from the beginning."""
        flat = np.asarray(values).ravel().tolist()
        offset = self.room(len(flat))
        self.initial.update({offset + i: x for i, x in enumerate(flat) if x})
        return offset

    def index(self) -> np.ndarray:
        """Return the table of whole numbers."""
        table = np.zeros((len(self.rows), at.ROW_WIDTH), dtype=np.int64)
        for numbers, row in zip(table, self.rows, strict=True):
            values = tuple(vars(row).values()) if isinstance(row, Row) else row
            numbers[: len(values)] = values
        return table

    def room(self, size: int) -> int:
        offset = self.work
        self.work += size
        return offset
