"""Configurations that are moved, or put where they belong, many at once."""

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
from ._kept import kept
from ._marks import MOVES, OPEN, PROJECTIONS
from ._program import Each, Program, Room, programmed, run_each
from ._tables import Batch, documented, on_device, states, there


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
    """Move N configurations along independent velocities for unit time, each as ``pc.integrate`` does.

    Args:
        v: Independent velocities times the time step, shape (N, nv), [rad] or [m].
        status: Where to write what became of each row, shape (N,), int8: 0 it is good, 1 a loop cannot follow, 3 the
            input is not finite. Rows that are not good are NaN; without ``status`` a warning says how many were lost.

    Returns:
        Configurations on the couplings, shape (N, nq); ``out`` if it was given.
    """
    given = states(model, q, ("v", v))
    if there(given):
        return on_device("integrate", model, given, out, status)
    work = model.tables.work.size + 3 * model.nq
    batch = Batch("integrate", model, given, threads, status, ("out", out, (model.nq,)), work=work)
    result, (q, v), functions = batch.out[0], batch.tables, functions_of(model)

    def write(program: Program) -> None:
        tables, calls = Room(model).tables(np.zeros(1)), np.zeros(at.CALLS, dtype=np.int64)
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
    """Put N configurations on the couplings and closed loops, each as ``pc.project`` does.

    Loops that are far from closed take the slower way of ``pc.project``, one row after the other.

    Args:
        q: Configurations of the whole tree, shape (N, nq), off the couplings or not.
        hold: Names of joints that stay where they are.
        status: Where to write what became of each row, shape (N,), int8: 0 it is good, 1 the couplings or loops cannot
            be fulfilled, or a quaternion or (cos, sin) pair is zero, 3 the input is not finite. Rows that are not good
            are NaN; without ``status`` a warning says how many failed.

    Returns:
        Configurations on the couplings, shape (N, nq); ``out`` if it was given.

    Raises:
        UnknownNameError: No joint has a name in ``hold``.
    """
    given, ids = states(model, q), held_joints(model, hold)
    if there(given):
        return on_device("project", model, given, out, status)
    work = model.tables.work.size + 5 * model.nq
    batch = Batch("project", model, given, threads, status, ("out", out, (model.nq,)), work=work)
    result, (q,), functions = batch.out[0], batch.tables, functions_of(model)
    terms = kept(model, ("project", ids), lambda: _terms_of(model, ids)) if kernels.JIT else None
    held = np.zeros(model.own_tree.nv)
    held[[iv for j in ids for iv in in_v(model.own_tree, j)]] = 1.0

    def write(program: Program) -> None:
        assert terms is not None
        close = code_of(functions, kernels.project).address() if model.closures else 0
        program.call(
            kernels.projected,
            OPEN,
            Room(model).tables(np.zeros(1)),
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

    run_each(batch, programmed(batch, write) if terms else None, of_row, PROJECTIONS, again=True)
    return result


@dataclass(frozen=True)
class _Terms:
    """The shortest way onto couplings, as ``row_results.projected_at`` adds it up.

    What is done to a configuration, in an array that has it, residuals and the result.
    """

    units: np.ndarray  # first entry and length of what must have unit norm
    # to which entry each term is added, and of which one it is a multiple; the latter is negative if the entry is set
    places: np.ndarray
    numbers: np.ndarray  # one per term
    size: int  # of the array


def _terms_of(model: ClusterModel, held: tuple[int, ...]) -> _Terms | None:
    """Return the terms for some held joints (ids); None if there is more to do than a kernel knows."""
    shape, tree = manifold(model), model.own_tree
    if not shape.linear or (model.closures and not loops_of(model).compiled):
        return None
    way, nq = shape.way(model, held), model.nq
    if way.rest is not None or len(way.outside) < len(shape.followers):
        return None
    first, result = nq, nq + len(way.outside)
    terms: list[tuple[int, int, float]] = []
    at, to, of = way.residual.at, way.residual.to, way.residual.of
    terms += [(first + k, -1, c) for k, c in zip(at.tolist(), way.residual.constants.tolist(), strict=True)]
    terms += [(first + k, i, c) for k, i, c in zip(to.tolist(), of.tolist(), way.residual.coefficients, strict=True)]
    place = {f.iv: f.iq for f in way.outside} | {iv: iq for f in way.outside for iq, _, iv, _ in f.masters}
    step = way.step
    moves = zip(step.to.tolist(), step.of.tolist(), step.coefficients.tolist(), strict=True)
    terms += [(result + place[iv], first + k, c) for iv, k, c in moves]
    follow = shape.affine if way.outside else None
    if follow is not None:
        terms += [(result + i, -1, c) for i, c in zip(follow.at.tolist(), follow.constants.tolist(), strict=True)]
        leads = zip(follow.to.tolist(), follow.of.tolist(), follow.coefficients.tolist(), strict=True)
        terms += [(result + i, result + k, c) for i, k, c in leads]
        # not even rounding moves a held joint
        for i in (i for j in held for i in in_q(tree, j)):
            terms += [(result + i, -1, 0.0), (result + i, i, 1.0)]
    units = np.array([(a, b - a) for _, a, b in shape.units], dtype=np.int64).reshape(-1, 2)
    places = np.array([x[:2] for x in terms], dtype=np.int64).reshape(-1, 2)
    return _Terms(units, places, np.array([x[2] for x in terms], dtype=np.float64), result + nq)
