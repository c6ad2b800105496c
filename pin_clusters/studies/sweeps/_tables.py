"""Store the results of several cases in tables of named arrays, in memory and in files.

A table contains these arrays:

- ``index`` contains the numbers of the successful cases, ``failed`` the numbers of the failed cases, and ``failures``
  one JSON text per failed case.
- If m cases returned KEY, three arrays are stored: ``cases/KEY``, shape (m,), contains the indices of these cases.
``shapes/KEY``, shape (m, d), contains the shapes of their arrays, padded with -1. ``values/KEY`` contains all entries,
flattened and concatenated.

The sizes of the arrays may differ between cases. The files can be read without unpickling objects.
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
        case: Number of the case.
        type: Class name of the exception.
        message: Message of the exception.
        traceback: The last lines of the traceback.
    """

    case: int
    type: str
    message: str
    traceback: str

    def __str__(self) -> str:
        return f"case {self.case}: {self.type}: {' '.join(self.message.split())}"


Outcomes = dict[int, "dict[str, np.ndarray] | CaseFailure"]
"""Outcome of each case, by number: a dict of named arrays, or a failure."""
Table = dict[str, np.ndarray]


def packed(outcomes: Outcomes) -> Table:
    good = {case: outcome for case, outcome in outcomes.items() if isinstance(outcome, dict)}
    failures = [outcome for outcome in outcomes.values() if isinstance(outcome, CaseFailure)]
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
    return [name.removeprefix("values/") for name in table if name.startswith("values/")]


def rows(table: Table, key: str) -> Iterator[tuple[int, np.ndarray]]:
    if f"values/{key}" not in table:
        return
    shapes = [tuple(n for n in shape if n >= 0) for shape in table[f"shapes/{key}"].tolist()]
    ends = np.cumsum([math.prod(shape) for shape in shapes])
    parts = np.split(table[f"values/{key}"], ends[:-1])
    for case, shape, part in zip(table[f"cases/{key}"].tolist(), shapes, parts, strict=True):
        yield case, part.reshape(shape)


def failures(table: Table) -> list[CaseFailure]:
    return [CaseFailure(**json.loads(text)) for text in table["failures"].tolist()]


def count(table: Table) -> int:
    return len(table["index"]) + len(table["failed"])


def check(table: Table, cases: range) -> None:
    """Raise KeyError or ValueError if a table is for other cases, or if its arrays are inconsistent."""
    if sorted([*table["index"].tolist(), *(failure.case for failure in failures(table))]) != list(cases):
        raise ValueError(f"it does not contain exactly the cases {cases.start} to {cases.stop - 1}")
    for key in keys(table):
        for _ in rows(table, key):
            pass


def joined(tables: Mapping[int, Table]) -> tuple[np.ndarray, tuple[CaseFailure, ...], dict[str, np.ndarray]]:
    done = [tables[chunk] for chunk in sorted(tables)]
    index = np.concatenate([np.zeros(0, dtype=np.int64), *(table["index"] for table in done)])
    arrays = {}
    for key in dict.fromkeys(key for table in done for key in keys(table)):
        array_of_case = dict(row for table in done for row in rows(table, key))
        arrays[key] = _column([array_of_case.get(case) for case in index.tolist()])
    for array in (index, *arrays.values()):
        array.setflags(write=False)
    return index, tuple(failure for table in done for failure in failures(table)), arrays


def _column(rows: Sequence[np.ndarray | None]) -> np.ndarray:
    arrays = [row for row in rows if row is not None]
    if len(arrays) == len(rows) and len({row.shape for row in arrays}) == 1:
        return np.stack(arrays)
    kind = np.concatenate([row.ravel() for row in arrays]).dtype
    column = np.empty(len(rows), dtype=object)
    for i, row in enumerate(rows):
        column[i] = None if row is None else row.astype(kind, copy=False)
    return column
