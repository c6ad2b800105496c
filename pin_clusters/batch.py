"""Many states at once: the names of the single-state algorithms, over rows.

The kernels are those of the single state, compiled for packs of ``lanes`` float64 (8 with AVX-512, 4 with AVX2, or 2).
Results agree with the single state to rounding. A row that is not finite, a joint that moves no inertia, or a closed
loop that is open or singular gives a row that is not finite; other rows are not affected. Models with a ``Coupling`` on
a Python function run one state after the other.
"""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
import pinocchio as pin

from ._kernels import entry_points as kernels
from ._kernels.layout import OPEN as _OPEN
from .arrays import numbers, plain, room
from .configuration import residual, residual_rows
from .constraints.closures import FunctionFailedError
from .docstrings import stock
from .errors import ArgumentTypeError, PinClustersWarning, ShapeError
from .model import ClusterData, ClusterModel, with_loops

_documented = stock(
    """
    Args:
        model: Cluster model.
        q: Configurations of the whole tree, shape (N, nq), on the couplings (not checked).
        v: Independent velocities, shape (N, nv), [rad/s] or [m/s].
        fext: External forces in joint frames, shape (N, njoints, 6), [linear; angular], [N] and [N m].
        threads: How many threads share the rows.
        out: Where to write the result, shape (N, nv), float64 and contiguous.
        status: Where to write what became of each row, shape (N,), int8: 0 it is good, 1 a closed loop is open (by more
            than 1e-6 of its length, or rad), 2 a loop is singular, 3 the input is not finite. Rows that are not good
            are NaN; without ``status`` a warning says how many loops failed.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
    """,
)

if TYPE_CHECKING:
    lanes: int
    """How many states one SIMD register of this processor holds."""


def __getattr__(name: str) -> Any:
    """Look up ``lanes`` when it is asked for: without a library of kernels, Numba has to be imported for it."""
    if name == "lanes":
        return kernels.lanes()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@_documented
def rnea(
    model: ClusterModel,
    q: Any,
    v: Any,
    a: Any,
    fext: Any = None,
    *,
    threads: int = 1,
    out: np.ndarray | None = None,
    status: np.ndarray | None = None,
) -> np.ndarray:
    """Compute the joint torques of N motions.

    Args:
        a: Independent accelerations, shape (N, nv), [rad/s^2] or [m/s^2].

    Returns:
        Torques, shape (N, nv), [N m] or [N]; ``out`` if it was given.

    References:
        Chignoli et al., arXiv 2311.13732 (C-RNEA).
    """
    return _run(model, 0, q, v, ("a", a), fext, threads, out, status)


@_documented
def aba(
    model: ClusterModel,
    q: Any,
    v: Any,
    tau: Any,
    fext: Any = None,
    *,
    threads: int = 1,
    out: np.ndarray | None = None,
    status: np.ndarray | None = None,
) -> np.ndarray:
    """Compute the accelerations of N states under joint torques.

    Args:
        tau: Torques of the independent joints, shape (N, nv), [N m] or [N].

    Returns:
        Accelerations, shape (N, nv), [rad/s^2] or [m/s^2]; ``out`` if it was given.

    References:
        Chignoli et al., arXiv 2311.13732 (C-ABA).
    """
    return _run(model, 1, q, v, ("tau", tau), fext, threads, out, status)


def _run(
    model: ClusterModel,
    which: int,
    q: Any,
    v: Any,
    named: tuple[str, Any],
    fext: Any,
    threads: int,
    out: np.ndarray | None,
    status: np.ndarray | None,
) -> np.ndarray:
    if not isinstance(model, ClusterModel):
        cure = " Wrap it: model = pc.ClusterModel(model, constraints)." if isinstance(model, pin.Model) else ""
        raise ArgumentTypeError(f"model must be a ClusterModel, got {type(model).__name__}.{cure}")
    if isinstance(q, (ClusterData, pin.Data)):
        raise ArgumentTypeError("q must be an array, got a data. Batches take none: pc.batch.aba(model, q, v, tau).")
    if isinstance(threads, bool) or not isinstance(threads, Integral) or threads < 1:
        raise ArgumentTypeError(f"threads must be a whole number, at least 1, got {threads!r}.")
    q = _table(model, "q", q, None, model.nq, "nq (the whole tree)")
    n = q.shape[0]
    v = _table(model, "v", v, n, model.nv, "nv (the independent joints)")
    x = _table(model, *named, n, model.nv, "nv (the independent joints)")
    forces = np.zeros((n, 0))
    if fext is not None:
        forces = plain(numbers("fext", fext))
        if forces.shape != (n, model.njoints, 6):
            raise ShapeError(
                f"fext has shape {forces.shape}, but model {model.name!r} needs (N, njoints, 6) = "
                f"({n}, {model.njoints}, 6): a force per state and joint, the universe first."
            )
        forces = forces.reshape(n, 6 * model.njoints)
    out = room("out", out, (n, model.nv), np.float64, ". Leave it out.")
    told = room("status", status, (n,), np.int8, ": status = np.zeros(N, dtype=np.int8).")
    told[:] = 0
    # rows that are still to be read must not be overwritten
    tables = tuple(given.copy() if np.may_share_memory(given, out) else given for given in (q, v, x, forces))
    if n == 0:
        return out
    if not kernels.JIT or model._tables.supplies:
        _one_by_one(model, which, tables, out, told)
        _mark(model, told, tables, out, warn=status is None)
        return out
    rows = (_LOOPS if with_loops(model) else _PLAIN)[which]
    run, lanes = rows.function(), kernels.lanes()  # before the threads start: compiling is not theirs to race for
    share = -(-n // (int(threads) * lanes)) * lanes
    parts = [(first, min(first + share, n)) for first in range(0, n, share)]

    def work(part: tuple[int, int]) -> None:
        workspace = np.repeat(model._tables.work[:, None], lanes, axis=1)
        sizes = (model.nq, model.nv, model.nv, model.nv + forces.shape[1], model.nv)
        lines = (np.zeros((size, lanes)) for size in sizes)
        run(model._index, model._params, workspace, *lines, *tables, out, told, *part)

    if len(parts) == 1:
        work(parts[0])
    else:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(len(parts)) as pool:
            list(pool.map(work, parts))
    if model.closures or status is not None:
        _mark(model, told, tables, out, warn=status is None)
    return out


_PLAIN = (kernels.rnea_rows, kernels.aba_rows)
_LOOPS = (kernels.rnea_loops_rows, kernels.aba_loops_rows)


def _mark(
    model: ClusterModel, status: np.ndarray, given: tuple[np.ndarray, ...], out: np.ndarray, *, warn: bool
) -> None:
    """Make rows that failed NaN, and say how many there are."""
    finite = np.ones(len(status), dtype=bool)
    for table in given:
        finite &= np.isfinite(table).all(axis=1)
    status[~finite] = 3
    out[status != 0] = np.nan
    is_open, is_singular = int(np.count_nonzero(status == 1)), int(np.count_nonzero(status == 2))
    if warn and is_open + is_singular:
        warnings.warn(
            f"{is_open + is_singular} of {len(status)} rows are NaN: in {is_open} a loop of model {model.name!r} is "
            f"open, in {is_singular} it is singular. Pass status=np.zeros(N, dtype=np.int8) to see which; "
            "pc.project(model, q) closes a row.",
            PinClustersWarning,
            stacklevel=4,
        )


def _one_by_one(
    model: ClusterModel, which: int, tables: tuple[np.ndarray, ...], out: np.ndarray, status: np.ndarray
) -> None:
    """Run without packs: they are LLVM's own, and there is no LLVM when the JIT is off; nor can they call Python."""
    data = model.createData()
    single = (data._rnea, data._aba)[which]
    keep = np.zeros(model.nv + tables[-1].shape[1])
    pointer = kernels.Pointer(model._index, model._params, data._work, keep)
    rows = residual_rows(model)
    scales = np.array([row.scale for row in rows])[len(model.coupling_rows) :]
    for n, (q, v, x, forces) in enumerate(zip(*tables, strict=True)):
        keep[model.nv :] = forces
        if not np.isfinite(q).all():
            out[n] = np.nan
            continue
        try:
            data._supply(q)
        except FunctionFailedError:
            out[n], status[n] = np.nan, 2
            continue
        code = single.call(pointer, q, v, x, out[n])
        if model.closures and np.any(np.abs(residual(model, q)[len(model.coupling_rows) :]) > _OPEN * scales):
            status[n] = 1
        elif code < 0:
            status[n] = 2


def _table(model: ClusterModel, name: str, x: Any, rows: int | None, columns: int, what: str) -> np.ndarray:
    """Return x as contiguous rows."""
    given = plain(numbers(name, x))
    if given.ndim != 2 or given.shape[1] != columns or (rows is not None and given.shape[0] != rows):
        expected = f"({'N' if rows is None else rows}, {columns})"
        hint = ""
        if given.ndim == 2 and given.shape[1] == model.tree.nv and columns == model.nv:
            hint = f" That is the size of the spanning tree: take {name}[:, model.idx_v_independent]."
        raise ShapeError(f"{name} has shape {given.shape}, but model {model.name!r} needs {expected}, {what}.{hint}")
    return given
