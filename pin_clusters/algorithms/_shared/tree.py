"""Calls of the tree kernel, which computes Pinocchio's results from the independent velocities.

``q``, ``v`` and ``a`` must be results of the checks in ``_check``. The functions store results in data and
``data.tree``. They also store G, because functions that are called without q need G.
"""

import numpy as np
import pinocchio as pin

from ...kernels.tables.tree_layout import KEEP, MOTION, RATES
from ...model import NOTHING, ClusterData, ClusterModel
from . import bridge as _bridge


def compute(
    model: ClusterModel,
    data: ClusterData,
    outputs: int,
    q: np.ndarray,
    v: np.ndarray = NOTHING,
    a: np.ndarray = NOTHING,
    *,
    moved: bool = False,
) -> None:
    """Compute the results selected by ``outputs``; v and a can be empty. ``moved``: keep the motion for derivatives."""
    if model.closures:
        _bridge.bring(model, data, q, v if v.size else data._zeros, "coupling_rate" if outputs & RATES else "coupling")
        outputs |= KEEP
    if model.tables.tree.settles:
        _settle(model, data, q, *((v, a) if outputs & MOTION else (NOTHING, NOTHING)))
    data._run_tree(outputs, q, v, a, moved=moved)


def differentiate(
    model: ClusterModel, data: ClusterData, outputs: int, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> None:
    """Compute the derivatives of the coupling Jacobian G, then call ``compute`` with ``moved=True``."""
    data._forget()
    _bridge.derivatives(model, data, q, v, a if a.size else data._zeros, data._coupled.ravel())
    compute(model, data, outputs, q, v, a, moved=True)


def place(model: ClusterModel, data: ClusterData, outputs: int, q: np.ndarray) -> None:
    """Compute results that do not depend on G. At singular poses, store NaN instead of G for later calls without q."""
    if not model.closures:
        compute(model, data, outputs, q)
        return
    code = _bridge.solve(data, q, data._zeros)
    if model.tables.tree.settles:
        pin.forwardKinematics(model.own_tree, data._tree, q)
    data._run_tree(outputs | KEEP, q)
    if code != 0:
        data._G[: model.own_tree.nv], data._lost, data._posed[-1] = np.nan, True, 2.0


def _settle(model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
    """Update the joint data that only Pinocchio can write and that other Pinocchio functions read."""
    G, g = data._coupling
    rates = [G @ v] if v.size else []
    if a.size:
        rates.append(G @ a + g)
    pin.forwardKinematics(model.own_tree, data._tree, q, *rates)
