"""Mass matrices, their inverses, and what tasks feel, of many states."""

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
from ._kept import kept
from ._marks import OPEN, SINGULAR
from ._packs import run
from ._program import Each, Program, Room, programmed, run_each
from ._tables import Batch, documented, on_device, states, there


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
        Mass matrices of the independent joints, shape (N, nv, nv), each symmetric; ``out`` if it was given.

    References:
        Chignoli et al., arXiv 2311.13732; Featherstone 2008 (CRBA).
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
    """Compute the inverses of the mass matrices of N configurations, in O(nv^2) each.

    Returns:
        Inverse mass matrices of the independent joints, shape (N, nv, nv), each symmetric; ``out`` if it was given.

    References:
        Chignoli et al., arXiv 2311.13732 (C-ABA), applied to unit torques.
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
    """Compute the inverse operational-space inertia J M^-1 J' of frames, of N configurations.

    Args:
        frames: Names or ids of frames.
        reference: Axes and points of the forces: ``pin.LOCAL``, ``pin.WORLD`` or ``pin.LOCAL_WORLD_ALIGNED``.
        rows: Which of the 6 len(frames) rows, as for ``pc.inverse_operational_inertia``.

    Returns:
        Shape (N, rows, rows), each symmetric; ``out`` if it was given.

    Raises:
        UnknownNameError: There is no such frame.

    References:
        Chignoli et al., arXiv 2311.13732 (C-EFPA).
    """
    given = states(model, q)
    if there(given):
        if rows is not None:
            raise NotAvailableError("rows= is not available on a GPU: take them of the result of all.")
        return on_device("inverse_operational_inertia", model, given, out, status, frames=frames, reference=reference)
    question = _columns.plan_key("frames", frames, reference, rows)
    plan = kept(model, question, lambda: _columns.plan_of_frames(model, frames, reference, rows))
    size = plan.tasks
    work = model.tables.work.size + plan.numbers.size + plan.panel.size
    batch = Batch("inverse_operational_inertia", model, given, threads, status, ("out", out, (size, size)), work=work)
    result, (q,) = batch.out[0], batch.tables
    kernel, row = kernels.of("columns", with_loops(model)), Each(q, (model.nq,))

    def write(program: Program) -> None:
        tables = Room(model).tables(np.zeros(max(1, model.nv**2)))
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

    run_each(batch, programmed(batch, write) if compiled else None, of_row, look=False)
    return result
