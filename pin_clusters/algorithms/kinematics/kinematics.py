"""Kinematics of the spanning tree from the independent velocities."""

from typing import Any, overload

import pinocchio as pin
from numpy.typing import ArrayLike

from ...compiler.calls import AT_A_PLACE, Form, fast, of_getter, of_pinocchio, of_tree, register
from ...compiler.owed import OF_TREE, bits
from ...errors import ArgumentTypeError
from ...kernels.tables.tree_layout import MOTION
from ...model import ClusterData, ClusterModel, also_pinocchios
from .._shared import check as _check
from .._shared import ids as _ids
from .._shared import on_demand as _on_demand
from .._shared import tree as _tree

_CALLS = """
References:
    Pinocchio's ``{name}``.
"""
_SPEED = """
Returns:
    Velocity, [linear; angular], [m/s] and [rad/s].

Example:
    >>> import numpy as np, pinocchio as pin, pin_clusters as pc
    >>> model = pc.load("four_bar")
    >>> data = model.createData()
    >>> pc.forwardKinematics(model, data, pc.neutral(model), [1.0])
    >>> pc.{name}(model, data, 1, pin.LOCAL).vector.shape
    (6,)
"""
_RATE = """
Returns:
    Acceleration, [linear; angular], [m/s^2] and [rad/s^2].

Example:
    >>> import numpy as np, pinocchio as pin, pin_clusters as pc
    >>> model = pc.load("four_bar")
    >>> data = model.createData()
    >>> pc.forwardKinematics(model, data, pc.neutral(model), [1.0], [0.0])
    >>> pc.{name}(model, data, 1, pin.LOCAL).vector.shape
    (6,)
"""
_V, _A, _OMI = bits("v"), bits("a"), bits("oMi")
_documented = _check.documented(_CALLS, solves=False)
_velocity = _check.documented(_CALLS, _SPEED, _ids.AT_A_PLACE, solves=False)
_acceleration = _check.documented(_CALLS, _RATE, _ids.AT_A_PLACE, solves=False)


@fast(of_tree(MOTION, "q", "q v", "q v a"))
@also_pinocchios
@_documented
def forwardKinematics(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike | None = None, a: ArrayLike | None = None
) -> None:
    """Compute the placements of all joints, their velocities if v is given, and their accelerations if a is given.

    Results are stored in ``data.oMi``, ``data.v`` and ``data.a`` (joint frames, [linear; angular]). These are fields of
    ``data.tree``, which can be passed to any Pinocchio function together with ``model.tree``.

    Args:
        q: Configuration of the spanning tree, shape (nq,). It must satisfy the constraints (checked if ``data.check``).
            If an unchecked q violates the constraints, body velocities and body poses are inconsistent.
        a: Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2]; requires v.

    Raises:
        ArgumentTypeError: An argument has a wrong type, or a is passed without v.
        SingularClusterError: v is passed, and the loops do not determine the velocities of the dependent joints.

    References:
        Pinocchio's ``forwardKinematics`` with the tree velocity G v and the tree acceleration G a + g.

    Example:
        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> model = pc.ClusterModel(pin.buildSampleModelManipulator())
        >>> data = model.createData()
        >>> pc.forwardKinematics(model, data, pc.neutral(model), np.zeros(model.nv))
        >>> bool(np.abs(data.v[1].vector).max() == 0.0)
        True
    """
    q = _check.pose(model, data, q)
    if v is None:
        if a is not None:
            raise ArgumentTypeError("forwardKinematics: a requires v. Call forwardKinematics(model, data, q, v, a).")
        _tree.place(model, data, MOTION, q)
    else:
        _tree.compute(model, data, MOTION, q, *_check.rates(model, v, a))


def _of_pinocchio(data: ClusterData, function: Any) -> tuple[Any, ...]:
    names = [name for name in function.positions if name == "frame_id"]
    form = Form(data, function, " ".join(names))
    form.checks += [("index", form.positions[name], data.model.nframes, 0, register()) for name in names]
    read = OF_TREE if function.__name__ == "updateGlobalPlacements" else _OMI
    return (of_pinocchio(form, getattr(pin, function.__name__), *names, read=read),)


def _update_frames(form: Form) -> None:
    form.call(pin.updateFramePlacements, form.model.own_tree, form.owner._tree)


@fast(_of_pinocchio)
@also_pinocchios
@_documented
def updateFramePlacements(model: ClusterModel, data: ClusterData) -> None:
    """Compute ``data.oMf``, the placements of all frames; call ``forwardKinematics`` first.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data = model.createData()
        >>> pc.forwardKinematics(model, data, pc.neutral(model))
        >>> pc.updateFramePlacements(model, data)
        >>> data.oMf[model.getFrameId("rocker")].translation.round(3)
        array([0.37, 0.  , 0.  ])
    """
    _check.model_data(model, data)
    data._bring(_OMI)
    pin.updateFramePlacements(model.own_tree, data._tree)


@fast(_of_pinocchio)
@also_pinocchios
@_documented
def updateFramePlacement(model: ClusterModel, data: ClusterData, frame_id: int) -> pin.SE3:
    """Compute ``data.oMf[frame_id]``, the placement of one frame; call ``forwardKinematics`` first.

    Returns:
        Placement of the frame in the world, [m].

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data = model.createData()
        >>> pc.forwardKinematics(model, data, pc.neutral(model))
        >>> pc.updateFramePlacement(model, data, model.getFrameId("rocker")).translation.round(3)
        array([0.37, 0.  , 0.  ])
    """
    _check.model_data(model, data)
    frame = _ids.frame(model, frame_id)
    data._bring(_OMI)
    return pin.updateFramePlacement(model.own_tree, data._tree, frame)


@fast(_of_pinocchio)
@also_pinocchios
@_documented
def updateGlobalPlacements(model: ClusterModel, data: ClusterData) -> None:
    """Compute ``data.oMi``, the placements in the world, from ``data.liMi``, the placements in the parent frames."""
    _check.model_data(model, data)
    pin.updateGlobalPlacements(model.own_tree, data.tree)


@fast(of_tree(MOTION, "q", then=_update_frames))
@also_pinocchios
@_documented
def framesForwardKinematics(model: ClusterModel, data: ClusterData, q: ArrayLike) -> None:
    """Compute ``data.oMi``, the placements of all joints, and ``data.oMf``, the placements of all frames.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data = model.createData()
        >>> pc.framesForwardKinematics(model, data, pc.neutral(model))
        >>> data.oMf[model.getFrameId("coupler")].translation.round(3)
        array([0. , 0. , 0.1])
    """
    _tree.place(model, data, MOTION, _check.pose(model, data, q))
    pin.updateFramePlacements(model.own_tree, data._tree)


def _motion_of(
    find: Any, model: ClusterModel, data: ClusterData, index: int, reference_frame: Any, function: Any
) -> pin.Motion:
    _check.model_data(model, data)
    return _motion(model, data, (find(model, index), _ids.reference(reference_frame)), function)


def _motion_at_place(
    model: ClusterModel, data: ClusterData, where: tuple[Any, ...], named: dict[str, Any], function: Any
) -> pin.Motion:
    usual = len(where) == 1 or (len(where) == 2 and type(where[1]) is pin.ReferenceFrame)
    if usual and not named:  # this special case halves the time of the call
        return _motion_of(_ids.frame, model, data, where[0], where[1] if len(where) == 2 else pin.LOCAL, function)
    _check.model_data(model, data)
    index, placement, axes = _ids.frame_or_joint(model, where, named, default=pin.LOCAL)
    placed = (index,) if placement is None else (index, placement)
    return _motion(model, data, (*placed, axes), function)


def _motion(model: ClusterModel, data: ClusterData, where: tuple[Any, ...], function: Any) -> pin.Motion:
    """Compute the fields of data that Pinocchio's ``function`` reads, then call ``function``."""
    if data._owed[0]:
        read = _V if function in (pin.getVelocity, pin.getFrameVelocity) else _V | _A
        data._bring(read if where[-1] == pin.LOCAL else read | _OMI)
    return function(model.own_tree, data._tree, *where)


@fast(of_getter(pin.getVelocity, _V))
@also_pinocchios
@_velocity
def getVelocity(
    model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: pin.ReferenceFrame = pin.LOCAL
) -> pin.Motion:
    """Return the spatial velocity of a joint; call ``forwardKinematics`` with v first."""
    return _motion_of(_ids.joint, model, data, joint_id, reference_frame, pin.getVelocity)


@fast(of_getter(pin.getAcceleration, _V | _A))
@also_pinocchios
@_acceleration
def getAcceleration(
    model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: pin.ReferenceFrame = pin.LOCAL
) -> pin.Motion:
    """Return the spatial acceleration of a joint; call ``forwardKinematics`` with v and a first."""
    return _motion_of(_ids.joint, model, data, joint_id, reference_frame, pin.getAcceleration)


@fast(of_getter(pin.getClassicalAcceleration, _V | _A))
@also_pinocchios
@_acceleration
def getClassicalAcceleration(
    model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: pin.ReferenceFrame = pin.LOCAL
) -> pin.Motion:
    """Return the classical acceleration of a joint's origin; call ``forwardKinematics`` with v and a first."""
    return _motion_of(_ids.joint, model, data, joint_id, reference_frame, pin.getClassicalAcceleration)


@overload
def getFrameVelocity(
    model: ClusterModel, data: ClusterData, frame_id: int, reference_frame: pin.ReferenceFrame = ...
) -> pin.Motion: ...
@overload
def getFrameVelocity(
    model: ClusterModel, data: ClusterData, joint_id: int, placement: pin.SE3, reference_frame: pin.ReferenceFrame = ...
) -> pin.Motion: ...
@fast(of_getter(pin.getFrameVelocity, _V), AT_A_PLACE)
@also_pinocchios
@_velocity
def getFrameVelocity(model: ClusterModel, data: ClusterData, *where: Any, **named: Any) -> Any:
    """Return the spatial velocity of a frame; call ``forwardKinematics`` with v first."""
    return _motion_at_place(model, data, where, named, pin.getFrameVelocity)


@overload
def getFrameAcceleration(
    model: ClusterModel, data: ClusterData, frame_id: int, reference_frame: pin.ReferenceFrame = ...
) -> pin.Motion: ...
@overload
def getFrameAcceleration(
    model: ClusterModel, data: ClusterData, joint_id: int, placement: pin.SE3, reference_frame: pin.ReferenceFrame = ...
) -> pin.Motion: ...
@fast(of_getter(pin.getFrameAcceleration, _V | _A), AT_A_PLACE)
@also_pinocchios
@_acceleration
def getFrameAcceleration(model: ClusterModel, data: ClusterData, *where: Any, **named: Any) -> Any:
    """Return the spatial acceleration of a frame; call ``forwardKinematics`` with v and a first."""
    return _motion_at_place(model, data, where, named, pin.getFrameAcceleration)


@overload
def getFrameClassicalAcceleration(
    model: ClusterModel, data: ClusterData, frame_id: int, reference_frame: pin.ReferenceFrame = ...
) -> pin.Motion: ...
@overload
def getFrameClassicalAcceleration(
    model: ClusterModel, data: ClusterData, joint_id: int, placement: pin.SE3, reference_frame: pin.ReferenceFrame = ...
) -> pin.Motion: ...
@fast(of_getter(pin.getFrameClassicalAcceleration, _V | _A), AT_A_PLACE)
@also_pinocchios
@_acceleration
def getFrameClassicalAcceleration(model: ClusterModel, data: ClusterData, *where: Any, **named: Any) -> Any:
    """Return the classical acceleration of a frame's origin; call ``forwardKinematics`` with v and a first."""
    return _motion_at_place(model, data, where, named, pin.getFrameClassicalAcceleration)


_on_demand.register(forwardKinematics, 1, "liMi", "oMi")
_on_demand.register(forwardKinematics, 2, "v")
_on_demand.register(forwardKinematics, 3, "a")
