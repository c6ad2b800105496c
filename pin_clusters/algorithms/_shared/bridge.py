"""Computation of the coupling Jacobian G and the bias g, where v_tree = G v and a_tree = G a + g.

Without closed loops, G is constant and g is zero; otherwise, the loop kernel computes G and g. The functions raise
``SingularClusterError`` if the loops do not determine the dependent velocities. ``q`` must be the result of
``_check.configuration``, which also evaluates the user's Python constraint functions.
"""

import numpy as np

from ..._support.arrays import plain
from ...compiler import entry_points as kernels
from ...compiler.choice import code_of
from ...errors import ShapeError, SingularClusterError
from ...model import ClusterData, ClusterModel
from . import check as _check


def matrix(model: ClusterModel, data: ClusterData, q: np.ndarray) -> np.ndarray:
    """Compute G, shape (tree.nv, nv). The caller must not modify G."""
    return matrix_and_bias(model, data, q, None)[0]


def matrix_and_bias(
    model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Compute G, shape (tree.nv, nv), and g, shape (tree.nv,); v is zero by default. The caller must not modify G."""
    if not model.closures:
        return model.tables.topology.G, np.zeros(model.own_tree.nv)
    bring(model, data, q, data._zeros if v is None else v)
    G, g = data._coupling
    return G.copy(), g.copy()


def bring(model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, tables: str = "coupling") -> None:
    """Store G and g (and dG/dt if ``tables`` is "coupling_rate") in ``data._coupling`` for the tree kernels."""
    if model.closures and (code := solve(data, q, v, tables)):
        _check.status(model, code, q)


def solve(data: ClusterData, q: np.ndarray, v: np.ndarray, tables: str = "coupling") -> int:
    """Run the loop kernel, which writes G and g to ``data._coupling``, and return the status of the kernel."""
    code = code_of(data._functions, kernels.coupling, tables)
    return int(code.call(data._pointers[tables], plain(q), plain(v)))


def kept(model: ClusterModel, data: ClusterData) -> np.ndarray:
    """Return G at the pose of the last kinematics call; raise ``SingularClusterError`` if this pose is singular."""
    if not model.closures:
        return model.tables.topology.G
    if data._lost and all(np.isfinite(data.tree.oMi[j].translation).all() for j in range(model.njoints)):
        raise SingularClusterError(
            f"the loops of model {model.name!r} do not determine the dependent velocities at the q of the last "
            "pc.forwardKinematics (singular pose). Use another pose; pc.condition(model, data, q) lists the loops."
        )
    return data._G[: model.own_tree.nv]


def supply_third(model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray) -> None:
    """For Python constraint functions, write the second derivatives of the Jacobians along v to the workspaces."""
    supplies = model.tables.supplies
    if not supplies:
        return
    rates = matrix(model, data, q) @ v
    for supply in supplies:
        closure = supply.closure
        n, m = len(closure.joints), closure.size
        direction = rates[[model.own_tree.idx_vs[j] for j in closure.joints]]
        offset = supply.scratch + 2 * m * n + m * n * n + 2 * n + m
        second = closure.second_along(q[list(supply.iq)], direction).ravel()
        for work in (data._work, data._loop_work):
            work[offset : offset + m * n] = second


def derivatives(
    model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, a: np.ndarray, out: np.ndarray
) -> None:
    """Write G and its derivatives to ``out``; v and a can be empty arrays. See the kernel ``coupling_derivatives``."""
    if not model.closures:
        return
    data._supply(q)
    if a.size:
        supply_third(model, data, q, v)
    arguments = [np.array(x) for x in (q, v, a)]
    size, layout = model.own_tree.nv * model.nv, model.tables.tree.derived
    needed = 4 * size if a.size else 2 * size if v.size else layout.posed_q - layout.bends
    if out.size < needed:  # robot-specific code would write beyond the array
        raise ShapeError(
            f"the array for derivatives of G has {out.size} entries, expected {needed}. An array of data "
            "was replaced; create a new data = model.createData()."
        )
    kernel = code_of(data._functions, kernels.coupling_derivatives)
    if code := int(kernel.call(data._pointers["motion_rates"], *arguments, out)):
        _check.status(model, code, q)
