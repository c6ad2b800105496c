"""The results of some cases as named arrays: what a worker sends back, and what a chunk's file holds.

Names of the arrays, for m cases that gave something under a key:

- ``index``: cases that succeeded; ``failed``: those that did not; ``failures``: a JSON text for each of them.
- ``cases/KEY``: shape (m,), their numbers; ``shapes/KEY``: shape (m, d), the shape of each array, filled up with -1;
  ``values/KEY``: all entries one behind the other.

So arrays may differ in size from case to case, and nothing needs pickling.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError

Table = dict[str, np.ndarray]
_KINDS = "biufcSU"


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
        """One line."""
        return f"case {self.case}: {self.type}: {' '.join(self.message.split())}"


@dataclass(frozen=True)
class Outcome:
    """What became of one case: values, or a failure."""

    case: int
    values: Mapping[str, np.ndarray] | None
    failure: CaseFailure | None = None


def checked(values: Any) -> dict[str, np.ndarray]:
    """Return what the function of a sweep returned as arrays.

    Raises:
        ArgumentTypeError: It is not a dict of numbers, texts and arrays of them.
    """
    if not isinstance(values, Mapping):
        raise ArgumentTypeError(
            f"the function of a sweep must return a dict of numbers and arrays, got {type(values).__name__}."
        )
    found = {}
    for key, value in values.items():
        if not isinstance(key, str) or not key:
            raise ArgumentTypeError(f"the keys of what the function of a sweep returns must be text, got {key!r}.")
        try:
            array = np.asarray(value)
        except ValueError as error:
            raise ArgumentTypeError(f"the value of {key!r} is not an array of numbers: {error}.") from None
        if array.dtype.kind not in _KINDS:
            raise ArgumentTypeError(
                f"the value of {key!r} must be a number, a text or an array of them, got {array.dtype} "
                f"({type(value).__name__})."
            )
        found[key] = array
    return found


def pack(outcomes: Sequence[Outcome]) -> Table:
    """Return the arrays of some cases, in the order that is given."""
    good = [o for o in outcomes if o.values is not None]
    failures = [o.failure for o in outcomes if o.failure is not None]
    table: Table = {
        "index": np.array([o.case for o in good], dtype=np.int64),
        "failed": np.array([f.case for f in failures], dtype=np.int64),
        "failures": np.array([json.dumps(asdict(f)) for f in failures], dtype=np.str_),
    }
    for key in dict.fromkeys(k for o in good for k in (o.values or {})):
        having = [(o.case, o.values[key]) for o in good if o.values is not None and key in o.values]
        table[f"cases/{key}"] = np.array([case for case, _ in having], dtype=np.int64)
        table[f"shapes/{key}"] = _filled([np.array([array.shape], dtype=np.int64) for _, array in having])
        table[f"values/{key}"] = np.concatenate([array.ravel() for _, array in having])
    return table


def join(tables: Sequence[Table]) -> Table:
    """Return several tables as one, in the order that is given."""
    if len(tables) == 1:
        return tables[0]
    joined: Table = {}
    for name in dict.fromkeys(name for table in tables for name in table):
        parts = [table[name] for table in tables if name in table]
        joined[name] = _filled(parts) if name.startswith("shapes/") else np.concatenate(parts)
    return joined or pack([])


def keys(table: Table) -> list[str]:
    """Return the keys under which the cases gave something."""
    return [name.partition("/")[2] for name in table if name.startswith("values/")]


def column(table: Table, key: str) -> np.ndarray:
    """Return what the cases gave under a key: one row per case of ``index``.

    If their shapes differ, or some gave nothing, it is an array of objects: arrays, and None.
    """
    cases, shapes, values = (table[f"{part}/{key}"] for part in ("cases", "shapes", "values"))
    if np.array_equal(cases, table["index"]) and np.all(shapes == shapes[:1]):
        return values.reshape(len(cases), *(int(n) for n in shapes[0] if n >= 0))
    rows = np.full(len(table["index"]), None, dtype=object)
    at = {int(case): i for i, case in enumerate(table["index"])}
    start = 0
    for case, shape in zip(cases, shapes, strict=True):
        size = tuple(int(n) for n in shape if n >= 0)
        stop = start + int(np.prod(size, dtype=np.int64))
        rows[at[int(case)]] = values[start:stop].reshape(size)
        start = stop
    return rows


def failures(table: Table) -> tuple[CaseFailure, ...]:
    """Return the cases that failed."""
    return tuple(CaseFailure(**json.loads(str(text))) for text in table["failures"])


def covers(table: Table, cases: range) -> bool:
    """Whether a table holds exactly these cases, and its arrays fit each other."""
    both = np.concatenate([table["index"], table["failed"]])
    if not np.array_equal(np.sort(both), np.arange(cases.start, cases.stop)) or len(table["failures"]) != len(
        table["failed"]
    ):
        return False
    for key in keys(table):
        shapes = table[f"shapes/{key}"]
        sizes = np.prod(np.where(shapes < 0, 1, shapes), axis=1, dtype=np.int64)
        if len(shapes) != len(table[f"cases/{key}"]) or int(sizes.sum()) != len(table[f"values/{key}"]):
            return False
    return True


def _filled(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Stack rows of different lengths, filled up with -1."""
    width = max(part.shape[1] for part in parts)
    return np.concatenate([np.pad(p, ((0, 0), (0, width - p.shape[1])), constant_values=-1) for p in parts])
