"""Kinematics: Pinocchio's own, with the velocities of the spanning tree from the independent ones."""

from __future__ import annotations

from typing import Any

import pinocchio as pin

from ..errors import ArgumentTypeError
from ..model import ClusterData, ClusterModel
from . import _bridge, _check, _ids


def forwardKinematics(model: ClusterModel, data: ClusterData, q: Any, v: Any = None, a: Any = None) -> None:
    """Compute the placements (with v, the velocities; with a, the accelerations) of all joints.

    The results are in ``data.oMi``, ``data.v``, ``data.a`` (joint frames, [linear; angular]), that is in ``data.tree``,
    which goes to any Pinocchio function together with ``model.tree``.

    Args:
        model: Cluster model.
        data: Its workspace.
        q: Configuration of the whole tree, shape (nq,), on the couplings (not checked unless ``data.check``; off them
            the bodies are placed where q says, and move as G says).
        v: Independent velocity, shape (nv,), [rad/s] or [m/s].
        a: Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2]; needs v.

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong, or a comes without v.
        DataMismatchError: ``data`` belongs to another model.
        ConfigurationError: q is off the couplings (if ``data.check``).
        SingularClusterError: With v: closed loops cannot be solved for their dependent joints.

    References:
        Pinocchio's ``forwardKinematics``, which it calls; with the motion G v, G a + g of the tree.

    Example:
        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> model = pc.ClusterModel(pin.buildSampleModelManipulator())
        >>> data = model.createData()
        >>> pc.forwardKinematics(model, data, pc.neutral(model), np.zeros(model.nv))
        >>> bool(np.abs(data.v[1].vector).max() == 0.0)
        True
    """
    _check.model_data(model, data)
    q = _check.configuration(model, data, q)
    if v is None and a is not None:
        raise ArgumentTypeError("forwardKinematics: an acceleration needs the velocity too: (model, data, q, v, a).")
    pin.forwardKinematics(model._pristine, data.tree, q, *_bridge.tree_rates(model, data, q, v, a))


def updateFramePlacements(model: ClusterModel, data: ClusterData) -> None:
    """Compute the placements of all frames, ``data.oMf``; after ``forwardKinematics``.

    Args:
        model: Cluster model.
        data: Its workspace.

    Raises:
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.

    References:
        Pinocchio's ``updateFramePlacements``, which it calls.
    """
    _check.model_data(model, data)
    pin.updateFramePlacements(model._pristine, data.tree)


def updateFramePlacement(model: ClusterModel, data: ClusterData, frame_id: int) -> pin.SE3:
    """Compute the placement of one frame, ``data.oMf[frame_id]``; after ``forwardKinematics``.

    Args:
        model: Cluster model.
        data: Its workspace.
        frame_id: ``model.getFrameId(name)``.

    Returns:
        Placement of the frame in the world.

    Raises:
        UnknownNameError: There is no such frame.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.

    References:
        Pinocchio's ``updateFramePlacement``, which it calls.
    """
    _check.model_data(model, data)
    return pin.SE3(pin.updateFramePlacement(model._pristine, data.tree, _ids.frame(model, frame_id)))


def updateGlobalPlacements(model: ClusterModel, data: ClusterData) -> None:
    """Compute ``data.oMi`` from ``data.liMi``.

    Args:
        model: Cluster model.
        data: Its workspace.

    Raises:
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.

    References:
        Pinocchio's ``updateGlobalPlacements``, which it calls.
    """
    _check.model_data(model, data)
    pin.updateGlobalPlacements(model._pristine, data.tree)


def framesForwardKinematics(model: ClusterModel, data: ClusterData, q: Any) -> None:
    """Compute the placements of all joints and frames, ``data.oMi`` and ``data.oMf``.

    Args:
        model: Cluster model.
        data: Its workspace.
        q: Configuration of the whole tree, shape (nq,).

    Raises:
        ShapeError: A size is wrong.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.
        ConfigurationError: q is off the couplings (if ``data.check``).

    References:
        Pinocchio's ``framesForwardKinematics``, which it calls.
    """
    _check.model_data(model, data)
    q = _check.configuration(model, data, q)
    _bridge.leave(model, data, q)
    pin.framesForwardKinematics(model._pristine, data.tree, q)


def _of_joint(function: Any, model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: Any) -> pin.Motion:
    _check.model_data(model, data)
    joint, reference = _ids.joint(model, joint_id), _ids.reference(reference_frame)
    return pin.Motion(function(model._pristine, data.tree, joint, reference))


def _of_frame(function: Any, model: ClusterModel, data: ClusterData, frame_id: int, reference_frame: Any) -> pin.Motion:
    _check.model_data(model, data)
    frame, reference = _ids.frame(model, frame_id), _ids.reference(reference_frame)
    return pin.Motion(function(model._pristine, data.tree, frame, reference))


def getVelocity(
    model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: pin.ReferenceFrame = pin.LOCAL
) -> pin.Motion:
    """Return the spatial velocity of a joint; after ``forwardKinematics`` with v.

    Args:
        model: Cluster model.
        data: Its workspace.
        joint_id: ``model.getJointId(name)``.
        reference_frame: ``pin.LOCAL``, ``pin.WORLD`` or ``pin.LOCAL_WORLD_ALIGNED``.

    Returns:
        [linear; angular], [m/s] and [rad/s].

    Raises:
        UnknownNameError: There is no such joint.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.

    References:
        Pinocchio's ``getVelocity``, which it calls.
    """
    return _of_joint(pin.getVelocity, model, data, joint_id, reference_frame)


def getAcceleration(
    model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: pin.ReferenceFrame = pin.LOCAL
) -> pin.Motion:
    """Return the spatial acceleration of a joint; after ``forwardKinematics`` with v and a.

    Args:
        model: Cluster model.
        data: Its workspace.
        joint_id: ``model.getJointId(name)``.
        reference_frame: ``pin.LOCAL``, ``pin.WORLD`` or ``pin.LOCAL_WORLD_ALIGNED``.

    Returns:
        [linear; angular], [m/s^2] and [rad/s^2].

    Raises:
        UnknownNameError: There is no such joint.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.

    References:
        Pinocchio's ``getAcceleration``, which it calls.
    """
    return _of_joint(pin.getAcceleration, model, data, joint_id, reference_frame)


def getClassicalAcceleration(
    model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: pin.ReferenceFrame = pin.LOCAL
) -> pin.Motion:
    """Return the classical acceleration (of the origin) of a joint; after ``forwardKinematics`` with v and a.

    Args:
        model: Cluster model.
        data: Its workspace.
        joint_id: ``model.getJointId(name)``.
        reference_frame: ``pin.LOCAL``, ``pin.WORLD`` or ``pin.LOCAL_WORLD_ALIGNED``.

    Returns:
        [linear; angular], [m/s^2] and [rad/s^2].

    Raises:
        UnknownNameError: There is no such joint.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.

    References:
        Pinocchio's ``getClassicalAcceleration``, which it calls.
    """
    return _of_joint(pin.getClassicalAcceleration, model, data, joint_id, reference_frame)


def getFrameVelocity(
    model: ClusterModel, data: ClusterData, frame_id: int, reference_frame: pin.ReferenceFrame = pin.LOCAL
) -> pin.Motion:
    """Return the spatial velocity of a frame; after ``forwardKinematics`` with v.

    Args:
        model: Cluster model.
        data: Its workspace.
        frame_id: ``model.getFrameId(name)``.
        reference_frame: ``pin.LOCAL``, ``pin.WORLD`` or ``pin.LOCAL_WORLD_ALIGNED``.

    Returns:
        [linear; angular], [m/s] and [rad/s].

    Raises:
        UnknownNameError: There is no such frame.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.

    References:
        Pinocchio's ``getFrameVelocity``, which it calls.
    """
    return _of_frame(pin.getFrameVelocity, model, data, frame_id, reference_frame)


def getFrameAcceleration(
    model: ClusterModel, data: ClusterData, frame_id: int, reference_frame: pin.ReferenceFrame = pin.LOCAL
) -> pin.Motion:
    """Return the spatial acceleration of a frame; after ``forwardKinematics`` with v and a.

    Args:
        model: Cluster model.
        data: Its workspace.
        frame_id: ``model.getFrameId(name)``.
        reference_frame: ``pin.LOCAL``, ``pin.WORLD`` or ``pin.LOCAL_WORLD_ALIGNED``.

    Returns:
        [linear; angular], [m/s^2] and [rad/s^2].

    Raises:
        UnknownNameError: There is no such frame.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.

    References:
        Pinocchio's ``getFrameAcceleration``, which it calls.
    """
    return _of_frame(pin.getFrameAcceleration, model, data, frame_id, reference_frame)


def getFrameClassicalAcceleration(
    model: ClusterModel, data: ClusterData, frame_id: int, reference_frame: pin.ReferenceFrame = pin.LOCAL
) -> pin.Motion:
    """Return the classical acceleration (of the origin) of a frame; after ``forwardKinematics`` with v and a.

    Args:
        model: Cluster model.
        data: Its workspace.
        frame_id: ``model.getFrameId(name)``.
        reference_frame: ``pin.LOCAL``, ``pin.WORLD`` or ``pin.LOCAL_WORLD_ALIGNED``.

    Returns:
        [linear; angular], [m/s^2] and [rad/s^2].

    Raises:
        UnknownNameError: There is no such frame.
        ArgumentTypeError: A type is wrong.
        DataMismatchError: ``data`` belongs to another model.

    References:
        Pinocchio's ``getFrameClassicalAcceleration``, which it calls.
    """
    return _of_frame(pin.getFrameClassicalAcceleration, model, data, frame_id, reference_frame)
