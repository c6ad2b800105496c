"""Derivatives of Jacobians by the independent coordinates: along ``pc.integrate``, dependent joints follow."""

from __future__ import annotations

from typing import Any, overload

import numpy as np
import pinocchio as pin

from ..._engine.kernels.tables.tree_layout import COLUMNS
from ...errors import NotComputedError
from ...model import NOTHING, ClusterData, ClusterModel
from .._shared import bridge as _bridge
from .._shared import check as _check
from .._shared import ids as _ids
from .._shared import tree as _tree
from .._shared.quick import JOINT, quick_hessian, quick_tree
from .._shared.targets import place_of, quickly

_COMMON = """
References:
    Pinocchio's ``{name}``, of the Jacobians of the independent velocities.
"""
_GETS = """
Args:
    placement: Placement of the frame in that of the joint.

Returns:
    dJ[:, k] / dq_m at [:, k, m], shape (6, nv, nv), [linear; angular]; a fresh array.

Raises:
    NotComputedError: ``computeJointKinematicHessians`` was not called before.
"""
_documented = _check.documented(_COMMON)
_gets = _check.documented(_COMMON, _GETS, solves=False)


@_documented
def computeJointKinematicHessians(model: ClusterModel, data: ClusterData, q: Any = None) -> None:
    """Compute what the derivatives of Jacobians need, for ``getJointKinematicHessian``.

    Args:
        data: Its workspace; ``data.J`` and ``data.oMi`` are filled, if q is given.
        q: Configuration of the whole tree, shape (nq,). Without it, after ``computeJointJacobians``.

    Raises:
        NotComputedError: q is not given, and was not given to another function before.
    """
    if q is None:
        _check.model_data(model, data)
        if not data._posed[-1]:
            raise NotComputedError(
                "this data has no Jacobians to differentiate: call pc.computeJointKinematicHessians(model, data, q)."
            )
    elif not quick_tree(model, data, COLUMNS, q, None, None):
        _tree.compute(model, data, COLUMNS, _check.pose(model, data, q))
    if model.closures:
        data._bent[-1] = 0.0
        data._bend = _coupling_hessian(model, data, data._posed[:-1].copy())
    data._bent[:] = data._posed  # the last number: that q is there


@_gets
def getJointKinematicHessian(
    model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray:
    """Return the derivative of the Jacobian of a joint by q."""
    if (found := quick_hessian(model, data, joint_id, None, reference_frame, JOINT)) is not None:
        return found
    _check.model_data(model, data)
    return _asked(model, data, _ids.joint(model, joint_id), NOTHING, _ids.reference(reference_frame))


@overload
def getFrameKinematicHessian(
    model: ClusterModel, data: ClusterData, frame_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray: ...
@overload
def getFrameKinematicHessian(
    model: ClusterModel, data: ClusterData, joint_id: int, placement: pin.SE3, reference_frame: pin.ReferenceFrame
) -> np.ndarray: ...
@_gets
def getFrameKinematicHessian(model: ClusterModel, data: ClusterData, *where: Any, **named: Any) -> Any:
    """Return the derivative of the Jacobian of a frame by q.

    Args:
        where: ``frame_id, reference_frame`` of a frame of the model, or ``joint_id, placement, reference_frame``.
        named: The same by name.
    """
    if not named and (found := quickly(quick_hessian, model, data, where)) is not None:
        return found
    _check.model_data(model, data)
    return _asked(model, data, *place_of(model, where, named, "frame_placement"))


def _asked(
    model: ClusterModel, data: ClusterData, place: int, M: np.ndarray, reference: pin.ReferenceFrame
) -> np.ndarray:
    if not data._bent[-1]:
        raise NotComputedError(
            "this data has no derivatives of Jacobians: call pc.computeJointKinematicHessians(model, data, q) first."
        )
    if model.closures:
        _bridge.bring(model, data, data._bent[:-1].copy(), data._zeros)
    result = np.empty(6 * model.nv * model.nv)
    data._run_hessian(place, int(reference), M, data._bend, result)
    return result.reshape(6, model.nv, model.nv)


def _coupling_hessian(model: ClusterModel, data: ClusterData, q: np.ndarray) -> np.ndarray:
    """Return dG/dq of models with loops, rows (velocity of the tree, independent velocity), shape (tree.nv nv, nv).

    dv_tree/dq at one independent velocity is that column of it. Clusters do not touch each other: one column of each
    is found at once.
    """
    nvt, nv = model.own_tree.nv, model.nv
    found = np.zeros((nvt, nv, nv))
    for columns, rows, at in model._tree_tables.rounds:
        v = np.zeros(nv)
        v[columns] = 1.0
        v_q = _bridge.derivatives(model, data, q, v, data._zeros)[0]
        found[rows, at] = v_q[rows]
    return found.reshape(nvt * nv, nv)
