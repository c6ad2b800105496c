"""A version of ``pc.integrate`` with a fixed number of Newton steps, and its derivative with respect to v at v = 0.

Joints outside loops move as in ``pc.integrate``. The dependent joints of closed loops first move as the coupling matrix
G predicts; the requested number of Newton steps then corrects them. The remaining loop residual is returned.
"""

from typing import Any

import numpy as np

from ...errors import NotAvailableError
from ...kernels.tables import layout
from ...model import ClusterModel, loops_of, primitives_of
from ...model.configuration.manifold import manifold
from ._sources import source
from .expressions import select
from .run import Run
from .supplied import derivatives_of, supply


def integrate(run: Run) -> dict[str, np.ndarray]:
    """Return q after a motion with velocity v for unit time and, if there are loops, the largest loop residual."""
    model, v = run.model, run["v"]
    shape = manifold(model)
    if model.closures and not (shape.linear and (loops_of(model).compiled or model.tables.supplies)):
        raise NotAvailableError(
            f"model {model.name!r}: integrate cannot be traced, because the model has closed loops and a coupling of a "
            "continuous joint (cos, sin). Use pc.integrate, or replace the joint by a revolute joint with limits."
        )
    q = run["q"].copy()
    inside = {j for loop in loops_of(model).clusters for j in loop.joints} if model.closures else set()
    rates = model.tables.topology.G @ v
    for j, p in _primitives(model):
        if j not in inside:
            source("bodies.increments").move_one(q, p.kind, p.iq, rates, p.iv)
    outputs = {"q": q}
    if model.closures:
        outputs["residual"] = np.array([_close(run, q, v, _exactly(model, run["q"], v, inside))], dtype=object)
    if shape.linear:
        shape.affine.apply(q, q)
    return outputs


def _primitives(model: ClusterModel) -> list[tuple[int, Any]]:
    tree = model.own_tree
    return [
        (j, p)
        for j in range(1, tree.njoints)
        for p in primitives_of(tree.joints[j], tree.jointPlacements[j], tree.names[j])
    ]


def _exactly(model: ClusterModel, q: np.ndarray, v: np.ndarray, inside: set[int]) -> np.ndarray:
    """Return q after the exact motion of all independent joints of loops; the coupling matrix G is not used."""
    target, column = q.copy(), {int(iv): k for k, iv in enumerate(model.idx_v_independent)}
    for j, p in _primitives(model):
        if j in inside and p.iv in column:
            source("bodies.increments").move_one(target, p.kind, p.iq, v, column[p.iv])
    return target


def _close(run: Run, q: np.ndarray, v: np.ndarray, target: np.ndarray) -> Any:
    """Modify q: move the joints of all loops with velocity v for unit time. Return the largest loop residual."""
    index, work, before = run.model.tables.index, run.work, q.copy()
    loops, following, clusters = source("loops.coupling_of_loops"), source("moves.following"), run.loops()
    source("bodies.placements").start(run.params, work)
    supply(run.model, before, work)
    for C in clusters:
        loops.stand_still(work, C)
        following.predict(index, run.params, work, before, v, C)
        following.go(index, work, before, v, q, C, 1.0)
        following.copy_independent(index, target, q, C)
    return correct(run, q, clusters)


def correct(run: Run, q: np.ndarray, clusters: list[Any]) -> Any:
    """Modify q: correct the dependent joints of loops by Newton steps. Return the largest loop residual."""
    following, index = source("moves.following"), run.model.tables.index
    for _ in range(run.steps):
        _evaluate(run, q, clusters)
        for C in clusters:
            following.step_dependents(index, run.work, q, C)
    worst, *residuals = _evaluate(run, q, clusters)
    for value in residuals:
        worst = select(worst, value, value, worst)
    return worst


def _evaluate(run: Run, q: np.ndarray, clusters: list[Any]) -> list[Any]:
    """Update the constraint Jacobian K and the loop equations at q; return the largest residual of each loop."""
    supply(run.model, q, run.work)
    for supplied in run.model.tables.supplies:
        n, m = len(supplied.closure.joints), supplied.closure.size
        first = supplied.scratch + m * n + m * n * n + n  # layout of ``offsets_of`` in the kernels
        run.work[first : first + m] = derivatives_of(supplied.closure, 0, q[list(supplied.iq)])
    tables = run.model.tables.index, run.params, run.work, q
    return [source("moves.following").evaluate(*tables, C)[0] for C in clusters]


def tangent(run: Run) -> np.ndarray:
    """Return the derivative of ``integrate(q, v)`` with respect to v at v = 0, shape (nq, nv)."""
    q, out = run["q"], run.zeros(run.model.nq, run.model.nv)
    for _, p in _primitives(run.model):
        G, i = run.G[p.iv : p.iv + p.nv], p.iq
        if p.kind == layout.CONTINUOUS:
            out[i : i + 2] = np.array([[-q[i + 1]], [q[i]]]) @ G
        elif p.kind == layout.PLANAR:
            c, s = q[i + 2], q[i + 3]
            out[i : i + 2] = np.array([[c, -s], [s, c]]) @ G[:2]
            out[i + 2 : i + 4] = np.array([[-s], [c]]) @ G[2:]
        elif p.kind == layout.SPHERICAL:
            out[i : i + 4] = _of_quaternion(q[i : i + 4]) @ G
        elif p.kind == layout.FREEFLYER:
            out[i : i + 3] = (
                np.array(source("bodies.placements").free_rotation(q, i), dtype=object).reshape(3, 3) @ G[:3]
            )
            out[i + 3 : i + 7] = _of_quaternion(q[i + 3 : i + 7]) @ G[3:]
        else:
            out[i] = G[0]
    return out


def _of_quaternion(q: np.ndarray) -> np.ndarray:
    """Return the derivative of a quaternion (x, y, z, w) with respect to a rotation vector in body axes, (4, 3)."""
    x, y, z, w = q * 0.5
    return np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]], dtype=object)
