"""Jacobians of joints and frames with respect to the independent velocities: Pinocchio's Jacobians, multiplied by G."""

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
    Jacobian, shape (6, nv), [linear; angular], in the reference frame, [m/s] and [rad/s] per unit of v; a new array.

Raises:
    SingularClusterError: At q, the loops do not determine the velocities of the dependent joints.

References:
    Pinocchio's ``{name}``, multiplied by G.

Example:
    >>> import pin_clusters as pc
    >>> model = pc.load("four_bar")
    >>> pc.{name}(model, model.createData(), pc.neutral(model), 3).shape
    (6, 1)
"""
_WITH_RATE = """
References:
    Product rule: Pinocchio's ``{name}`` times G, plus the Jacobian of the tree times dG/dt.

Returns:
    dJ/dt, shape (6, nv), [linear; angular], in the reference frame, [m/s^2] and [rad/s^2] per unit of v; a new array.

Example:
    >>> import pinocchio as pin, pin_clusters as pc
    >>> model = pc.load("four_bar")
    >>> data = model.createData()
    >>> _ = pc.computeJointJacobiansTimeVariation(model, data, pc.neutral(model), [1.0])
    >>> pc.{name}(model, data, 3, pin.LOCAL).shape
    (6, 1)
"""

_ALL = MOTION | COLUMNS | RATES
_documented = _check.documented(_COMMON, _ids.AT_A_PLACE)
_gets = _check.documented(_COMMON, _ids.AT_A_PLACE, solves=False)
_rates = _check.documented(_COMMON, _ids.AT_A_PLACE, _WITH_RATE)


@fast(of_tree(COLUMNS, "q", copies="_J", last="q"))
@also_pinocchios
@_documented
def computeJointJacobians(model: ClusterModel, data: ClusterData, q: ArrayLike | None = None) -> np.ndarray:
    """Compute the Jacobians of all joints, which ``getJointJacobian`` and ``getFrameJacobian`` read.

    Args:
        data: Workspace. The function stores the result in ``data.J`` and fills ``data.oMi``.
        q: Configuration of the spanning tree, shape (nq,). The default is the last q passed to a function of this
            package; calls of Pinocchio functions with ``data.tree`` do not change this default.

    Returns:
        New array, shape (6, nv), [linear; angular], in the world. Column k is the sum of the motion axes of all joints
        that move with v[k], each multiplied by the speed of its joint for v[k] = 1.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.computeJointJacobians(model, model.createData(), pc.neutral(model)).shape
        (6, 1)
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
    """Compute the time derivatives of all joint Jacobians, which ``getFrameJacobianTimeVariation`` reads.

    The result includes the motion of the axes of universal, ZYX and composite joints, which Pinocchio 4.1 omits.

    Args:
        data: Workspace. The function fills ``data.J`` and ``data.tree.dJ``.

    Returns:
        New array, shape (6, nv), [linear; angular], in the world, [m/s^2] and [rad/s^2] per unit of v.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.computeJointJacobiansTimeVariation(model, model.createData(), pc.neutral(model), [1.0]).shape
        (6, 1)
    """
    _tree.compute(model, data, _ALL, *_check.state(model, data, q, v))
    return data._dJ.copy()


@fast(of_jacobian("joint", "joint_id", None, q="q", default=int(pin.LOCAL)))
@also_pinocchios
@_documented
def computeJointJacobian(model: ClusterModel, data: ClusterData, q: ArrayLike, joint_id: int) -> np.ndarray:
    """Compute the Jacobian of one joint in the joint frame.

    Returns:
        Jacobian, shape (6, nv), [linear; angular], in the joint frame, [m/s] and [rad/s] per unit of v; a new array.
    """
    q, joint = _check.pose(model, data, q), _ids.joint(model, joint_id)
    return _compute(model, data, q, joint, pin.LOCAL)


@fast(of_jacobian("frame", "frame_id", q="q", default=int(pin.LOCAL)))
@also_pinocchios
@_documented
def computeFrameJacobian(
    model: ClusterModel, data: ClusterData, q: ArrayLike, frame_id: int, reference_frame: pin.ReferenceFrame = pin.LOCAL
) -> np.ndarray:
    """Compute the Jacobian of one frame.

    Args:
        data: Workspace. Unless the reference frame is ``pin.LOCAL``, the function fills ``data.oMf[frame_id]`` and
            ``data.oMi`` of the joints that move the frame.
    """
    q = _check.pose(model, data, q)
    frame, reference = _ids.frame(model, frame_id), _ids.reference(reference_frame)
    J = _compute(model, data, q, model.njoints + frame, reference)
    if reference != pin.LOCAL and data._other_fields:  # the kernel cannot write the placements to this data
        pin.forwardKinematics(model.own_tree, data._tree, q)
        pin.updateFramePlacement(model.own_tree, data._tree, frame)
    return J


def _compute(
    model: ClusterModel, data: ClusterData, q: np.ndarray, place: int, reference: pin.ReferenceFrame
) -> np.ndarray:
    """Compute the Jacobian at q of joint ``place`` if ``place`` < njoints, otherwise of frame ``place - njoints``."""
    _bridge.bring(model, data, q, data._zeros)
    result = np.empty((6, model.nv))
    data._run_jacobian(q, place, int(reference), 0, result)
    return result


def _from_data(
    model: ClusterModel,
    data: ClusterData,
    index: Any,
    reference_frame: Any,
    kind: int,
    function: Any,
    M: np.ndarray = NOTHING,
) -> np.ndarray:
    if is_pinocchios(model, data):
        return np.asarray(function(model, data, index, reference_frame))
    _check.model_data(model, data)
    number = model.njoints + _ids.frame(model, index) if kind & FRAME else _ids.joint(model, index)
    reference = _ids.reference(reference_frame)
    data._bring(READ_BY_RATES if kind & RATE else READ_BY_JACOBIANS)
    _bridge.kept(model, data)  # called only because it raises SingularClusterError
    result = np.empty((6, model.nv))
    data._run_jacobian(NOTHING, number, int(reference), kind & RATE, result, M)
    return result


@fast(of_jacobian("joint", "joint_id"))
@_documented
def getJointJacobian(
    model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray:
    """Return the Jacobian of a joint; call ``computeJointJacobians`` first.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data = model.createData()
        >>> _ = pc.computeJointJacobians(model, data, pc.neutral(model))
        >>> pc.getJointJacobian(model, data, 3, pin.LOCAL).round(4).ravel()
        array([0.    , 0.    , 0.    , 0.    , 0.2211, 0.    ])
    """
    return _from_data(model, data, joint_id, reference_frame, JOINT, pin.getJointJacobian)


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
    """Return the Jacobian of a frame, or of a placement relative to a joint; call ``computeJointJacobians`` first.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data, frame = model.createData(), model.getFrameId("rocker_link")
        >>> _ = pc.computeJointJacobians(model, data, pc.neutral(model))
        >>> pc.getFrameJacobian(model, data, frame, pin.LOCAL_WORLD_ALIGNED).round(4).ravel()
        array([0.    , 0.    , 0.    , 0.    , 0.2211, 0.    ])
    """
    if is_pinocchios(model, data):
        return pin.getFrameJacobian(model, data, *where, **named)
    _check.model_data(model, data)
    index, placement, axes = _ids.frame_or_joint(model, where, named)
    if placement is None:
        return _from_data(model, data, index, axes, FRAME, None)
    return _from_data(model, data, index, axes, JOINT, None, _ids.numbers_of(placement))


@fast(of_jacobian("joint", "joint_id", rate=True))
@_rates
def getJointJacobianTimeVariation(
    model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray:
    """Return the time derivative of a joint's Jacobian; call ``computeJointJacobiansTimeVariation`` first."""
    return _from_data(model, data, joint_id, reference_frame, JOINT | RATE, pin.getJointJacobianTimeVariation)


@fast(of_jacobian("frame", "frame_id", rate=True))
@_rates
def getFrameJacobianTimeVariation(
    model: ClusterModel, data: ClusterData, frame_id: int, reference_frame: pin.ReferenceFrame
) -> np.ndarray:
    """Return the time derivative of a frame's Jacobian; call ``computeJointJacobiansTimeVariation`` first."""
    return _from_data(model, data, frame_id, reference_frame, FRAME | RATE, pin.getFrameJacobianTimeVariation)


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
    """Compute the time derivative of a frame's Jacobian in the state (q, v).

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.frameJacobianTimeVariation(model, model.createData(), pc.neutral(model), [1.0], 3, pin.LOCAL).shape
        (6, 1)
    """
    computeJointJacobiansTimeVariation(model, data, q, v)
    return getFrameJacobianTimeVariation(model, data, frame_id, reference_frame)
