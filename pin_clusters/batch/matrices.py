"""Mass matrices, their inverses, and inverse operational-space inertias for many states."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ..algorithms._shared import force_columns as _columns
from ..algorithms.dynamics.crba import crba as single_crba
from ..algorithms.dynamics.minverse import computeMinverse as single_computeMinverse
from ..algorithms.dynamics.operational import inverse_operational_inertia as single_inverse_operational_inertia
from ..compiler import entry_points as kernels
from ..errors import NotAvailableError
from ..model import ClusterModel, with_loops
from ._cache import cached
from ._marks import OPEN, SINGULAR
from ._packs import run
from ._program import Each, Program, Workspace, programmed, run_each
from ._tables import Batch, documented, on_device, on_gpu_rows, states


@documented
def crba(
    model: ClusterModel,
    q: ArrayLike,
    *,
    parameters: Mapping[str, Any] | None = None,
    threads: int = 1,
    out: np.ndarray | None = None,
    status: np.ndarray | None = None,
) -> np.ndarray:
    """Compute the mass matrices of N configurations.

    Returns:
        Symmetric mass matrices, shape (N, nv, nv), [kg m^2], [kg m] or [kg], in ``out`` or a new array.

    References:
        Chignoli et al., arXiv 2311.13732; Featherstone 2008 (CRBA); docs/algorithms.md, (C1) to (C3).

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.batch.crba(model, np.tile(pc.neutral(model), (2, 1))).shape
        (2, 1, 1)
    """
    return run(single_crba, model, q, (), None, threads, out, status, parameters)


@documented
def computeMinverse(
    model: ClusterModel,
    q: ArrayLike,
    *,
    parameters: Mapping[str, Any] | None = None,
    threads: int = 1,
    out: np.ndarray | None = None,
    status: np.ndarray | None = None,
) -> np.ndarray:
    """Compute the inverse mass matrices of N configurations. The cost of each matrix is O(nv^2).

    Returns:
        Symmetric matrices, shape (N, nv, nv), [1/(kg m^2)], [1/(kg m)] or [1/kg], in ``out`` or a new array.

    References:
        Chignoli et al., arXiv 2311.13732 (C-ABA) for unit torques; docs/algorithms.md, (A6) to (A10).

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.batch.computeMinverse(model, np.tile(pc.neutral(model), (2, 1))).shape
        (2, 1, 1)
    """
    return run(single_computeMinverse, model, q, (), None, threads, out, status, parameters)


@documented
def inverse_operational_inertia(
    model: ClusterModel,
    q: ArrayLike,
    frames: Sequence[str | int],
    reference: pin.ReferenceFrame = pin.LOCAL,
    rows: Any = None,
    *,
    threads: int = 1,
    out: np.ndarray | None = None,
    status: np.ndarray | None = None,
) -> np.ndarray:
    """Compute the inverse operational-space inertias J M^-1 J' of frames for N configurations.

    Args:
        frames: Names or ids of frames.
        reference: Reference frame of the Jacobians J: ``pin.LOCAL``, ``pin.WORLD`` or ``pin.LOCAL_WORLD_ALIGNED``.
        rows: Rows of J to use, as in ``pc.inverse_operational_inertia``; J has 6 len(frames) rows.

    Returns:
        Symmetric matrices, shape (N, rows, rows), [1/kg], [1/(kg m)] or [1/(kg m^2)], in ``out`` or a new array.

    Raises:
        UnknownNameError: The model has no such frame.

    References:
        Chignoli et al., arXiv 2311.13732 (C-EFPA); docs/algorithms.md, (O1) to (O4).

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("mit_humanoid_leg")
        >>> pc.batch.inverse_operational_inertia(model, np.tile(pc.neutral(model), (2, 1)), ["ankle"]).shape
        (2, 6, 6)
    """
    arguments = states(model, q)
    if on_gpu_rows(arguments):
        if rows is not None:
            raise NotAvailableError("rows= is not available on a GPU. Select the rows from the complete result.")
        return on_device(
            "inverse_operational_inertia", model, arguments, out, status, frames=frames, reference=reference
        )
    key = _columns.plan_key("frames", frames, reference, rows)
    plan = cached(model, key, lambda: _columns.plan_of_frames(model, frames, reference, rows))
    size = plan.tasks
    work = model.tables.work.size + plan.numbers.size + plan.panel.size
    batch = Batch(
        "inverse_operational_inertia", model, arguments, threads, status, ("out", out, (size, size)), work=work
    )
    result, (q,) = batch.out[0], batch.tables
    kernel, row = kernels.of("columns", with_loops(model)), Each(q, (model.nq,))

    def write(program: Program) -> None:
        tables = Workspace(model).tables(np.zeros(max(1, model.nv**2)))
        panel = np.zeros_like(plan.panel)
        program.call(
            kernel,
            SINGULAR,
            tables,
            row,
            plan.index,
            plan.numbers.copy(),
            panel,
            plan.B,
            Each(result, (size, size)),
            np.zeros(plan.shapes[1]),
        )
        if model.closures:
            program.call(kernels.openness, OPEN, tables, row)

    compiled = kernels.JIT and not model.tables.supplies
    data: Any = None if compiled else model.createData()

    def of_row(n: int) -> np.ndarray:
        return single_inverse_operational_inertia(model, data, q[n], frames, reference, rows)

    run_each(batch, programmed(batch, write) if compiled else None, of_row, check_results=False)
    return result
