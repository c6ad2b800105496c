"""Functions that have kernels for packs of states, as their operations declare."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .._engine import entry_points as kernels
from .._engine.operations import BY_NAME
from ..model import ClusterModel, with_loops
from ._device import on_device, there
from ._marks import all_one_by_one, settle
from ._room import PackRooms
from ._sharing import Run, share
from ._tables import Batch, forces, states


def run(
    single: Callable[..., Any], model: ClusterModel, q: Any, velocities: Mapping[str, Any], fext: Any, threads: Any,
    out: Any, status: Any,
) -> np.ndarray:  # fmt: skip
    """Run a function for rows, packs of them at a time.

    Args:
        single: The function of one state.
        model: Cluster model.
        q: Configurations.
        velocities: What else there is of a state, by name.
        fext: External forces, or None.
        threads: How many share the rows.
        out: Where to write the result, or None.
        status: Where to write what became of the rows, or None.
    """
    one = BY_NAME[single.__name__]
    operation, of_matrices = one.operation, one.operation.result == "matrix"
    assert operation.rows is not None
    given = [*states(model, q, *velocities.items()), *forces(model, fext)]
    if there(given):
        return on_device(one.name, model, given, out, status, **({} if fext is None else {"fext": True}))
    lanes, nv, wide = kernels.lanes(), model.nv, 6 * model.njoints * (fext is not None)
    # what becomes of the rows is told through the line of results, which a robot without joints has too
    lines = (model.nq, nv * nv, 2) if of_matrices else (model.nq, nv, nv, nv + wide, max(1, nv))
    shape = (nv, nv) if of_matrices else (nv,)
    room = lanes * (model._tables.work.size + sum(lines))
    batch = Batch(one.name, model, given, threads, status, ("out", out, shape), work=room)
    (result,) = batch.out
    if batch.rows == 0:
        return result
    if not kernels.JIT or model._tables.supplies:
        all_one_by_one(batch, of_row(batch, single, fext is not None), 3)
        return result
    kernel = kernels.of(operation.name, with_loops(model), rows=True)
    special = None
    if model._functions is not None and fext is None and not of_matrices:
        special = model._functions.rows(one.tables)

    def begin_special() -> Run:
        assert special is not None
        pointers = [x.ctypes.data for x in (*batch.tables, result, batch.status)]
        return lambda first, last: special.run(*pointers, first, last)

    undecided = special is not None and kernel.fast is not None and special.is_open(batch.rows)
    if special is not None and special.chosen and not undecided:
        share(batch.rows, batch.threads, lanes, begin_special)
        settle(batch, 3)
        return result
    compiled, rows = kernel.function(), list(batch.tables)
    if not of_matrices:
        if len(velocities) < 2:  # the kernel takes the last row for those that are not there: zeros are the same in all
            rows.insert(2, np.zeros((1, nv)))
        if fext is None:
            rows.append(np.zeros((batch.rows, 0)))
    rows.append(result.reshape(batch.rows, math.prod(shape)))
    rooms = PackRooms(model, operation.rows.maker, lines)

    def begin() -> Run:
        tables = (model._index, model._params, *rooms.take(), *rows, batch.status)
        return lambda first, last: compiled(*tables, first, last)

    if special is not None and undecided:
        special.meet(begin_special(), begin())
    share(batch.rows, batch.threads, lanes, begin_special if special is not None and special.chosen else begin)
    rooms.give_back()
    settle(batch, 3)
    return result


def of_row(batch: Batch, single: Callable[..., Any], forced: bool) -> Callable[[int], Any]:
    """Return the function of one state as one of the number of a row; the last table may be external forces."""
    data = batch.model.createData()

    def run_row(n: int) -> Any:
        rows = [table[n] for table in batch.tables]
        if forced:
            rows[-1] = rows[-1].reshape(-1, 6)
        return single(batch.model, data, *rows)

    return run_row
