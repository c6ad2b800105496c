"""Arguments of a batch: described, and checked before anything runs: rows, threads, where results go."""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from .._support.arrays import is_plain, numbers, plain, room, whole_number
from .._support.docstrings import stock
from .._support.memory import available
from ..errors import ArgumentTypeError, ShapeError, TooLargeError
from ..export.cuda.arrays import on_gpu
from ..model import ClusterData, ClusterModel, check_model

_SMALL = 2**26
"""[bytes] of which nobody need ask."""
documented = stock(
    """
    Args:
        model: Cluster model.
        q: Configurations of the whole tree, shape (N, nq), on the couplings (not checked).
        v: Independent velocities, shape (N, nv), [rad/s] or [m/s].
        a: Independent accelerations, shape (N, nv), [rad/s^2] or [m/s^2].
        tau: Torques of the independent joints, shape (N, nv), [N m] or [N].
        fext: External forces in joint frames, shape (N, njoints, 6), [linear; angular], [N] and [N m].
        parameters: Numbers of the robot that each row has for itself, by name, shape (N, n), or (n,) for all rows:
            ``gravity`` (3), ``inertial`` (as ``pc.parameters``), ``ratios``; see ``pc.trace``.
        threads: How many threads share the rows.
        out: Where to write the result: float64, contiguous, of its shape. It may be one of the arguments.
        status: Where to write what became of each row, shape (N,), int8: 0 it is good, 1 a closed loop is open (by more
            than 1e-6 of its length, or rad), 2 a loop is singular or a joint moves no inertia, 3 the input is not
            finite. Rows that are not good are NaN; without ``status`` a warning says how many loops failed.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong; ``out`` cannot be written to; ``threads`` is no whole number, at least 1.
        TooLargeError: So many rows do not fit into memory; nothing has been allocated.
    """,
)
"""Completes the docstrings of batches with what all have in common."""

TREE, OWN = "nq (the whole tree)", "nv (the independent joints)"


class Given(NamedTuple):
    """An argument with a row per state: its name, its value, the shape of a row, and what the sizes of that are."""

    name: str
    value: Any
    shape: tuple[int, ...]
    what: str


class Batch:
    """What a function of batches works on.

    Attributes:
        model: Cluster model.
        name: Of the function.
        rows: How many there are.
        tables: What was given, each of shape (rows, numbers per row), as kernels take it.
        out: The results.
        status: Of the rows.
        threads: How many share the rows.
        asked: Whether the status was asked for: if not, a warning says what failed.
    """

    def __init__(
        self,
        name: str,
        model: Any,
        given: Sequence[Given],
        threads: Any,
        status: Any,
        *results: tuple[str, Any, tuple[int, ...]],
        rows_of_work: int = 0,
        work: int = 0,
    ) -> None:
        """Check all arguments.

        Args:
            given: Arguments; the first one tells how many rows there are.
            status: Where to write it, or None.
            results: Name, where to write it or None, and shape per row of each result.
            rows_of_work: Numbers per row of what is needed besides.
            work: Numbers per thread.
        """
        self.name, self.model, self.threads = name, model, whole_number("threads", threads, 1)
        kept = [_rows(name, model, x) for x in given]
        n = self.rows = kept[0].shape[0] if kept[0].ndim else 0
        for x, table in zip(given, kept, strict=True):
            if table.ndim == 0 or table.shape != (n, *x.shape):
                raise ShapeError(_misshapen(model, x, table.shape, n if x is not given[0] else None))
        bytes_needed = 8 * work * min(self.threads, max(n, 1)) + 8 * n * rows_of_work + n
        bytes_needed += sum(8 * x.size for x in kept if not is_plain(x))
        bytes_needed += sum(8 * n * prod(shape) for _, out, shape in results if out is None)
        _check_memory(name, n, bytes_needed)
        shapes = [(label, out, (n, *shape)) for label, out, shape in results]
        self.out = [room(label, out, shape, np.float64, ". Leave it out.") for label, out, shape in shapes]
        self.asked = status is not None
        self.status = room("status", status, (n,), np.int8, ": status = np.zeros(N, dtype=np.int8).")
        tables = [plain(x).reshape(n, prod(x.shape[1:])) for x in kept]
        written = [] if status is None else [("status", self.status)]
        written += [(label, x) for (label, out, _), x in zip(results, self.out, strict=True) if out is not None]
        if written:  # what is new lies apart
            _apart(written)
            # rows that are still to be read must not be overwritten
            tables = [x.copy() if any(np.may_share_memory(x, to) for _, to in written) else x for x in tables]
        self.tables = tuple(tables)
        self.status[:] = 0


def states(model: Any, q: Any, *velocities: tuple[str, Any]) -> list[Given]:
    """Return q, and arguments that have the size of a velocity."""
    check_model(model)
    if isinstance(q, (ClusterData, pin.Data)):
        raise ArgumentTypeError("q must be an array, got a data. Batches take none: pc.batch.aba(model, q, v, tau).")
    return [Given("q", q, (model.nq,), TREE), *(Given(name, x, (model.nv,), OWN) for name, x in velocities)]


def forces(model: ClusterModel, fext: Any) -> list[Given]:
    """Return external forces as an argument, or nothing."""
    shape = model.njoints, 6
    return [] if fext is None else [Given("fext", fext, shape, "a force per state and joint")]


def there(given: Sequence[Given]) -> bool:
    """Whether rows live on a GPU."""
    return on_gpu(*(x.value for x in given))


def on_device(name: str, model: ClusterModel, given: Sequence[Given], out: Any, status: Any, **options: Any) -> Any:
    """Run a function where its rows are; the number of threads means nothing there."""
    from ..export.cuda.run import Argument, run  # traces and writes code: not for those whose rows are here

    return run(model, name, [Argument(x.name, x.value, x.shape) for x in given], out, status, **options)


def _rows(function: str, model: ClusterModel, x: Given) -> np.ndarray:
    """Return an argument as an array of numbers; where it is none, say which row is to blame."""
    try:
        given = numbers(x.name, x.value)
    except ArgumentTypeError:
        _blame_a_row(model, x)
        raise
    if x.name == "q" and given.shape == x.shape:
        raise ShapeError(
            f"{x.name} has shape {given.shape}, which is one row; pc.batch.{function} needs {_expected(x, None)}, "
            f"{x.what}. For one state take pc.{function}, or pass {x.name}[None]."
        )
    return given


def _blame_a_row(model: ClusterModel, x: Given) -> None:
    """Say which row of a list is not like the others."""
    if not isinstance(x.value, (list, tuple)):
        return
    for k, row in enumerate(x.value):
        try:
            shape = numbers(f"{x.name}[{k}]", row).shape
        except ArgumentTypeError as error:
            raise ArgumentTypeError(f"{error} Model {model.name!r} needs {x.shape}, {x.what}, in every row.") from None
        if shape != x.shape:
            raise ShapeError(
                f"{x.name}[{k}] has shape {shape}, but model {model.name!r} needs {x.shape}, {x.what}, in every row."
            )


def _expected(x: Given, rows: int | None) -> str:
    return f"({', '.join(map(str, ('N' if rows is None else rows, *x.shape)))})"


def _misshapen(model: ClusterModel, x: Given, shape: tuple[int, ...], rows: int | None) -> str:
    if x.name == "fext":
        return (
            f"fext has shape {shape}, but model {model.name!r} needs (N, njoints, 6) = {_expected(x, rows)}: a force "
            "per state and joint, the universe first."
        )
    hint = ""
    if len(shape) == 2 and shape[1] == model.tree.nv and x.shape == (model.nv,):
        hint = f" That is the size of the spanning tree: take {x.name}[:, model.idx_v_independent]."
    return f"{x.name} has shape {shape}, but model {model.name!r} needs {_expected(x, rows)}, {x.what}.{hint}"


def _apart(written: Sequence[tuple[str, np.ndarray]]) -> None:
    """Refuse results that overlap each other."""
    for i, (name, x) in enumerate(written):
        for other, y in written[:i]:
            if np.may_share_memory(x, y) and np.shares_memory(x, y):
                raise ArgumentTypeError(f"{name} and {other} share memory, and both are written. Pass separate arrays.")


def _check_memory(name: str, rows: int, needed: int) -> None:
    """Refuse rows of a function that need more bytes than there are, before anything is allocated."""
    if needed <= _SMALL:
        return
    there = available()
    if there is not None and needed > there:
        raise TooLargeError(
            f"pc.batch.{name}: {rows} rows need {needed} bytes ({needed / 2**30:.1f} GiB) for results, copies of what "
            f"is given and room, and {there} ({there / 2**30:.1f} GiB) are free. Take at most "
            f"{max(1, rows * there // needed)} rows at a time, and pass out= to reuse the room."
        )
