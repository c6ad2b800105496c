"""Jacobians of joints and frames: those of the tree, times G. Columns are the independent velocities."""

from typing import Any, overload

import numpy as np
import pinocchio as pin

from ..._engine.kernels.tables.tree_layout import COLUMNS, MOTION, RATES
from ..._engine.owed import OF_JACOBIANS, bits
from ...model import NOTHING, ClusterData, ClusterModel, also_pinocchios, is_pinocchios
from .._shared import bridge as _bridge
from .._shared import check as _check
from .._shared import ids as _ids
from .._shared import tree as _tree
from .._shared.quick import FRAME, JOINT, RATE, quick_jacobian, quick_tree

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

_ALL = MOTION | COLUMNS | RATES
_documented = _check.documented(_COMMON)
_gets = _check.documented(_COMMON, _ids.AT_A_PLACE, solves=False)
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
    if quick_tree(model, data, COLUMNS, q, None, None):
        return data._J.copy()
    if is_pinocchios(model, data):
        return pin.computeJointJacobians(model, data, *(() if q is None else (q,)))
    if q is None:
        _check.model_data(model, data)
        J = pin.computeJointJacobians(model.own_tree, data.tree).reshape(6, -1)  # one column comes as a vector
        data._J[:] = J @ _bridge.kept(model, data)
        data._note(bits("J"))
    else:
        _tree.compute(model, data, COLUMNS, _check.pose(model, data, q))
    return data._J.copy()


@_rates
def computeJointJacobiansTimeVariation(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> np.ndarray:
    """Compute the time derivatives of the Jacobians, for ``getFrameJacobianTimeVariation`` and its like.

    Pinocchio (4.1) forgets that the axes of universal, ZYX and composite joints move in their own body; they do here.

    Args:
        data: Its workspace; ``data.J`` and ``data.tree.dJ`` are filled as well.

    Returns:
        Shape (6, nv), in the world, [linear; angular]; a fresh array.
    """
    if v is None or not quick_tree(model, data, _ALL, q, v, None):
        if is_pinocchios(model, data):
            return pin.computeJointJacobiansTimeVariation(model, data, q, v)
        _tree.compute(model, data, _ALL, *_check.state(model, data, q, v))
    return data._dJ.copy()


@_documented
def computeJointJacobian(model: ClusterModel, data: ClusterData, q: Any, joint_id: int) -> np.ndarray:
    """Compute the Jacobian of one joint in its own frame.

    Returns:
        Shape (6, nv), [linear; angular], in the joint frame; a fresh array.
    """
    if q is not None and (found := quick_jacobian(model, data, q, joint_id, pin.LOCAL, JOINT)) is not None:
        return found
    if is_pinocchios(model, data):
        return pin.computeJointJacobian(model, data, q, joint_id)
    q, joint = _check.pose(model, data, q), _ids.joint(model, joint_id)
    return _at(model, data, q, joint, pin.LOCAL)


@_documented
def computeFrameJacobian(
    model: ClusterModel, data: ClusterData, q: Any, frame_id: int, reference_frame: pin.ReferenceFrame = pin.LOCAL
) -> np.ndarray:
    """Compute the Jacobian of one frame.

    Args:
        data: Its workspace. But for the reference frame ``LOCAL``, ``data.oMf[frame_id]`` is filled, and ``data.oMi``
            of the joints that move the frame.
    """
    if q is not None and (found := quick_jacobian(model, data, q, frame_id, reference_frame, FRAME)) is not None:
        return found
    if is_pinocchios(model, data):
        return pin.computeFrameJacobian(model, data, q, frame_id, reference_frame)
    q = _check.pose(model, data, q)
    frame, reference = _ids.frame(model, frame_id), _ids.reference(reference_frame)
    found = _at(model, data, q, model.njoints + frame, reference)
    if reference != pin.LOCAL and data._other_fields:  # the kernel could not leave them
        pin.forwardKinematics(model.own_tree, data._tree, q)
        pin.updateFramePlacement(model.own_tree, data._tree, frame)
    return found


def _at(model: ClusterModel, data: ClusterData, q: np.ndarray, place: int, reference: pin.ReferenceFrame) -> np.ndarray:
    """Return the Jacobian of a joint, or of a frame behind them, at a configuration."""
    _bridge.bring(model, data, q, data._zeros)
    result = np.empty((6, model.nv))
    data._run_jacobian(q, place, int(reference), 0, result)
    return result


def _asked(
    model: ClusterModel, data: ClusterData, index: Any, reference_frame: Any, kind: int, function: Any
) -> np.ndarray:
    """Return the Jacobian of a joint or a frame, or its time derivative, from what is in the tree's data."""
    if (found := quick_jacobian(model, data, None, index, reference_frame, kind)) is not None:
        return found
    if is_pinocchios(model, data):
        return np.asarray(function(model, data, index, reference_frame))
    _check.model_data(model, data)
    place = model.njoints + _ids.frame(model, index) if kind & FRAME else _ids.joint(model, index)
    reference = _ids.reference(reference_frame)
    data._pay_all(OF_JACOBIANS)  # machine code leaves other members owed as well
    _bridge.kept(model, data)  # raises
    result = np.empty((6, model.nv))
    data._run_jacobian(NOTHING, place, int(reference), kind & RATE, result)
    return result


@_documented
def getJointJacobian(
    model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray:
    """Return the Jacobian of a joint; after ``computeJointJacobians``."""
    return _asked(model, data, joint_id, reference_frame, JOINT, pin.getJointJacobian)


@overload
def getFrameJacobian(
    model: ClusterModel, data: ClusterData, frame_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray: ...
@overload
def getFrameJacobian(
    model: ClusterModel, data: ClusterData, joint_id: int, placement: pin.SE3, reference_frame: pin.ReferenceFrame
) -> np.ndarray: ...
@_gets
def getFrameJacobian(model: ClusterModel, data: ClusterData, *where: Any, **named: Any) -> Any:
    """Return the Jacobian of a frame, or of a placement in the frame of a joint; after ``computeJointJacobians``."""
    if len(where) == 2 and not named:
        found = quick_jacobian(model, data, None, where[0], where[1], FRAME)
        if found is not None:
            return found
    if is_pinocchios(model, data):
        return pin.getFrameJacobian(model, data, *where, **named)
    _check.model_data(model, data)
    index, placement, axes = _ids.frame_or_joint(model, where, named)
    if placement is None:
        return _asked(model, data, index, axes, FRAME, None)
    if axes == pin.WORLD:
        return _asked(model, data, index, axes, JOINT, None)
    J = placement.toActionMatrixInverse() @ _asked(model, data, index, pin.LOCAL, JOINT, None)
    if axes == pin.LOCAL_WORLD_ALIGNED:
        R = data._tree.oMi[index].rotation @ placement.rotation
        J = np.concatenate([R @ J[:3], R @ J[3:]])
    return J


@_rates
def getJointJacobianTimeVariation(
    model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray:
    """Return the time derivative of the Jacobian of a joint; after ``computeJointJacobiansTimeVariation``."""
    return _asked(model, data, joint_id, reference_frame, JOINT | RATE, pin.getJointJacobianTimeVariation)


@_rates
def getFrameJacobianTimeVariation(
    model: ClusterModel, data: ClusterData, frame_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray:
    """Return the time derivative of the Jacobian of a frame; after ``computeJointJacobiansTimeVariation``."""
    return _asked(model, data, frame_id, reference_frame, FRAME | RATE, pin.getFrameJacobianTimeVariation)


@also_pinocchios
@_rates
def frameJacobianTimeVariation(
    model: ClusterModel, data: ClusterData, q: Any, v: Any, frame_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray:
    """Compute the time derivative of the Jacobian of a frame: ``getFrameJacobianTimeVariation`` at a state."""
    computeJointJacobiansTimeVariation(model, data, q, v)
    return getFrameJacobianTimeVariation(model, data, frame_id, reference_frame)
