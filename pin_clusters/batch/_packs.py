"""Dynamics of many states, computed by robot-specific code for groups of rows, or by kernels for single rows.

Each row can have its own robot parameters.
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
from ._program import Each, Program, Workspace, programmed, run_each
from ._sharing import Run, share
from ._tables import Batch, RowArgument, forces, on_device, on_gpu_rows, states


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
    """Apply a function for one state to the rows of q, ``velocities`` (pairs of name and array) and ``parameters``."""
    name = single.__name__
    operation = STATE_FUNCTIONS_BY_NAME[name]
    of_matrices = operation.operation.result == "matrix"
    arguments = states(model, q, *velocities)
    if fext is not None:
        arguments += forces(model, fext)
    on_gpu, numbers, names = on_gpu_rows(arguments), list[RowArgument](), tuple[str, ...]()
    if parameters is not None:
        numbers = parameter_rows(model, name, parameters, None if on_gpu else np.shape(q)[0] if np.ndim(q) else 0)
        names = tuple(x.name for x in numbers)
        arguments += numbers
    if on_gpu:
        options = {"fext": True} if fext is not None else {}
        return on_device(name, model, arguments, out, status, **options, **({"parameters": names} if names else {}))
    shape = (model.nv, model.nv) if of_matrices else (model.nv,)
    work = model.tables.work.size + model.nv**2
    batch = Batch(name, model, arguments, threads, status, ("out", out, shape), work=work)
    (result,) = batch.out
    if batch.rows == 0 or model.nv == 0:
        return result
    functions = functions_of(model)
    if names and (functions is None or model.tables.supplies):
        run_program(batch, name, names, forced=fext is not None)
        return result
    if not kernels.JIT or model.tables.supplies:
        all_one_by_one(batch, of_row(batch, single, fext is not None), 3)
        return result
    if functions is not None:
        traced = functions.rows(name, forced=fext is not None, parameters=names)
        if traced.chosen:
            share(batch.rows, batch.threads, lanes_of_host(), partial(_begin, traced, batch))
            settle(batch, 3)
            return result
        if names:
            run_program(batch, name, names, forced=fext is not None)
            return result
    if of_matrices:
        result[...] = 0.0  # kernels do not write entries that couple separate branches of the tree; these are zero
    of_one = of_row(batch, single, fext is not None)
    run_each(batch, programmed(batch, partial(_write, batch, operation)) if fext is None else None, of_one, level=3)
    return result


def _write(batch: Batch, function: Function, program: Program) -> None:
    model, (result,) = batch.model, batch.out
    tables_of_state, zeros = iter(batch.tables), np.zeros(model.nv)
    names = [name for name in function.takes.split() if name != "[fext]"]
    state = [zeros if name == "0" else Each(x := next(tables_of_state), x.shape[1:]) for name in names]
    tables = Workspace(model).tables(np.zeros(max(1, result[0].size)))
    kernel = kernels.of(function.operation.name, with_loops(model))
    program.call(kernel, SINGULAR, tables, *state, Each(result, result.shape[1:]))
    if model.closures:
        program.call(kernels.openness, OPEN, tables, state[0])


def _begin(special: Any, batch: Batch) -> Run:
    pointers = [x.ctypes.data for x in (*batch.tables, *batch.out, batch.status)]
    return lambda first, last: special.run(*pointers, first, last)


def of_row(batch: Batch, single: Callable[..., Any], forced: bool) -> Callable[[int], Any]:
    """Return a function that calls ``single`` for a row number; if ``forced``, the last table contains forces."""
    data = None

    def run_row(n: int) -> Any:
        nonlocal data
        data = data or batch.model.createData()
        rows = [table[n] for table in batch.tables]
        if forced:
            rows[-1] = rows[-1].reshape(-1, 6)
        return single(batch.model, data, *rows)

    return run_row


_MEANING = {"gravity": "acceleration of gravity", "inertial": "pc.parameters(model)", "ratios": "ratios of the robot"}


def parameter_rows(model: ClusterModel, function: str, parameters: Any, rows: int | None) -> list[RowArgument]:
    """Convert parameters to arguments in the order of ``pc.trace``; repeat a vector for all rows, except on a GPU."""
    if not isinstance(parameters, Mapping):
        raise ArgumentTypeError(
            f"parameters must be a dict of arrays, such as {{'ratios': rows}}, got {type(parameters).__name__}."
        )
    arguments = []
    for name in checked(model, function, tuple(parameters)):
        value, size = parameters[name], len(values_of(model, name))
        if rows is not None and np.ndim(value) == 1 and np.shape(value) == (size,):
            value = np.tile(np.asarray(value, dtype=float), (rows, 1))
        arguments.append(RowArgument(name, value, (size,), _MEANING[name]))
    return arguments


def run_program(batch: Batch, function: str, names: tuple[str, ...], *, forced: bool) -> None:
    """Compute all rows with NumPy operations on columns, if machine code is not available."""
    program = trace(batch.model, function, fext=forced, parameters=names, status=True)
    results = program(*batch.tables)
    result, (pivot, *loops) = results[0], results[1:]
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
