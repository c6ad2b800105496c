"""Integration of many configurations, and their projection onto the constraints."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._support.trees import in_q, in_v
from ..compiler import entry_points as kernels
from ..compiler.choice import code_of, functions_of
from ..kernels.tables import plan as at
from ..model import ClusterModel, loops_of
from ..model.configuration import integrate as single_integrate
from ..model.configuration import project as single_project
from ..model.configuration.manifold import manifold
from ..model.configuration.points import held_joints
from ..simulation._plan import can_move, plan_of
from ._cache import cached
from ._marks import MOVES, OPEN, PROJECTIONS
from ._program import Each, Program, Workspace, programmed, run_each
from ._tables import Batch, documented, on_device, on_gpu_rows, states


@documented
def integrate(
    model: ClusterModel,
    q: ArrayLike,
    v: ArrayLike,
    *,
    threads: int = 1,
    out: np.ndarray | None = None,
    status: np.ndarray | None = None,
) -> np.ndarray:
    """Integrate N configurations along independent velocities for unit time, like ``pc.integrate``.

    Args:
        v: Independent velocities times the time step, shape (N, nv), [rad] or [m].
        status: Array for the status of each row, shape (N,), int8. 0: valid; 1: a loop cannot be closed after the step;
            3: the input is not finite. Failed rows are NaN. If ``status`` is None, a warning reports failed rows.

    Returns:
        Configurations that satisfy the constraints, shape (N, nq), [rad] or [m], in ``out`` or a new array.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.batch.integrate(model, np.tile(pc.neutral(model), (2, 1)), np.array([[0.0], [0.5]])).round(4)
        array([[ 0.    ,  0.    ,  0.    ],
               [ 0.5   , -0.6182,  0.0749]])
    """
    arguments = states(model, q, ("v", v))
    if on_gpu_rows(arguments):
        return on_device("integrate", model, arguments, out, status)
    work = model.tables.work.size + 3 * model.nq
    batch = Batch("integrate", model, arguments, threads, status, ("out", out, (model.nq,)), work=work)
    result, (q, v), functions = batch.out[0], batch.tables, functions_of(model)

    def write(program: Program) -> None:
        tables, calls = Workspace(model).tables(np.zeros(1)), np.zeros(at.CALLS, dtype=np.int64)
        if model.closures:
            calls[[at.MOVE, at.MOVE_AT]] = code_of(functions, kernels.move).address(), tables.address
        spare, held = np.zeros((2, model.nq))
        program.call(
            kernels.moved,
            OPEN,
            tables,
            calls,
            *plan_of(model),
            Each(q, (model.nq,)),
            Each(v, (model.nv,)),
            Each(result, (model.nq,)),
            spare,
            held,
        )

    def of_row(n: int) -> np.ndarray:
        return single_integrate(model, q[n], v[n])

    compiled = kernels.JIT and can_move(model)
    run_each(batch, programmed(batch, write) if compiled else None, of_row, MOVES)
    return result


@documented
def project(
    model: ClusterModel,
    q: ArrayLike,
    hold: str | Sequence[str] = (),
    *,
    threads: int = 1,
    out: np.ndarray | None = None,
    status: np.ndarray | None = None,
) -> np.ndarray:
    """Project N configurations onto the constraints, like ``pc.project``.

    Rows in which a loop has a large gap are projected by the slower method of ``pc.project``, in one thread.

    Args:
        q: Configurations of the spanning tree, shape (N, nq); they may violate the constraints.
        hold: Names of joints that stay fixed.
        status: Array for the status of each row, shape (N,), int8. 0: valid; 1: no solution of the constraints was
            found, or a quaternion or (cos, sin) pair is zero; 3: the input is not finite. Failed rows are NaN. If
            ``status`` is None, a warning reports failed rows.

    Returns:
        Configurations that satisfy the constraints, shape (N, nq), [rad] or [m], in ``out`` or a new array.

    Raises:
        UnknownNameError: ``hold`` contains an unknown joint.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> q = pc.batch.project(model, np.array([[0.5, 0.0, 0.0], [0.3, 0.0, 0.0]]), hold="crank")
        >>> bool(np.abs(pc.residual(model, q[0])).max() < 1e-9), q[:, 0].tolist()
        (True, [0.5, 0.3])
    """
    arguments, ids = states(model, q), held_joints(model, hold)
    if on_gpu_rows(arguments):
        return on_device("project", model, arguments, out, status)
    work = model.tables.work.size + 5 * model.nq
    batch = Batch("project", model, arguments, threads, status, ("out", out, (model.nq,)), work=work)
    result, (q,), functions = batch.out[0], batch.tables, functions_of(model)
    terms = cached(model, ("project", ids), lambda: _terms_of(model, ids)) if kernels.JIT else None
    held = np.zeros(model.own_tree.nv)
    held[[iv for j in ids for iv in in_v(model.own_tree, j)]] = 1.0

    def write(program: Program) -> None:
        assert terms is not None
        close = code_of(functions, kernels.project).address() if model.closures else 0
        program.call(
            kernels.projected,
            OPEN,
            Workspace(model).tables(np.zeros(1)),
            close,
            terms.units,
            terms.places,
            terms.numbers,
            held,
            Each(q, (model.nq,)),
            np.zeros(terms.size),
            Each(result, (model.nq,)),
        )

    def of_row(n: int) -> np.ndarray:
        return single_project(model, q[n], hold)

    run_each(batch, programmed(batch, write) if terms else None, of_row, PROJECTIONS, retry=True)
    return result


@dataclass(frozen=True)
class _Terms:
    """The shortest projection onto the couplings as a list of terms, which ``row_results.projected_at`` evaluates.

    The terms refer to entries of a work array, which contains the configuration, the residuals and the result.
    """

    units: np.ndarray  # shape (n, 2): first index and length of each quaternion or (cos, sin) pair
    places: np.ndarray  # shape (terms, 2): indices (k, i) of x[k] += number * x[i]; if i is -1, x[k] = number
    numbers: np.ndarray  # shape (terms,)
    size: int  # length of the work array


def _terms_of(model: ClusterModel, held: tuple[int, ...]) -> _Terms | None:
    """Return the terms for fixed joints with the ids ``held``; None if the kernel cannot compute the projection."""
    shape, tree = manifold(model), model.own_tree
    if not shape.linear or (model.closures and not loops_of(model).compiled):
        return None
    path, nq = shape.way(model, held), model.nq
    if path.rest is not None or len(path.outside) < len(shape.followers):
        return None
    first, result = nq, nq + len(path.outside)
    terms: list[tuple[int, int, float]] = []
    constant_rows, rows, columns = path.residual.at, path.residual.to, path.residual.of
    terms += [(first + k, -1, c) for k, c in zip(constant_rows.tolist(), path.residual.constants.tolist(), strict=True)]
    terms += [
        (first + k, i, c) for k, i, c in zip(rows.tolist(), columns.tolist(), path.residual.coefficients, strict=True)
    ]
    entry = {f.iv: f.iq for f in path.outside} | {iv: iq for f in path.outside for iq, _, iv, _ in f.masters}
    step = path.step
    moves = zip(step.to.tolist(), step.of.tolist(), step.coefficients.tolist(), strict=True)
    terms += [(result + entry[iv], first + k, c) for iv, k, c in moves]
    follow = shape.affine if path.outside else None
    if follow is not None:
        terms += [(result + i, -1, c) for i, c in zip(follow.at.tolist(), follow.constants.tolist(), strict=True)]
        leads = zip(follow.to.tolist(), follow.of.tolist(), follow.coefficients.tolist(), strict=True)
        terms += [(result + i, result + k, c) for i, k, c in leads]
        # The coordinates of fixed joints are copied from the input, because rounding would otherwise change them.
        for i in (i for j in held for i in in_q(tree, j)):
            terms += [(result + i, -1, 0.0), (result + i, i, 1.0)]
    units = np.array([(a, b - a) for _, a, b in shape.units], dtype=np.int64).reshape(-1, 2)
    places = np.array([x[:2] for x in terms], dtype=np.int64).reshape(-1, 2)
    return _Terms(units, places, np.array([x[2] for x in terms], dtype=np.float64), result + nq)
