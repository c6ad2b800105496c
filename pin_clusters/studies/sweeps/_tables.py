"""The results of some cases as named arrays: how they are kept in memory, and in the file of a chunk.

Names of the arrays, for m cases that gave something under a key:

- ``index``: cases that succeeded; ``failed``: those that did not; ``failures``: a JSON text for each of them.
- ``cases/KEY``: shape (m,), their numbers; ``shapes/KEY``: shape (m, d), the shape of each array, filled up with -1;
  ``values/KEY``: all entries one behind the other.

So arrays may differ in size from case to case, and nothing needs pickling.
"""

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np


@dataclass(frozen=True)
class CaseFailure:
    """A case that raised an exception.

    Attributes:
        case: Its number.
        type: Name of the exception's class.
        message: What it said.
        traceback: The last lines of the traceback.
    """

    case: int
    type: str
    message: str
    traceback: str

    def __str__(self) -> str:
        return f"case {self.case}: {self.type}: {' '.join(self.message.split())}"


Outcomes = dict[int, "dict[str, np.ndarray] | CaseFailure"]
"""What became of some cases, by their numbers: named arrays, or a failure."""
Table = dict[str, np.ndarray]


def packed(outcomes: Outcomes) -> Table:
    """Return the arrays of some cases, in the order that is given."""
    good = {case: found for case, found in outcomes.items() if isinstance(found, dict)}
    failures = [found for found in outcomes.values() if isinstance(found, CaseFailure)]
    table = {
        "index": np.array([*good], dtype=np.int64),
        "failed": np.array([failure.case for failure in failures], dtype=np.int64),
        "failures": np.array([json.dumps(asdict(failure)) for failure in failures], dtype=np.str_),
    }
    for key in dict.fromkeys(key for values in good.values() for key in values):
        having = {case: values[key] for case, values in good.items() if key in values}
        shapes = np.full((len(having), max(x.ndim for x in having.values())), -1, dtype=np.int64)
        for row, x in zip(shapes, having.values(), strict=True):
            row[: x.ndim] = x.shape
        table[f"cases/{key}"] = np.array([*having], dtype=np.int64)
        table[f"shapes/{key}"] = shapes
        table[f"values/{key}"] = np.concatenate([x.ravel() for x in having.values()])
    return table


def keys(table: Table) -> list[str]:
    """Return the keys under which the cases gave something."""
    return [name.removeprefix("values/") for name in table if name.startswith("values/")]


def rows(table: Table, key: str) -> Iterator[tuple[int, np.ndarray]]:
    """Give number and array of the cases that have a key."""
    if f"values/{key}" not in table:
        return
    shapes = [tuple(n for n in shape if n >= 0) for shape in table[f"shapes/{key}"].tolist()]
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    parts = np.split(table[f"values/{key}"], ends[:-1])
    for case, shape, part in zip(table[f"cases/{key}"].tolist(), shapes, parts, strict=True):
        yield case, part.reshape(shape)


def failures(table: Table) -> list[CaseFailure]:
    """Return the cases that failed."""
    return [CaseFailure(**json.loads(text)) for text in table["failures"].tolist()]


def count(table: Table) -> int:
    """Return the number of cases."""
    return len(table["index"]) + len(table["failed"])


def check(table: Table, cases: range) -> None:
    """Refuse, by a KeyError or ValueError, a table without exactly these cases, or with arrays that do not fit."""
    if sorted([*table["index"].tolist(), *(failure.case for failure in failures(table))]) != list(cases):
        raise ValueError(f"it does not hold the cases {cases.start} to {cases.stop - 1}")
    for key in keys(table):
        for _ in rows(table, key):
            pass


def joined(tables: Mapping[int, Table]) -> tuple[np.ndarray, tuple[CaseFailure, ...], dict[str, np.ndarray]]:
    """Return of chunks, by their number, the cases that succeeded, those that failed, and all results by their key."""
    done = [tables[chunk] for chunk in sorted(tables)]
    index = np.concatenate([np.zeros(0, dtype=np.int64), *(table["index"] for table in done)])
    arrays = {}
    for key in dict.fromkeys(key for table in done for key in keys(table)):
        found = dict(row for table in done for row in rows(table, key))
        arrays[key] = _column([found.get(case) for case in index.tolist()])
    for array in (index, *arrays.values()):
        array.setflags(write=False)
    return index, tuple(failure for table in done for failure in failures(table)), arrays


def _column(rows: Sequence[np.ndarray | None]) -> np.ndarray:
    """Return the rows of a key as one array; as one of objects if their shapes differ or some are None."""
    there = [row for row in rows if row is not None]
    if len(there) == len(rows) and len({row.shape for row in there}) == 1:
        return np.stack(there)
    kind = np.concatenate([row.ravel() for row in there]).dtype
    column = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        column[i] = None if row is None else row.astype(kind, copy=False)
    return column
