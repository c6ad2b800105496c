"""Functions that have kernels for packs of states, as their operations declare."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .._engine import entry_points as kernels
from .._engine.choice import functions_of
from .._engine.operations import FUNCTIONS, Function
from ..model import ClusterModel, with_loops
from ._device import on_device, there
from ._marks import all_one_by_one, settle
from ._robots import given_of, run_program
from ._room import PackRooms
from ._sharing import Run, share
from ._tables import Batch, Given, forces, states


def _packed(one: Function) -> tuple[tuple[kernels.Kernel, kernels.Kernel], str, bool]:
    """Return kernels without and with closed loops, use of workspaces, and whether it gives matrices."""
    operation = one.operation
    plain, loops = (kernels.of(operation.name, closed, rows=True) for closed in (False, True))
    assert operation.rows is not None
    return (plain, loops), operation.rows.maker, operation.result == "matrix"


_PACKED = {one.name: _packed(one) for one in FUNCTIONS if one.operation.rows is not None}


def run(
    single: Callable[..., Any], model: ClusterModel, q: Any, velocities: tuple[tuple[str, Any], ...], fext: Any,
    threads: Any, out: Any, status: Any, parameters: Any = None,
) -> np.ndarray:  # fmt: skip
    """Run a function for rows, packs of them at a time.

    Args:
        single: The function of one state.
        model: Cluster model.
        q: Configurations.
        velocities: What else there is of a state: names and rows.
        fext: External forces, or None.
        threads: How many share the rows.
        out: Where to write the result, or None.
        status: Where to write what became of the rows, or None.
        parameters: Numbers of the robot per row, by name, or None.
    """
    name = single.__name__
    both_kernels, use, of_matrices = _PACKED[name]
    given = states(model, q, *velocities)
    if fext is not None:
        given += forces(model, fext)
    elsewhere, numbers, names = there(given), list[Given](), tuple[str, ...]()
    if parameters is not None:
        numbers = given_of(model, name, parameters, None if elsewhere else np.shape(q)[0] if np.ndim(q) else 0)
        names = tuple(x.name for x in numbers)
        given += numbers
    if elsewhere:
        options = {"fext": True} if fext is not None else {}
        return on_device(name, model, given, out, status, **options, **({"parameters": names} if names else {}))
    lanes, nq, nv, wide = kernels.lanes(), model.nq, model.nv, 0 if fext is None else 6 * model.njoints
    # what becomes of the rows is told through the line of results, which a robot without joints has too
    lines = (nq, nv * nv, 2) if of_matrices else (nq, nv, nv, nv + wide, max(1, nv))
    shape = (nv, nv) if of_matrices else (nv,)
    room = lanes * (model._tables.work.size + sum(lines))
    batch = Batch(name, model, given, threads, status, ("out", out, shape), work=room)
    (result,) = batch.out
    if batch.rows == 0:
        return result
    special = functions_of(model)
    if names and (special is None or model._tables.supplies):
        run_program(batch, name, names, forced=fext is not None)
        return result
    if not kernels.JIT or model._tables.supplies:
        all_one_by_one(batch, of_row(batch, single, fext is not None), 3)
        return result
    kernel = both_kernels[with_loops(model)]
    if special is not None:
        traced = special.rows(name, forced=fext is not None, parameters=names)
        if traced.chosen:
            share(batch.rows, batch.threads, lanes, partial(_begin, traced, batch))
            settle(batch, 3)
            return result
        if names:
            run_program(batch, name, names, forced=fext is not None)
            return result
    compiled, rows = kernel.function(), list(batch.tables)
    if not of_matrices:
        if len(velocities) < 2:  # the kernel takes the last row for those that are not there: zeros are the same in all
            rows.insert(2, np.zeros((1, nv)))
        if fext is None:
            rows.append(np.zeros((batch.rows, 0)))
    rows.append(result.reshape(batch.rows, nv * nv) if of_matrices else result)
    rooms = PackRooms(model, use, lines)

    def begin() -> Run:
        tables = (model._index, model._params, *rooms.take(), *rows, batch.status)
        return lambda first, last: compiled(*tables, first, last)

    share(batch.rows, batch.threads, lanes, begin)
    rooms.give_back()
    settle(batch, 3)
    return result


def _begin(special: Any, batch: Batch) -> Run:
    """Return what runs rows in code of the robot's own."""
    pointers = [x.ctypes.data for x in (*batch.tables, *batch.out, batch.status)]
    return lambda first, last: special.run(*pointers, first, last)


def of_row(batch: Batch, single: Callable[..., Any], forced: bool) -> Callable[[int], Any]:
    """Return the function of one state as one of the number of a row; the last table may be external forces."""
    data = None

    def run_row(n: int) -> Any:
        nonlocal data
        data = data or batch.model.createData()
        rows = [table[n] for table in batch.tables]
        if forced:
            rows[-1] = rows[-1].reshape(-1, 6)
        return single(batch.model, data, *rows)

    return run_row
