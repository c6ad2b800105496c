"""Jacobians of joints and frames: those of the tree, times G. Columns are the independent velocities."""

from typing import Any, overload

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...compiler.calls import AT_A_PLACE, fast, of_jacobian, of_jacobian_at_place, of_tree
from ...compiler.owed import READ_BY_JACOBIANS, READ_BY_RATES
from ...kernels.tables.tree_layout import COLUMNS, MOTION, RATES
from ...model import NOTHING, ClusterData, ClusterModel, also_pinocchios, is_pinocchios
from .._shared import bridge as _bridge
from .._shared import check as _check
from .._shared import ids as _ids
from .._shared import tree as _tree
from .._shared.ids import FRAME, JOINT, RATE

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


@fast(of_tree(COLUMNS, "q", copies="_J", last="q"))
@also_pinocchios
@_documented
def computeJointJacobians(model: ClusterModel, data: ClusterData, q: ArrayLike | None = None) -> np.ndarray:
    """Compute the Jacobians of all joints, for ``getJointJacobian`` and ``getFrameJacobian``; updates ``data.oMi``.

    Args:
        data: Its workspace; ``data.J`` keeps the result.
        q: Configuration of the whole tree, shape (nq,); by default the last one that a function of this package was
            given. Motions of ``data.tree`` by Pinocchio's own functions do not count.

    Returns:
        Shape (6, nv): motion axes of the independent velocities in the world, [linear; angular], summed over the
        joints that they move; a fresh array.
    """
    if q is None:
        _check.model_data(model, data)
        q = data._last_pose("computeJointJacobians")
    _tree.compute(model, data, COLUMNS, _check.pose(model, data, q))
    return data._J.copy()


@fast(of_tree(_ALL, "q v", copies="_dJ"))
@also_pinocchios
@_rates
def computeJointJacobiansTimeVariation(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike
) -> np.ndarray:
    """Compute the time derivatives of the Jacobians, for ``getFrameJacobianTimeVariation`` and its like.

    Pinocchio (4.1) forgets that the axes of universal, ZYX and composite joints move in their own body; they do here.

    Args:
        data: Its workspace; ``data.J`` and ``data.tree.dJ`` are filled as well.

    Returns:
        Shape (6, nv), in the world, [linear; angular]; a fresh array.
    """
    _tree.compute(model, data, _ALL, *_check.state(model, data, q, v))
    return data._dJ.copy()


@fast(of_jacobian("joint", "joint_id", None, q="q", default=int(pin.LOCAL)))
@also_pinocchios
@_documented
def computeJointJacobian(model: ClusterModel, data: ClusterData, q: ArrayLike, joint_id: int) -> np.ndarray:
    """Compute the Jacobian of one joint in its own frame.

    Returns:
        Shape (6, nv), [linear; angular], in the joint frame; a fresh array.
    """
    q, joint = _check.pose(model, data, q), _ids.joint(model, joint_id)
    return _at(model, data, q, joint, pin.LOCAL)


@fast(of_jacobian("frame", "frame_id", q="q", default=int(pin.LOCAL)))
@also_pinocchios
@_documented
def computeFrameJacobian(
    model: ClusterModel, data: ClusterData, q: ArrayLike, frame_id: int, reference_frame: pin.ReferenceFrame = pin.LOCAL
) -> np.ndarray:
    """Compute the Jacobian of one frame.

    Args:
        data: Its workspace. But for the reference frame ``LOCAL``, ``data.oMf[frame_id]`` is filled, and ``data.oMi``
            of the joints that move the frame.
    """
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
    model: ClusterModel,
    data: ClusterData,
    index: Any,
    reference_frame: Any,
    kind: int,
    function: Any,
    M: np.ndarray = NOTHING,
) -> np.ndarray:
    """Return the Jacobian of a joint or a frame, or its time derivative, from what is in the tree's data."""
    if is_pinocchios(model, data):
        return np.asarray(function(model, data, index, reference_frame))
    _check.model_data(model, data)
    place = model.njoints + _ids.frame(model, index) if kind & FRAME else _ids.joint(model, index)
    reference = _ids.reference(reference_frame)
    data._bring(READ_BY_RATES if kind & RATE else READ_BY_JACOBIANS)  # raises
    _bridge.kept(model, data)  # raises
    result = np.empty((6, model.nv))
    data._run_jacobian(NOTHING, place, int(reference), kind & RATE, result, M)
    return result


@fast(of_jacobian("joint", "joint_id"))
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
@fast(of_jacobian_at_place, AT_A_PLACE)
@_gets
def getFrameJacobian(model: ClusterModel, data: ClusterData, *where: Any, **named: Any) -> Any:
    """Return the Jacobian of a frame, or of a placement in the frame of a joint; after ``computeJointJacobians``."""
    if is_pinocchios(model, data):
        return pin.getFrameJacobian(model, data, *where, **named)
    _check.model_data(model, data)
    index, placement, axes = _ids.frame_or_joint(model, where, named)
    if placement is None:
        return _asked(model, data, index, axes, FRAME, None)
    return _asked(model, data, index, axes, JOINT, None, _ids.numbers_of(placement))


@fast(of_jacobian("joint", "joint_id", rate=True))
@_rates
def getJointJacobianTimeVariation(
    model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray:
    """Return the time derivative of the Jacobian of a joint; after ``computeJointJacobiansTimeVariation``."""
    return _asked(model, data, joint_id, reference_frame, JOINT | RATE, pin.getJointJacobianTimeVariation)


@fast(of_jacobian("frame", "frame_id", rate=True))
@_rates
def getFrameJacobianTimeVariation(
    model: ClusterModel, data: ClusterData, frame_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray:
    """Return the time derivative of the Jacobian of a frame; after ``computeJointJacobiansTimeVariation``."""
    return _asked(model, data, frame_id, reference_frame, FRAME | RATE, pin.getFrameJacobianTimeVariation)


@also_pinocchios
@_rates
def frameJacobianTimeVariation(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike,
    v: ArrayLike,
    frame_id: int,
    reference_frame: pin.ReferenceFrame,
) -> np.ndarray:
    """Compute the time derivative of the Jacobian of a frame: ``getFrameJacobianTimeVariation`` at a state."""
    computeJointJacobiansTimeVariation(model, data, q, v)
    return getFrameJacobianTimeVariation(model, data, frame_id, reference_frame)
