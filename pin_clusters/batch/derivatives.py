"""Derivatives of inverse and forward dynamics for many states."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .._support.arrays import ArrayLike, on_a_page
from ..algorithms.dynamics.derivatives import computeABADerivatives as single_computeABADerivatives
from ..algorithms.dynamics.derivatives import computeRNEADerivatives as single_computeRNEADerivatives
from ..compiler import entry_points as kernels
from ..compiler.choice import functions_of
from ..compiler.machine_code.machine import lanes_of_host
from ..compiler.operations import RNEA_DERIVATIVES, STATE_FUNCTIONS_BY_NAME
from ..model import ClusterModel, DerivativeMemory, with_loops
from ._marks import OPEN, SINGULAR, settle
from ._packs import of_row
from ._program import Each, Program, Workspace, programmed, run_each
from ._sharing import Run, share
from ._tables import Batch, documented, forces, on_device, on_gpu_rows, states
from .dynamics import aba

Matrices = tuple[np.ndarray, np.ndarray, np.ndarray]


@documented
def computeRNEADerivatives(
    model: ClusterModel,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    fext: Any = None,
    *,
    threads: int = 1,
    out: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    status: np.ndarray | None = None,
) -> Matrices:
    """Compute the derivatives of inverse dynamics for N motions.

    Args:
        out: Three arrays of shape (N, nv, nv) for the results.

    Returns:
        Derivatives of the torques with respect to q and v, and the mass matrices, each of shape (N, nv, nv), in the
        units of ``pc.computeRNEADerivatives``. If ``out`` was passed, its arrays are returned.

    References:
        docs/algorithms.md, (V1) to (V8).

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> q, v = np.tile(pc.neutral(model), (5, 1)), np.ones((5, 1))
        >>> [x.shape for x in pc.batch.computeRNEADerivatives(model, q, v, v)]
        [(5, 1, 1), (5, 1, 1), (5, 1, 1)]
    """
    return _run(single_computeRNEADerivatives, model, q, (("v", v), ("a", a)), fext, threads, out, status)


@documented
def computeABADerivatives(
    model: ClusterModel,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    fext: Any = None,
    *,
    threads: int = 1,
    out: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None,
    status: np.ndarray | None = None,
) -> Matrices:
    """Compute the derivatives of forward dynamics for N states.

    Args:
        out: Three arrays of shape (N, nv, nv) for the results.

    Returns:
        Derivatives of the accelerations with respect to q and v, and the inverse mass matrices, each of shape (N, nv,
        nv), in the units of ``pc.computeABADerivatives``. If ``out`` was passed, its arrays are returned.

    References:
        docs/algorithms.md, (V1) to (V9).

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> q, v = np.tile(pc.neutral(model), (5, 1)), np.ones((5, 1))
        >>> [x.shape for x in pc.batch.computeABADerivatives(model, q, v, v)]
        [(5, 1, 1), (5, 1, 1), (5, 1, 1)]
    """
    return _run(single_computeABADerivatives, model, q, (("v", v), ("tau", tau)), fext, threads, out, status)


def _run(
    single: Callable[..., Any],
    model: ClusterModel,
    q: Any,
    velocities: tuple[tuple[str, Any], ...],
    fext: Any,
    threads: Any,
    out: Any,
    status: Any,
) -> Matrices:
    function = STATE_FUNCTIONS_BY_NAME[single.__name__]
    arguments = [*states(model, q, *velocities), *forces(model, fext)]
    if on_gpu_rows(arguments):
        return on_device(function.name, model, arguments, out, status, **({} if fext is None else {"fext": True}))
    nv, inverse = model.nv, function.operation is RNEA_DERIVATIVES
    arrays = [None] * 3 if out is None else list(out)
    results = [(label, x, (nv, nv)) for label, x in zip(function.gives.split(), arrays, strict=True)]
    work = model.tables.work.size + model.tables.rates + 8 * nv * nv
    batch = Batch(
        function.name, model, arguments, threads, status, *results, work=work, rows_of_work=0 if inverse else nv
    )
    first, second, last = batch.out
    if batch.rows == 0:
        return first, second, last
    in_python, forced = not kernels.JIT or model.tables.supplies, fext is not None
    special = None if in_python else functions_of(model)
    if special is not None and (traced := special.rows(function.name, forced=forced)).chosen:
        _traced(traced, batch, inverse)
    else:
        begin = None if in_python else _each(batch, model, inverse, forced)
        run_each(batch, begin, of_row(batch, single, forced), level=3)
    return first, second, last


def _accelerations(batch: Batch, status: np.ndarray) -> np.ndarray:
    q, v, tau, *forces = batch.tables
    wrenches = [x.reshape(batch.rows, -1, 6) for x in forces]
    return aba(batch.model, q, v, tau, *wrenches, threads=batch.threads, status=status)


def _traced(code: Any, batch: Batch, inverse: bool) -> None:
    q, v, x, *forces = batch.tables
    before = np.zeros(batch.rows, dtype=np.int8)
    if not inverse:
        x = _accelerations(batch, before)
    pointers = [y.ctypes.data for y in (q, v, x, *forces, *batch.out, batch.status)]
    share(batch.rows, batch.threads, lanes_of_host(), lambda: lambda first, last: code.run(*pointers, first, last))
    batch.status[before != 0] = before[before != 0]
    settle(batch, 4)


def _each(batch: Batch, model: ClusterModel, inverse: bool, forced: bool) -> Callable[[], Run]:
    q, v, x, *forces = batch.tables
    nv = model.nv
    if not inverse:
        x = _accelerations(batch, np.zeros(batch.rows, dtype=np.int8))
    acting: Any = np.zeros(0)
    if forced:
        acting = np.concatenate([np.zeros((batch.rows, nv)), forces[0]], axis=1)
        acting = Each(acting, (acting.shape[1],))
    kernel = kernels.of(RNEA_DERIVATIVES.name, with_loops(model))
    for out in batch.out:
        out[...] = 0.0  # kernels do not write entries that couple separate branches of the tree; these are zero
    row = Each(q, (model.nq,))
    outputs, empty = [Each(out, (nv * nv,)) for out in batch.out], np.zeros(0)

    def write(program: Program) -> None:
        (rates,) = on_a_page(np.zeros(model.tables.rates))
        workspace, memory = Workspace(model), DerivativeMemory(model.nq, nv, model.tables.velocities, rates)
        tables = workspace.tables(memory.rates)
        state = row, Each(v, (nv,))
        if inverse:
            program.call(kernel, SINGULAR, tables, *state, Each(x, (nv,)), acting, memory.tau, *outputs, empty)
        else:
            matrices = [m.reshape(-1) for m in (memory.dtau_dq, memory.dtau_dv, memory.scratch)]
            program.call(
                kernels.aba_derivatives, SINGULAR, tables, 0, 0, kernel.address(), memory.tree, memory.sides,
                memory.factors, *state, empty, Each(x, (nv,)), acting, memory.tau, *matrices, empty, *outputs,
            )  # fmt: skip
        if model.closures:
            program.call(kernels.openness, OPEN, workspace.tables(np.zeros(1)), row)

    return programmed(batch, write)
