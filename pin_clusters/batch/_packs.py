"""Dynamics of many states: packs of them in code of the robot's own, or one by one by the kernels of one state.

Rows may be other robots each: with numbers of the robot that are given per row.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from ..compiler import entry_points as kernels
from ..compiler.choice import functions_of
from ..compiler.machine_code.machine import lanes_of_host
from ..compiler.operations import STATE_FUNCTIONS_BY_NAME, Function
from ..compiler.tracing import trace, values_of
from ..compiler.tracing.numbers import checked
from ..errors import ArgumentTypeError
from ..kernels.tables.layout import CONDITION_LIMIT
from ..kernels.tables.layout import OPEN as FAR
from ..model import ClusterModel, with_loops
from ._marks import NOT_FINITE, OPEN, SINGULAR, all_one_by_one, finish, settle
from ._program import Each, Program, Room, programmed, run_each
from ._sharing import Run, share
from ._tables import Batch, Given, forces, on_device, states, there


def run(
    single: Callable[..., Any],
    model: ClusterModel,
    q: Any,
    velocities: tuple[tuple[str, Any], ...],
    fext: Any,
    threads: Any,
    out: Any,
    status: Any,
    parameters: Any = None,
) -> np.ndarray:
    """Run a function of one state for rows, packs of them at a time.

    ``velocities``: names and rows of what else there is of a state; ``parameters``: the same of the robot's numbers.
    """
    name = single.__name__
    one = STATE_FUNCTIONS_BY_NAME[name]
    of_matrices = one.operation.result == "matrix"
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
    shape = (model.nv, model.nv) if of_matrices else (model.nv,)
    room = model.tables.work.size + model.nv**2
    batch = Batch(name, model, given, threads, status, ("out", out, shape), work=room)
    (result,) = batch.out
    if batch.rows == 0 or model.nv == 0:
        return result
    special = functions_of(model)
    if names and (special is None or model.tables.supplies):
        run_program(batch, name, names, forced=fext is not None)
        return result
    if not kernels.JIT or model.tables.supplies:
        all_one_by_one(batch, of_row(batch, single, fext is not None), 3)
        return result
    if special is not None:
        traced = special.rows(name, forced=fext is not None, parameters=names)
        if traced.chosen:
            share(batch.rows, batch.threads, lanes_of_host(), partial(_begin, traced, batch))
            settle(batch, 3)
            return result
        if names:
            run_program(batch, name, names, forced=fext is not None)
            return result
    if of_matrices:
        result[...] = 0.0  # kernels leave out entries between branches
    of_one = of_row(batch, single, fext is not None)
    run_each(batch, programmed(batch, partial(_write, batch, one)) if fext is None else None, of_one, level=3)
    return result


def _write(batch: Batch, one: Function, program: Program) -> None:
    """Write the call of the kernel of one state."""
    model, (result,) = batch.model, batch.out
    given, zeros = iter(batch.tables), np.zeros(model.nv)
    names = [name for name in one.takes.split() if name != "[fext]"]
    state = [zeros if name == "0" else Each(x := next(given), x.shape[1:]) for name in names]
    tables = Room(model).tables(np.zeros(max(1, result[0].size)))
    kernel = kernels.of(one.operation.name, with_loops(model))
    program.call(kernel, SINGULAR, tables, *state, Each(result, result.shape[1:]))
    if model.closures:
        program.call(kernels.openness, OPEN, tables, state[0])


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


_WHAT = {"gravity": "acceleration of gravity", "inertial": "pc.parameters(model)", "ratios": "ratios of the robot"}


def given_of(model: ClusterModel, function: str, parameters: Any, rows: int | None) -> list[Given]:
    """Return numbers of robots, by name, as arguments with a row per state, in the order of traces.

    ``rows`` is None if they are elsewhere: then one row for all is not repeated.

    Raises:
        ArgumentTypeError: They are no mapping.
        UnknownNameError: There are no such numbers.
        NotAvailableError: They cannot be given together.
    """
    if not isinstance(parameters, Mapping):
        raise ArgumentTypeError(
            f"parameters must be a dict of arrays, such as {{'ratios': rows}}, got {type(parameters).__name__}."
        )
    found = []
    for name in checked(model, function, tuple(parameters)):
        value, size = parameters[name], len(values_of(model, name))
        if rows is not None and np.ndim(value) == 1 and np.shape(value) == (size,):
            value = np.tile(np.asarray(value, dtype=float), (rows, 1))
        found.append(Given(name, value, (size,), _WHAT[name]))
    return found


def run_program(batch: Batch, function: str, names: tuple[str, ...], *, forced: bool) -> None:
    """Compute all rows with NumPy, column by column: where no machine code can be made; ``names`` of the numbers."""
    program = trace(batch.model, function, fext=forced, parameters=names, status=True)
    found = program(*batch.tables)
    result, (pivot, *loops) = found[0], found[1:]
    batch.out[0][...] = result.reshape(batch.out[0].shape)
    with np.errstate(all="ignore"):
        bad = ~(pivot[:, 0] > 0.0)
        if loops:
            bad |= ~(loops[0][:, 0] < CONDITION_LIMIT)
        batch.status[bad] = SINGULAR
        if loops:
            batch.status[~(loops[1][:, 0] < FAR)] = OPEN
    batch.status[~np.isfinite(np.concatenate(batch.tables, axis=1)).all(axis=1)] = NOT_FINITE
    finish(batch, 4)
