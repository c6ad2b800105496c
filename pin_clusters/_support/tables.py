"""Construction of kernel tables: rows of integers, which refer to a list of floats by index."""

from collections.abc import Iterable
from typing import Any

import numpy as np


class Table:
    """Kernel table: rows of integers, float parameters, and the size of the work array."""

    def __init__(self, rows: Iterable[Any] = (), params: Iterable[float] = (), work: int = 0) -> None:
        self.rows, self.params, self.work = list(rows), list(params), work  # rows can start as placeholders

    def append(self, values: Any) -> int:
        self.params += np.ravel(values).tolist()
        return len(self.params) - np.size(values)

    def put(self, offset: int, values: Any) -> None:
        numbers = np.ravel(values).tolist()
        self.params[offset : offset + len(numbers)] = numbers

    def add(self, row: Any) -> int:
        self.rows.append(row)
        return len(self.rows) - 1

    def add_all(self, rows: Iterable[Any]) -> tuple[int, int]:
        first = len(self.rows)
        self.rows.extend(rows)
        return first, len(self.rows)

    def add_list(self, values: Iterable[int]) -> tuple[int, int]:
        return self.add_all((int(v),) for v in values)

    def reserve(self, size: int) -> int:
        self.work += size
        return self.work - size

    def index(self, width: int) -> np.ndarray:
        """Return the rows as an array with ``width`` columns, padded with zeros."""
        table = np.zeros((len(self.rows), width), dtype=np.int64)
        for numbers, row in zip(table, map(tuple, self.rows), strict=True):
            numbers[: len(row)] = row
        return table
