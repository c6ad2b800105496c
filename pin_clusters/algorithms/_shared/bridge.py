"""From the independent coordinates to those of the tree: G and its bias, constant or from the kernel.

``q`` is what ``_check.configuration`` returned: it also feeds the user's Python functions. Where the loops cannot be
solved for the dependent joints, ``SingularClusterError`` is raised.
"""

from __future__ import annotations

import math

import numpy as np

from ..._engine import entry_points as kernels
from ..._engine.kernels.tables.layout import PLANAR, SPHERICAL
from ..._support.arrays import plain
from ...errors import SingularClusterError
from ...model import ClusterData, ClusterModel, primitives_of
from . import check as _check


def matrix(model: ClusterModel, data: ClusterData, q: np.ndarray) -> np.ndarray:
    """Return G, shape (tree.nv, nv); not to be written to."""
    return matrix_and_bias(model, data, q, None)[0]


def matrix_and_bias(
    model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return G, shape (tree.nv, nv), and g, shape (tree.nv,), at v (None: at rest); G is not to be written to."""
    if not model.closures:
        return model._topology.G, np.zeros(model.own_tree.nv)
    bring(model, data, q, data._zeros if v is None else v)
    G, g = data._coupling
    return G.copy(), g.copy()


def bring(model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, tables: str = "coupling") -> None:
    """Bring ``data._coupling``, which the kernels of the tree read, to a state; and dG/dt, with ``coupling_rate``.

    Raises:
        SingularClusterError: The loops cannot be solved for their dependent joints.
    """
    if model.closures and (code := solve(data, q, v, tables)):
        _check.status(model, code, q)


def solve(data: ClusterData, q: np.ndarray, v: np.ndarray, tables: str = "coupling") -> int:
    """Run the kernel on the loops; G and g are in ``data._coupling``, what it reports is returned."""
    return int(kernels.coupling.call(data._pointers[tables], plain(q), plain(v)))


def rate(model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return dG/dt at a velocity, shape (tree.nv, nv): exact, but for rounding.

    The bias g(v) = B(v, v) is quadratic, with B(v, w) = dG/dt w at the velocity v. Its symmetric part comes by
    polarisation; the other part is the failure of velocities to commute, which is known: it is zero for joints of one
    degree of freedom, and the Lie bracket of the joint's group for the others. The motions G v and G w keep the loops
    closed, so their bracket is G times that of the independent velocities. Clusters do not touch each other here: one
    column of each is found at once.
    """
    if not model.closures:
        return np.zeros((model.own_tree.nv, model.nv))
    G, g = matrix_and_bias(model, data, q, v)
    result, size = np.zeros(G.shape), math.sqrt(v.dot(v))
    if size == 0.0:
        return result
    tables, bias = model._tree_tables, data._coupling[1]
    for columns, rows, at in tables.rounds:
        w = np.zeros(model.nv)
        w[columns] = size  # as large as v: nothing is lost in the differences
        solve(data, q, v + w)
        change = bias - g
        solve(data, q, w)
        change -= bias
        if tables.curved:
            bracket = _bracket(model, G @ v, G @ w)
            change += G @ bracket[model.idx_v_independent] - bracket
        change /= 2.0 * size
        result[rows, at] = change[rows]
    return result


def kept(model: ClusterModel, data: ClusterData) -> np.ndarray:
    """Return G that was left in the data.

    Raises:
        SingularClusterError: The pose of the last function that was given one is singular.
    """
    if not model.closures:
        return model._topology.G
    if data._lost and all(np.isfinite(data.tree.oMi[j].translation).all() for j in range(model.njoints)):
        raise SingularClusterError(
            f"the loops of model {model.name!r} are singular at the q of the last pc.forwardKinematics, so the "
            "dependent joints have no velocity there. Take another pose; pc.condition(model, data, q) names the loops."
        )
    return data._G[: model.own_tree.nv]


def _bracket(model: ClusterModel, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Lie bracket of two velocities of the tree, joint by joint.

    Only the joints of loops matter, and no loop leads through a free flyer.
    """
    tree, out = model.own_tree, np.zeros(len(x))
    for j in (j for loop in model._topology.analyses for j in loop.joints if tree.nvs[j] > 1):
        for part in primitives_of(tree.joints[j], tree.jointPlacements[j], tree.names[j]):
            at = slice(part.iv, part.iv + part.nv)
            if part.kind == SPHERICAL:
                out[at] = np.cross(x[at], y[at])
            elif part.kind == PLANAR:
                (a, b), (c, d) = x[at][:2], y[at][:2]
                out[at] = x[at][2] * np.array([-d, c, 0.0]) - y[at][2] * np.array([-b, a, 0.0])
    return out


def supply_third(model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray) -> None:
    """Bring the second derivatives of the Jacobians of the user's Python functions along a motion to the kernels.

    Raises:
        SingularClusterError: The loops cannot be solved for their dependent joints.
    """
    supplies = model._tables.supplies
    if not supplies:
        return
    rates = matrix(model, data, q) @ v
    for supply in supplies:
        closure = supply.closure
        n, m = len(closure.joints), closure.size
        direction = rates[[model.own_tree.idx_vs[j] for j in closure.joints]]
        room = supply.room + 2 * m * n + m * n * n + 2 * n + m
        data._work[room : room + m * n] = closure.second_along(q[list(supply.iq)], direction).ravel()


def derivatives(
    model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return derivatives of the tree's velocity by q, and of its acceleration by q and v, each of shape (tree.nv, nv).

    Raises:
        SingularClusterError: The loops cannot be solved for their dependent joints.
    """
    found = np.zeros((3, model.own_tree.nv, model.nv))
    if model.closures:
        supply_third(model, data, q, v)
        arguments = [plain(x) for x in (q, v, a)] + [x.reshape(-1) for x in found]
        if code := int(kernels.coupling_derivatives.call(data._pointers["rates"], *arguments)):
            _check.status(model, code, q)
    return found[0], found[1], found[2]
