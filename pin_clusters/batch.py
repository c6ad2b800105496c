"""Many states at once: the names of the single-state algorithms, over rows.

The kernels are those of the single state, compiled for packs of ``lanes`` float64 (8 with AVX-512, 4 with AVX2, or 2).
Results agree with the single state to rounding. A row that is not finite, or a joint that moves no inertia, gives a row
that is not finite; other rows are not affected.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from numbers import Integral
from typing import Any

import numpy as np
import pinocchio as pin

from ._kernels import batch as _kernels
from ._kernels._jit import JIT, Kernel, Pointer
from ._kernels.aba import aba_at as _aba
from ._kernels.rnea import rnea_at as _rnea
from ._kernels.simd import LANES
from .arrays import plain
from .data import ClusterData
from .errors import ArgumentTypeError, ShapeError
from .model import ClusterModel

lanes: int = LANES
"""How many states one SIMD register of this processor holds."""


def rnea(
    model: ClusterModel, q: Any, v: Any, a: Any, fext: Any = None, *, threads: int = 1, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute the joint torques of N motions.

    Args:
        model: Cluster model.
        q: Configurations of the whole tree, shape (N, nq), on the couplings (not checked).
        v: Independent velocities, shape (N, nv), [rad/s] or [m/s].
        a: Independent accelerations, shape (N, nv), [rad/s^2] or [m/s^2].
        fext: External forces in joint frames, shape (N, njoints, 6), [linear; angular], [N] and [N m].
        threads: How many threads share the rows.
        out: Where to write the result, shape (N, nv), float64 and contiguous.

    Returns:
        Torques, shape (N, nv), [N m] or [N]; ``out`` if it was given.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.

    References:
        Chignoli et al., arXiv 2311.13732 (C-RNEA).
    """
    return _run(model, _kernels.rnea_rows, _rnea, q, v, ("a", a), fext, threads, out)


def aba(
    model: ClusterModel, q: Any, v: Any, tau: Any, fext: Any = None, *, threads: int = 1, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute the accelerations of N states under joint torques.

    Args:
        model: Cluster model.
        q: Configurations of the whole tree, shape (N, nq), on the couplings (not checked).
        v: Independent velocities, shape (N, nv), [rad/s] or [m/s].
        tau: Torques of the independent joints, shape (N, nv), [N m] or [N].
        fext: External forces in joint frames, shape (N, njoints, 6), [linear; angular], [N] and [N m].
        threads: How many threads share the rows.
        out: Where to write the result, shape (N, nv), float64 and contiguous.

    Returns:
        Accelerations, shape (N, nv), [rad/s^2] or [m/s^2]; ``out`` if it was given.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.

    References:
        Chignoli et al., arXiv 2311.13732 (C-ABA).
    """
    return _run(model, _kernels.aba_rows, _aba, q, v, ("tau", tau), fext, threads, out)


def _run(
    model: ClusterModel,
    rows: Kernel,
    single: Kernel,
    q: Any,
    v: Any,
    named: tuple[str, Any],
    fext: Any,
    threads: int,
    out: np.ndarray | None,
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
        forces = _numbers("fext", fext)
        if forces.shape != (n, model.njoints, 6):
            raise ShapeError(
                f"fext has shape {forces.shape}, but model {model.name!r} needs (N, njoints, 6) = "
                f"({n}, {model.njoints}, 6): a force per state and joint, the universe first."
            )
        forces = forces.reshape(n, 6 * model.njoints)
    if out is None:
        out = np.empty((n, model.nv))
    elif (
        not isinstance(out, np.ndarray)
        or out.dtype != np.float64
        or not out.flags.c_contiguous
        or not out.flags.writeable
    ):
        given = f"{out.dtype} array" if isinstance(out, np.ndarray) else type(out).__name__
        raise ArgumentTypeError(f"out must be a writable, contiguous float64 array, got a {given}. Leave it out.")
    elif out.shape != (n, model.nv):
        raise ShapeError(f"out has shape {out.shape}, expected ({n}, {model.nv}).")
    else:  # rows that are still to be read must not be overwritten
        q, v, x, forces = (given.copy() if np.may_share_memory(given, out) else given for given in (q, v, x, forces))
    if n == 0:
        return out
    if not JIT:
        return _one_by_one(model, single, q, v, x, forces, out)
    rows.compile()  # before the threads start: compiling is not theirs to race for
    share = -(-n // (int(threads) * LANES)) * LANES
    parts = [(first, min(first + share, n)) for first in range(0, n, share)]

    def work(part: tuple[int, int]) -> None:
        sizes = (model._tables.work_size, model.nq, model.nv, model.nv, model.nv + forces.shape[1], model.nv)
        rows.fast(
            model._index, model._params, *(np.zeros((size, LANES)) for size in sizes), q, v, x, forces, out, *part
        )

    if len(parts) == 1:
        work(parts[0])
    else:
        with ThreadPoolExecutor(len(parts)) as pool:
            list(pool.map(work, parts))
    return out


def _one_by_one(
    model: ClusterModel,
    single: Kernel,
    q: np.ndarray,
    v: np.ndarray,
    x: np.ndarray,
    forces: np.ndarray,
    out: np.ndarray,
) -> np.ndarray:
    """Run without packs: they are LLVM's own, and there is no LLVM when the JIT is off."""
    data = model.createData()
    keep = np.zeros(model.nv + forces.shape[1])
    pointer = Pointer(model._index, model._params, data._work, keep)
    for n in range(q.shape[0]):
        keep[model.nv :] = forces[n]
        single.call(pointer, q[n], v[n], x[n], out[n])
    return out


def _numbers(name: str, x: Any) -> np.ndarray:
    try:
        given = np.asarray(x)
    except ValueError as error:
        raise ArgumentTypeError(f"{name} is not an array of numbers: {error}.") from None
    if given.dtype.kind not in "fiub":
        raise ArgumentTypeError(f"{name} must hold real numbers, got {given.dtype} ({type(x).__name__}).")
    return plain(given)


def _table(model: ClusterModel, name: str, x: Any, rows: int | None, columns: int, what: str) -> np.ndarray:
    """Return x as contiguous rows.

    Raises:
        ShapeError: It has another shape.
    """
    given = _numbers(name, x)
    if given.ndim != 2 or given.shape[1] != columns or (rows is not None and given.shape[0] != rows):
        expected = f"({'N' if rows is None else rows}, {columns})"
        hint = ""
        if given.ndim == 2 and given.shape[1] == model.tree.nv and columns == model.nv:
            hint = f" That is the size of the spanning tree: take {name}[:, model.idx_v_independent]."
        raise ShapeError(f"{name} has shape {given.shape}, but model {model.name!r} needs {expected}, {what}.{hint}")
    return given
