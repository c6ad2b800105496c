"""From the independent coordinates to those of the tree: G and its bias, constant or from the kernel.

``q`` is what ``_check.configuration`` returned: it also feeds the user's Python functions. Where the loops cannot be
solved for the dependent joints, ``SingularClusterError`` is raised.
"""

import numpy as np

from ..._support.arrays import plain
from ...compiler import entry_points as kernels
from ...compiler.choice import code_of
from ...errors import ShapeError, SingularClusterError
from ...model import ClusterData, ClusterModel
from . import check as _check


def matrix(model: ClusterModel, data: ClusterData, q: np.ndarray) -> np.ndarray:
    """Return G, shape (tree.nv, nv); not to be written to."""
    return matrix_and_bias(model, data, q, None)[0]


def matrix_and_bias(
    model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Return G, shape (tree.nv, nv), and g, shape (tree.nv,), at v (None: at rest); G is not to be written to."""
    if not model.closures:
        return model.tables.topology.G, np.zeros(model.own_tree.nv)
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
    made = code_of(data._functions, kernels.coupling, tables)
    return int(made.call(data._pointers[tables], plain(q), plain(v)))


def kept(model: ClusterModel, data: ClusterData) -> np.ndarray:
    """Return G that was left in the data.

    Raises:
        SingularClusterError: The pose of the last function that was given one is singular.
    """
    if not model.closures:
        return model.tables.topology.G
    if data._lost and all(np.isfinite(data.tree.oMi[j].translation).all() for j in range(model.njoints)):
        raise SingularClusterError(
            f"the loops of model {model.name!r} are singular at the q of the last pc.forwardKinematics, so the "
            "dependent joints have no velocity there. Take another pose; pc.condition(model, data, q) names the loops."
        )
    return data._G[: model.own_tree.nv]


def supply_third(model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray) -> None:
    """Bring the second derivatives of the Jacobians of the user's Python functions along a motion to the kernels.

    Raises:
        SingularClusterError: The loops cannot be solved for their dependent joints.
    """
    supplies = model.tables.supplies
    if not supplies:
        return
    rates = matrix(model, data, q) @ v
    for supply in supplies:
        closure = supply.closure
        n, m = len(closure.joints), closure.size
        direction = rates[[model.own_tree.idx_vs[j] for j in closure.joints]]
        room = supply.room + 2 * m * n + m * n * n + 2 * n + m
        second = closure.second_along(q[list(supply.iq)], direction).ravel()
        for work in (data._work, data._loop_work):
            work[room : room + m * n] = second


def derivatives(
    model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, a: np.ndarray, found: np.ndarray
) -> None:
    """Write G and its derivatives as far as v and a are given: see ``coupling_derivatives`` of the kernels.

    Raises:
        SingularClusterError: The loops cannot be solved for their dependent joints.
        ShapeError: Somebody replaced the member of data that ``found`` is.
    """
    if not model.closures:
        return
    data._supply(q)
    if a.size:
        supply_third(model, data, q, v)
    arguments = [np.array(x) for x in (q, v, a)]
    size, at = model.own_tree.nv * model.nv, model.tables.tree.derived
    needed = 4 * size if a.size else 2 * size if v.size else at.posed_q - at.bends
    if found.size < needed:  # a model's own code does not check sizes
        raise ShapeError(
            f"the room for derivatives of G has {found.size} numbers, not {needed}: members of data cannot be replaced."
        )
    made = code_of(data._functions, kernels.coupling_derivatives)
    if code := int(made.call(data._pointers["motion_rates"], *arguments, found)):
        _check.status(model, code, q)
