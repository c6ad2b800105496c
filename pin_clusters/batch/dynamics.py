"""Forward and inverse dynamics of many states, on SIMD packs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import entry_points as kernels
from ..algorithms.dynamics.aba import aba as single_aba
from ..algorithms.dynamics.rnea import nonLinearEffects as single_nonLinearEffects
from ..algorithms.dynamics.rnea import rnea as single_rnea
from ..model import ClusterModel, with_loops
from ._device import on_device, there
from ._docs import documented
from ._marks import all_one_by_one, settle
from ._room import PackRooms
from ._sharing import Run, share
from ._tables import Batch, forces, states

_PLAIN = {"rnea": kernels.rnea_rows, "aba": kernels.aba_rows}
_RESULTS = {"rnea": "tau", "aba": "ddq", "nonLinearEffects": "nle"}  # as specialised models call them
_LOOPS = {"rnea": kernels.rnea_loops_rows, "aba": kernels.aba_loops_rows}


@documented
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
    return _run("rnea", single_rnea, model, q, {"v": v, "a": a}, fext, threads, out, status)


@documented
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
    return _run("aba", single_aba, model, q, {"v": v, "tau": tau}, fext, threads, out, status)


@documented
def nonLinearEffects(
    model: ClusterModel,
    q: Any,
    v: Any,
    *,
    threads: int = 1,
    out: np.ndarray | None = None,
    status: np.ndarray | None = None,
) -> np.ndarray:
    """Compute the Coriolis, centrifugal, gyroscopic and gravity torques of N states: ``rnea`` at a = 0.

    Returns:
        Torques, shape (N, nv), [N m] or [N]; ``out`` if it was given.
    """
    return _run("nonLinearEffects", single_nonLinearEffects, model, q, {"v": v}, None, threads, out, status)


def _run(
    name: str, single: Any, model: ClusterModel, q: Any, velocities: dict[str, Any], fext: Any, threads: Any, out: Any,
    status: Any,
) -> np.ndarray:  # fmt: skip
    given = [*states(model, q, *velocities.items()), *forces(model, fext)]
    if there(given):
        return on_device(name, model, given, out, status, **({} if fext is None else {"fext": True}))
    lanes, wide = kernels.lanes(), 6 * model.njoints * (fext is not None)
    room = lanes * (model._tables.work.size + model.nq + 4 * model.nv + wide)
    batch = Batch(name, model, given, threads, status, ("out", out, (model.nv,)), work=room)
    result = batch.out[0]
    if batch.rows == 0:
        return result
    if not kernels.JIT or model._tables.supplies:
        data = model.createData()

        def of_row(n: int) -> Any:
            rows = [table[n] for table in batch.tables]
            if fext is not None:
                rows[-1] = rows[-1].reshape(-1, 6)
            return single(model, data, *rows)

        all_one_by_one(batch, of_row, 3)
        return result
    kernel = (_LOOPS if with_loops(model) else _PLAIN)["aba" if name == "aba" else "rnea"]
    special = None if model._functions is None or fext is not None else model._functions.rows(_RESULTS[name])

    def begin_special() -> Run:
        assert special is not None
        pointers = [x.ctypes.data for x in (*batch.tables, result, batch.status)]
        return lambda first, last: special.run(*pointers, first, last)

    undecided = special is not None and kernel.fast is not None and special.is_open(batch.rows)
    if special is not None and special.chosen and not undecided:
        share(batch.rows, batch.threads, lanes, begin_special)
        settle(batch, 3)
        return result
    run = kernel.function()
    q, v, *others = batch.tables
    # the kernel takes the last row for those that are not there: zeros are the same in all
    x = others.pop(0) if len(velocities) == 2 else np.zeros((1, model.nv))
    rows_of_forces = others[0] if others else np.zeros((batch.rows, 0))

    # what becomes of the rows is told through the line of results, which a robot without joints has too
    rooms = PackRooms(model, "dynamics", (model.nq, model.nv, model.nv, model.nv + wide, max(1, model.nv)))

    def begin() -> Run:
        tables = (model._index, model._params, *rooms.take(), q, v, x, rows_of_forces, result, batch.status)
        return lambda first, last: run(*tables, first, last)

    if special is not None and undecided:
        special.meet(begin_special(), begin())
    share(batch.rows, batch.threads, lanes, begin_special if special is not None and special.chosen else begin)
    rooms.give_back()
    settle(batch, 3)
    return result
