"""Jacobians of joints and frames: Pinocchio's, times G. Columns are the independent velocities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from .._kernels.tree_layout import COLUMNS, MOTION, RATES
from ..model import ClusterData, ClusterModel
from . import _bridge, _check, _ids, _tree

_COMMON = """
Returns:
    Shape (6, nv), [linear; angular], in the reference frame; a fresh array.

Raises:
    SingularClusterError: Closed loops cannot be solved for their dependent joints.

References:
    Pinocchio's ``{name}``, times G.
"""
_WITH_RATE = """
References:
    Pinocchio's ``{name}``, times G; plus the Jacobian times dG/dt.
"""
_documented = _check.documented(_COMMON)
_rates = _check.documented(_COMMON, _WITH_RATE)


@_documented
def computeJointJacobians(model: ClusterModel, data: ClusterData, q: Any = None) -> np.ndarray:
    """Compute the Jacobians of all joints, for ``getJointJacobian`` and ``getFrameJacobian``; updates ``data.oMi``.

    Args:
        data: Its workspace; ``data.J`` keeps the result.
        q: Configuration of the whole tree, shape (nq,). Without it, after ``forwardKinematics``.

    Returns:
        Shape (6, nv): motion axes of the independent velocities in the world, [linear; angular], summed over the
        joints that they move; a fresh array.
    """
    if q is None:
        _check.model_data(model, data)
        data.J[:] = pin.computeJointJacobians(model.own_tree, data.tree) @ _bridge.kept(model, data)[0]
    else:
        _tree.compute(model, data, COLUMNS, _check.pose(model, data, q))
    return data._J.copy()


@_rates
def computeJointJacobiansTimeVariation(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> np.ndarray:
    """Compute the time derivatives of the Jacobians, for ``getFrameJacobianTimeVariation`` and its like.

    Pinocchio (4.1) forgets that the axes of universal, ZYX and composite joints move in their own body; that is put
    right here.

    Args:
        data: Its workspace; ``data.J`` and ``data.tree.dJ`` are filled as well.

    Returns:
        Shape (6, nv), in the world, [linear; angular]; a fresh array.
    """
    q, v = _check.state(model, data, q, v)
    if model.closures:
        data._G[model.own_tree.nv :] = _bridge.rate(model, data, q, v)
    _tree.compute(model, data, MOTION | COLUMNS | RATES, q, v)
    return data._dJ.copy()


@_documented
def computeJointJacobian(model: ClusterModel, data: ClusterData, q: Any, joint_id: int) -> np.ndarray:
    """Compute the Jacobian of one joint in its own frame.

    Returns:
        Shape (6, nv), [linear; angular], in the joint frame; a fresh array.
    """
    _check.model_data(model, data)
    q, joint = _check.configuration(model, data, q), _ids.joint(model, joint_id)
    G = _bridge.matrix(model, data, q)
    return pin.computeJointJacobian(model.own_tree, data.tree, q, joint) @ G


@_documented
def computeFrameJacobian(
    model: ClusterModel, data: ClusterData, q: Any, frame_id: int, reference_frame: pin.ReferenceFrame = pin.LOCAL
) -> np.ndarray:
    """Compute the Jacobian of one frame."""
    q = _check.pose(model, data, q)
    frame, reference = _ids.frame(model, frame_id), _ids.reference(reference_frame)
    G = _bridge.matrix(model, data, q)
    return pin.computeFrameJacobian(model.own_tree, data.tree, q, frame, reference) @ G


def _asked(
    find: Any, model: ClusterModel, data: ClusterData, index: int, reference_frame: Any, jacobian: Any, rate: Any = None
) -> np.ndarray:
    """Return the Jacobian of what ``find`` makes of an index, or its time derivative where ``rate`` is given."""
    _check.model_data(model, data)
    where = model.own_tree, data.tree, find(model, index), _ids.reference(reference_frame)
    G, G_rate = _bridge.kept(model, data)
    J = jacobian(*where)
    return J @ G if rate is None else rate(*where) @ G + J @ G_rate


@_documented
def getJointJacobian(
    model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray:
    """Return the Jacobian of a joint; after ``computeJointJacobians``."""
    return _asked(_ids.joint, model, data, joint_id, reference_frame, pin.getJointJacobian)


@_documented
def getFrameJacobian(
    model: ClusterModel, data: ClusterData, frame_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray:
    """Return the Jacobian of a frame; after ``computeJointJacobians``."""
    return _asked(_ids.frame, model, data, frame_id, reference_frame, pin.getFrameJacobian)


@_rates
def getJointJacobianTimeVariation(
    model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray:
    """Return the time derivative of the Jacobian of a joint; after ``computeJointJacobiansTimeVariation``."""
    functions = pin.getJointJacobian, pin.getJointJacobianTimeVariation
    return _asked(_ids.joint, model, data, joint_id, reference_frame, *functions)


@_rates
def getFrameJacobianTimeVariation(
    model: ClusterModel, data: ClusterData, frame_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray:
    """Return the time derivative of the Jacobian of a frame; after ``computeJointJacobiansTimeVariation``."""
    functions = pin.getFrameJacobian, pin.getFrameJacobianTimeVariation
    return _asked(_ids.frame, model, data, frame_id, reference_frame, *functions)
