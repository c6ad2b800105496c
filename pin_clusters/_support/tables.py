"""The tables of the kernels while they grow: rows of whole numbers, and the floats to which they lead."""

from collections.abc import Iterable
from typing import Any

import numpy as np


class Table:
    """Rows, parameters and the size of a workspace.

    Attributes:
        rows: Whole numbers, one iterable each; some may be put in their place later.
        params: Floats.
        work: How many numbers the workspace has.
    """

    def __init__(self, rows: Iterable[Any] = (), params: Iterable[float] = (), work: int = 0) -> None:
        self.rows, self.params, self.work = list(rows), list(params), work

    def append(self, values: Any) -> int:
        """Return where numbers stand that are parameters."""
        self.params += np.ravel(values).tolist()
        return len(self.params) - np.size(values)

    def put(self, offset: int, values: Any) -> None:
        """Write parameters for which there is room."""
        numbers = np.ravel(values).tolist()
        self.params[offset : offset + len(numbers)] = numbers

    def add(self, row: Any) -> int:
        """Append a row; return its number."""
        self.rows.append(row)
        return len(self.rows) - 1

    def add_all(self, rows: Iterable[Any]) -> tuple[int, int]:
        """Append rows; return the number of the first, and that behind the last."""
        first = len(self.rows)
        self.rows.extend(rows)
        return first, len(self.rows)

    def add_list(self, values: Iterable[int]) -> tuple[int, int]:
        """Append a list, a number per row; return its ends as ``add_all`` does."""
        return self.add_all((int(v),) for v in values)

    def room(self, size: int) -> int:
        """Return where so many numbers of the workspace stand that are its own."""
        self.work += size
        return self.work - size

    def index(self, width: int) -> np.ndarray:
        """Return the rows as an array of that width, zero behind each."""
        found = np.zeros((len(self.rows), width), dtype=np.int64)
        for numbers, row in zip(found, map(tuple, self.rows), strict=True):
            numbers[: len(row)] = row
        return found
