"""Shared documentation and checks of the arguments of batch functions."""

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from .._support.arrays import is_plain, numbers, output_array, plain, whole_number
from .._support.docstrings import stock
from .._support.memory import available
from ..errors import ArgumentTypeError, ShapeError, TooLargeError
from ..export.cuda.arrays import on_gpu
from ..model import ClusterData, ClusterModel, check_model

_SMALL = 2**26
"""Memory requests below this limit are not checked, [bytes]."""
documented = stock(
    """
    Args:
        model: Cluster model.
        q: Configurations of the spanning tree, shape (N, nq); they must satisfy the constraints (not checked).
        v: Independent velocities, shape (N, nv), [rad/s] or [m/s].
        a: Independent accelerations, shape (N, nv), [rad/s^2] or [m/s^2].
        tau: Torques of the independent joints, shape (N, nv), [N m] or [N].
        fext: External forces in joint frames, shape (N, njoints, 6), [linear; angular], [N] and [N m].
        parameters: Robot parameters by name, shape (N, n), or (n,) for all rows: ``gravity``, n = 3, [m/s^2];
            ``inertial``, as in ``pc.parameters``; ``ratios``. See ``pc.trace``.
        threads: Number of threads.
        out: Contiguous float64 array for the result, with the shape of the result. It may be one of the arguments.
        status: Array for the status of each row, shape (N,), int8. 0: valid; 1: the gap of a loop exceeds 1e-6 of its
            length, or 1e-6 rad; 2: a loop is singular, or an independent joint moves no inertia; 3: the input is not
            finite. Failed rows are NaN. If ``status`` is None, a warning reports failed rows.

    Raises:
        ShapeError: An argument has a wrong size.
        ArgumentTypeError: An argument has a wrong type; ``out`` is not writable; ``threads`` is not an integer >= 1.
        TooLargeError: The rows do not fit into memory. The error is raised before any allocation.
    """,
)
"""Decorator that adds the common sections to the docstrings of batch functions."""

TREE, OWN = "nq (all joints of the tree)", "nv (the independent joints)"


class RowArgument(NamedTuple):
    name: str
    value: Any
    shape: tuple[int, ...]
    what: str


class Batch:
    """Checked arguments and results of a batch function, and the status of its rows.

    Attributes:
        tables: Arguments as arrays of shape (rows, numbers per row), which the kernels read.
        asked: Whether the user passed a status array; otherwise, a warning reports failed rows.
    """

    def __init__(
        self,
        name: str,
        model: Any,
        arguments: Sequence[RowArgument],
        threads: Any,
        status: Any,
        *results: tuple[str, Any, tuple[int, ...]],
        rows_of_work: int = 0,
        work: int = 0,
    ) -> None:
        """Check all arguments. The first argument determines the number of rows.

        Each of ``results`` contains a name, an array or None, and the shape of a row. ``rows_of_work`` is the
        additional memory per row, and ``work`` per thread, in multiples of 8 bytes.
        """
        self.name, self.model, self.threads = name, model, whole_number("threads", threads, 1)
        arrays = [_rows(name, model, x) for x in arguments]
        n = self.rows = arrays[0].shape[0] if arrays[0].ndim else 0
        for x, table in zip(arguments, arrays, strict=True):
            if table.ndim == 0 or table.shape != (n, *x.shape):
                raise ShapeError(_misshapen(model, x, table.shape, n if x is not arguments[0] else None))
        bytes_needed = 8 * work * min(self.threads, max(n, 1)) + 8 * n * rows_of_work + n
        bytes_needed += sum(8 * x.size for x in arrays if not is_plain(x))
        bytes_needed += sum(8 * n * prod(shape) for _, out, shape in results if out is None)
        _check_memory(name, n, bytes_needed)
        shapes = [(label, out, (n, *shape)) for label, out, shape in results]
        self.out = [output_array(label, out, shape, np.float64, ". Leave it out.") for label, out, shape in shapes]
        self.asked = status is not None
        self.status = output_array("status", status, (n,), np.int8, ": status = np.zeros(N, dtype=np.int8).")
        tables = [plain(x).reshape(n, prod(x.shape[1:])) for x in arrays]
        written = [] if status is None else [("status", self.status)]
        written += [(label, x) for (label, out, _), x in zip(results, self.out, strict=True) if out is not None]
        if written:  # newly allocated results cannot overlap
            _apart(written)
            # Arguments that overlap results are copied, because results are written before all rows have been read.
            tables = [x.copy() if any(np.may_share_memory(x, to) for _, to in written) else x for x in tables]
        self.tables = tuple(tables)
        self.status[:] = 0


def states(model: Any, q: Any, *velocities: tuple[str, Any]) -> list[RowArgument]:
    check_model(model)
    if isinstance(q, (ClusterData, pin.Data)):
        raise ArgumentTypeError(
            "q must be an array, got a data object. Batch functions take no data: call pc.batch.aba(model, q, v, tau)."
        )
    return [RowArgument("q", q, (model.nq,), TREE), *(RowArgument(name, x, (model.nv,), OWN) for name, x in velocities)]


def forces(model: ClusterModel, fext: Any) -> list[RowArgument]:
    shape = model.njoints, 6
    return [] if fext is None else [RowArgument("fext", fext, shape, "one force per state and joint")]


def on_gpu_rows(arguments: Sequence[RowArgument]) -> bool:
    return on_gpu(*(x.value for x in arguments))


def on_device(
    name: str, model: ClusterModel, arguments: Sequence[RowArgument], out: Any, status: Any, **options: Any
) -> Any:
    from ..export.cuda.run import Argument, run  # imported here, because only GPU arrays need this module

    return run(model, name, [Argument(x.name, x.value, x.shape) for x in arguments], out, status, **options)


def _rows(function: str, model: ClusterModel, x: RowArgument) -> np.ndarray:
    """Convert an argument to an array; if the conversion fails, raise an error for the first invalid row."""
    try:
        array = numbers(x.name, x.value)
    except ArgumentTypeError:
        _blame_a_row(model, x)
        raise
    if x.name == "q" and array.shape == x.shape:
        raise ShapeError(
            f"{x.name} has shape {array.shape}, a single row, but pc.batch.{function} needs {_expected(x, None)}, "
            f"{x.what}. For one state use pc.{function}, or pass {x.name}[None]."
        )
    return array


def _blame_a_row(model: ClusterModel, x: RowArgument) -> None:
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


def _expected(x: RowArgument, rows: int | None) -> str:
    return f"({', '.join(map(str, ('N' if rows is None else rows, *x.shape)))})"


def _misshapen(model: ClusterModel, x: RowArgument, shape: tuple[int, ...], rows: int | None) -> str:
    if x.name == "fext":
        return (
            f"fext has shape {shape}, but model {model.name!r} needs (N, njoints, 6) = {_expected(x, rows)}: one force "
            "per state and joint, including the universe."
        )
    hint = ""
    if len(shape) == 2 and shape[1] == model.tree.nv and x.shape == (model.nv,):
        hint = f" It has the size of the spanning tree: use {x.name}[:, model.idx_v_independent]."
    return f"{x.name} has shape {shape}, but model {model.name!r} needs {_expected(x, rows)}, {x.what}.{hint}"


def _apart(written: Sequence[tuple[str, np.ndarray]]) -> None:
    for i, (name, x) in enumerate(written):
        for previous, y in written[:i]:
            if np.may_share_memory(x, y) and np.shares_memory(x, y):
                raise ArgumentTypeError(
                    f"{name} and {previous} share memory, and both are results. Pass separate arrays."
                )


def _check_memory(name: str, rows: int, needed: int) -> None:
    """Raise an error if the rows need more memory than is available."""
    if needed <= _SMALL:
        return
    free = available()
    if free is not None and needed > free:
        raise TooLargeError(
            f"pc.batch.{name}: {rows} rows need {needed} bytes ({needed / 2**30:.1f} GiB) for results, copies of "
            f"arguments and workspaces, but {free} ({free / 2**30:.1f} GiB) are free. Use at most "
            f"{max(1, rows * free // needed)} rows at a time, and pass out= to reuse memory."
        )
