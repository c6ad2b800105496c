"""Jacobians of joints and frames: Pinocchio's, times G. Columns are the independent velocities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from ..model import ClusterData, ClusterModel, primitives_of
from . import _bridge, _check, _ids

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
    _check.model_data(model, data)
    if q is None:
        J = pin.computeJointJacobians(model.own_tree, data.tree) @ _bridge.kept(model, data)[0]
    else:
        q = _check.configuration(model, data, q)
        G = _bridge.kept_matrix(model, data, q)
        J = pin.computeJointJacobians(model.own_tree, data.tree, q) @ G
    data.J[:] = J
    return np.array(J)


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
    G, G_rate = _bridge.matrix(model, data, q), _bridge.rate(model, data, q, v)
    _bridge.keep(data, G, G_rate)
    v_tree = G @ v
    pin.computeJointJacobiansTimeVariation(model.own_tree, data.tree, q, v_tree)
    _correct_moving_axes(model.own_tree, data.tree, v_tree)
    data.J[:] = data.tree.J @ G
    return data.tree.dJ @ G + data.tree.J @ G_rate


def _correct_moving_axes(tree: pin.Model, data: pin.Data, v: np.ndarray) -> None:
    """Write the derivative for joints whose axes move in their own body.

    Pinocchio lets every axis turn with the joint's body. In a universal, ZYX or composite joint an axis turns with the
    part of the joint right behind it, which the later axes move against the body.
    """
    J, dJ = data.J, data.dJ  # views
    for j in range(1, tree.njoints):
        joint = tree.joints[j]
        if not any(kind in joint.shortname() for kind in ("Composite", "ZYX", "Universal")):
            continue
        velocity = data.oMi[j].act(data.v[j]).vector
        for part in reversed(primitives_of(joint, tree.jointPlacements[j], tree.names[j])):
            columns = slice(part.iv, part.iv + part.nv)
            dJ[:, columns] = pin.Motion(velocity).action @ J[:, columns]
            velocity -= J[:, columns] @ v[columns]


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
