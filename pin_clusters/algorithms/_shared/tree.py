"""Calls of the kernel of the spanning tree: what Pinocchio computes there, with the independent velocities.

``q``, ``v`` and ``a`` are what ``_check`` returned. Results are in the data and in ``data.tree``; G is left there for
the functions that are not given q.
"""

import numpy as np
import pinocchio as pin

from ...kernels.tables.tree_layout import KEEP, MOTION, RATES
from ...model import NOTHING, ClusterData, ClusterModel
from . import bridge as _bridge


def compute(
    model: ClusterModel,
    data: ClusterData,
    what: int,
    q: np.ndarray,
    v: np.ndarray = NOTHING,
    a: np.ndarray = NOTHING,
    *,
    moved: bool = False,
) -> None:
    """Compute what is wished for; v and a as far as they are given; ``moved``: where motions are differentiated.

    Raises:
        SingularClusterError: Closed loops cannot be solved for their dependent joints.
    """
    if model.closures:
        _bridge.bring(model, data, q, v if v.size else data._zeros, "coupling_rate" if what & RATES else "coupling")
        what |= KEEP
    if model.tables.tree.settles:
        _settle(model, data, q, *((v, a) if what & MOTION else (NOTHING, NOTHING)))
    data._run_tree(what, q, v, a, moved=moved)


def differentiate(
    model: ClusterModel, data: ClusterData, what: int, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> None:
    """Move the links where motions are differentiated, and bring what the couplings do to their derivatives there.

    Raises:
        SingularClusterError: Closed loops cannot be solved for their dependent joints.
    """
    data._forget()
    _bridge.derivatives(model, data, q, v, a if a.size else data._zeros, data._coupled.ravel())
    compute(model, data, what, q, v, a, moved=True)


def place(model: ClusterModel, data: ClusterData, what: int, q: np.ndarray) -> None:
    """Compute what needs no G, at a singular pose as well: G is NaN there for the functions that are not given q."""
    if not model.closures:
        compute(model, data, what, q)
        return
    code = _bridge.solve(data, q, data._zeros)
    if model.tables.tree.settles:
        pin.forwardKinematics(model.own_tree, data._tree, q)
    data._run_tree(what | KEEP, q)
    if code != 0:
        data._G[: model.own_tree.nv], data._lost, data._posed[-1] = np.nan, True, 2.0


def _settle(model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> None:
    """Bring motion axes that only Pinocchio itself can write to q: other functions of Pinocchio read them."""
    G, g = data._coupling
    rates = [G @ v] if v.size else []
    if a.size:
        rates.append(G @ a + g)
    pin.forwardKinematics(model.own_tree, data._tree, q, *rates)
