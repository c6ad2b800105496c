"""Derivatives of the motions of joints, frames and points with respect to the independent coordinates.

Derivatives with respect to q are along ``pc.integrate``: the dependent joints change so that the constraints remain
satisfied, and the independent v and a are constant.
"""

from typing import Any, overload

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...compiler.calls import AT_A_PLACE, fast, of_derivatives, of_tree
from ...compiler.owed import owing
from ...errors import NotComputedError
from ...kernels.tables.tree_layout import AXES, MOTION, RATES
from ...model import NOTHING, ClusterData, ClusterModel, also_pinocchios
from .._shared import check as _check
from .._shared import ids as _ids
from .._shared import tree as _tree

_COMMON = """
Args:
    placement: Placement of the frame or point in the frame of the joint.

Raises:
    NotComputedError: ``computeForwardKinematicsDerivatives`` was not called before, or was called without a.

References:
    Pinocchio's ``{name}``.
"""
_VELOCITY = """
Returns:
    (dv_dq, dv_dv), each of shape (6, nv), [linear; angular], [m/s] and [rad/s] per unit of q or v; new arrays.

Example:
    >>> import numpy as np, pinocchio as pin, pin_clusters as pc
    >>> model = pc.load("four_bar")
    >>> data, v = model.createData(), np.ones(model.nv)
    >>> pc.computeForwardKinematicsDerivatives(model, data, pc.neutral(model), v)
    >>> [x.shape for x in pc.{name}(model, data, 3, pin.LOCAL)]
    [(6, 1), (6, 1)]
"""
_ACCELERATION = """
Returns:
    (dv_dq, da_dq, da_dv, da_da), each of shape (6, nv), [linear; angular], [m/s] and [rad/s], or [m/s^2] and [rad/s^2],
    per unit of q, v or a; new arrays.

Example:
    >>> import numpy as np, pinocchio as pin, pin_clusters as pc
    >>> model = pc.load("four_bar")
    >>> data, v = model.createData(), np.ones(model.nv)
    >>> pc.computeForwardKinematicsDerivatives(model, data, pc.neutral(model), v, v)
    >>> [x.shape for x in pc.{name}(model, data, 3, pin.LOCAL)]
    [(6, 1), (6, 1), (6, 1), (6, 1)]
"""
_velocity = _check.documented(_COMMON, _ids.AT_A_PLACE, _VELOCITY, solves=False)
_acceleration = _check.documented(_COMMON, _ids.AT_A_PLACE, _ACCELERATION, solves=False)
_ALL = owing(MOTION | AXES | RATES, "computeForwardKinematicsDerivatives")
_ROWS, _ROWS_OF_POINT = 6, 3


@fast(of_tree(_ALL, "q v", "q v a", moved=True))
@also_pinocchios
@_check.documented(_COMMON)
def computeForwardKinematicsDerivatives(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike, a: ArrayLike | None = None
) -> None:
    """Compute the terms that ``getJointVelocityDerivatives`` and related functions require.

    These functions return the derivatives at the last arguments of this function, even if other functions were called
    in between. This function fills ``data.oMi``, ``v``, ``a``, ``data.tree.J`` and ``data.tree.dJ``.

    Args:
        a: Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2]. If omitted, only velocities are differentiated.

    Example:
        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> model = pc.ClusterModel(pin.buildSampleModelManipulator())
        >>> data, v = model.createData(), np.ones(model.nv)
        >>> pc.computeForwardKinematicsDerivatives(model, data, pc.neutral(model), v, v)
        >>> dv_dq, da_dq, da_dv, da_da = pc.getJointAccelerationDerivatives(model, data, 6, pin.LOCAL)
        >>> da_dq.shape
        (6, 6)
    """
    q, v = _check.state(model, data, q, v)
    a = NOTHING if a is None else _check.velocity(model, "a", a)
    _tree.differentiate(model, data, _ALL, q, v, a)


@fast(of_derivatives(1))
@also_pinocchios
@_velocity
def getJointVelocityDerivatives(
    model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: pin.ReferenceFrame
) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives of a joint's spatial velocity with respect to q and v.

    See ``getFrameVelocityDerivatives``.
    """
    _check.model_data(model, data)
    joint, reference = _ids.joint(model, joint_id), _ids.reference(reference_frame)
    return _of_velocity(model, data, joint, NOTHING, reference, _ROWS)


@fast(of_derivatives(2))
@also_pinocchios
@_acceleration
def getJointAccelerationDerivatives(
    model: ClusterModel, data: ClusterData, joint_id: int, reference_frame: pin.ReferenceFrame
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the derivatives of a joint's spatial velocity (dv_dq) and spatial acceleration (da_dq, da_dv, da_da).

    See ``getFrameAccelerationDerivatives``.
    """
    _check.model_data(model, data)
    joint, reference = _ids.joint(model, joint_id), _ids.reference(reference_frame)
    return _of_acceleration(model, data, joint, NOTHING, reference, _ROWS)


@overload
def getFrameVelocityDerivatives(
    model: ClusterModel, data: ClusterData, frame_id: int, reference_frame: pin.ReferenceFrame
) -> tuple[np.ndarray, np.ndarray]: ...
@overload
def getFrameVelocityDerivatives(
    model: ClusterModel, data: ClusterData, joint_id: int, placement: pin.SE3, reference_frame: pin.ReferenceFrame
) -> tuple[np.ndarray, np.ndarray]: ...
@fast(of_derivatives(1), AT_A_PLACE)
@also_pinocchios
@_velocity
def getFrameVelocityDerivatives(model: ClusterModel, data: ClusterData, *where: Any, **named: Any) -> Any:
    """Return the derivatives of the spatial velocity of a frame with respect to q and v.

    For ``pin.WORLD``, the reference point is the origin of the world. For ``pin.LOCAL_WORLD_ALIGNED``, the reference
    point is the position of the frame at q; as in Pinocchio, this point is fixed in space during differentiation.
    """
    _check.model_data(model, data)
    return _of_velocity(model, data, *_ids.place_of(model, where, named), _ROWS)


@overload
def getFrameAccelerationDerivatives(
    model: ClusterModel, data: ClusterData, frame_id: int, reference_frame: pin.ReferenceFrame
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]: ...
@overload
def getFrameAccelerationDerivatives(
    model: ClusterModel, data: ClusterData, joint_id: int, placement: pin.SE3, reference_frame: pin.ReferenceFrame
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]: ...
@fast(of_derivatives(2), AT_A_PLACE)
@also_pinocchios
@_acceleration
def getFrameAccelerationDerivatives(model: ClusterModel, data: ClusterData, *where: Any, **named: Any) -> Any:
    """Return the derivatives of a frame's spatial velocity (dv_dq) and spatial acceleration (da_dq, da_dv, da_da).

    The reference points are the same as in ``getFrameVelocityDerivatives``. Pinocchio 4.1 returns a wrong da_dq for
    ``pin.WORLD`` and ``pin.LOCAL_WORLD_ALIGNED`` if an inner joint has several degrees of freedom.
    """
    _check.model_data(model, data)
    return _of_acceleration(model, data, *_ids.place_of(model, where, named), _ROWS)


@fast(of_derivatives(1, "of_point"))
@also_pinocchios
@_velocity
def getPointVelocityDerivatives(
    model: ClusterModel, data: ClusterData, joint_id: int, placement: pin.SE3, reference_frame: pin.ReferenceFrame
) -> tuple[np.ndarray, np.ndarray]:
    """Return the derivatives of the velocity of a point with respect to q and v.

    Args:
        reference_frame: ``pin.LOCAL`` or ``pin.LOCAL_WORLD_ALIGNED``.

    Returns:
        (dv_dq, dv_dv), each of shape (3, nv), [m/s] per unit of q or v; new arrays.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data = model.createData()
        >>> pc.computeForwardKinematicsDerivatives(model, data, pc.neutral(model), [1.0])
        >>> [x.shape for x in pc.getPointVelocityDerivatives(model, data, 3, pin.SE3.Identity(), pin.LOCAL)]
        [(3, 1), (3, 1)]
    """
    _check.model_data(model, data)
    point = _ids.joint(model, joint_id), _ids.numbers_of(placement), _ids.of_point(reference_frame)
    return _of_velocity(model, data, *point, _ROWS_OF_POINT)


@fast(of_derivatives(2, "of_point"))
@also_pinocchios
@_acceleration
def getPointClassicAccelerationDerivatives(
    model: ClusterModel, data: ClusterData, joint_id: int, placement: pin.SE3, reference_frame: pin.ReferenceFrame
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return the derivatives of a point's velocity (dv_dq) and classical acceleration (da_dq, da_dv, da_da).

    Args:
        reference_frame: ``pin.LOCAL`` or ``pin.LOCAL_WORLD_ALIGNED``.

    Returns:
        (dv_dq, da_dq, da_dv, da_da), each of shape (3, nv), [m/s] or [m/s^2] per unit of q, v or a; new arrays.

    Example:
        >>> import pinocchio as pin, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data = model.createData()
        >>> pc.computeForwardKinematicsDerivatives(model, data, pc.neutral(model), [1.0], [0.0])
        >>> results = pc.getPointClassicAccelerationDerivatives(model, data, 3, pin.SE3.Identity(), pin.LOCAL)
        >>> [x.shape for x in results]
        [(3, 1), (3, 1), (3, 1), (3, 1)]
    """
    _check.model_data(model, data)
    point = _ids.joint(model, joint_id), _ids.numbers_of(placement), _ids.of_point(reference_frame)
    return _of_acceleration(model, data, *point, _ROWS_OF_POINT)


def _of_velocity(
    model: ClusterModel, data: ClusterData, place: int, M: np.ndarray, reference: pin.ReferenceFrame, rows: int
) -> tuple[np.ndarray, np.ndarray]:
    v_q, v_v = np.empty((rows, model.nv)), np.empty((rows, model.nv))
    _compute(data, 1, place, M, reference, v_q, v_v, data._no_rows, data._no_rows)
    return v_q, v_v


def _of_acceleration(
    model: ClusterModel, data: ClusterData, place: int, M: np.ndarray, reference: pin.ReferenceFrame, rows: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    v_q, a_q, a_v, a_a = (np.empty((rows, model.nv)) for _ in range(4))
    _compute(data, 2, place, M, reference, v_q, a_a, a_q, a_v)
    return v_q, a_q, a_v, a_a


def _compute(
    data: ClusterData, level: int, place: int, M: np.ndarray, reference: pin.ReferenceFrame, *results: np.ndarray
) -> None:
    if data._level < level:
        quantity, needed = ("velocities", "q, v)") if level == 1 else ("accelerations", "q, v, a)")
        raise NotComputedError(
            f"data contains no derivatives of {quantity}. Call pc.computeForwardKinematicsDerivatives(model, data, "
            f"{needed} first."
        )
    data._run_in_tree("place_derivatives", data._moved_tables, place, int(reference), M, *results)
