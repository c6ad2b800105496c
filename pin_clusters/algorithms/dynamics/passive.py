"""Torque of springs, dampers, dry friction and gravity compensation, and of motor and gear losses."""

from typing import Any

import numpy as np

from ..._support.arrays import ArrayLike, real
from ...errors import ArgumentTypeError, shown
from ...model import FRICTION_SPEED, ClusterData, ClusterModel
from .._shared import bridge as _bridge
from .._shared import check as _check
from .aba import aba
from .losses import Losses
from .minverse import computeMinverse


@_check.documented()
def passive_torque(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None = None,
    fext: Any = None,
    *,
    friction_speed: float = FRICTION_SPEED,
) -> np.ndarray:
    """Compute the torque of springs, dampers, dry friction and gravity compensation on the independent joints.

    The result includes the friction and gear losses of each ``Motor`` and has the sign of MuJoCo's ``qfrc_passive``.
    Torques tau cause the acceleration ``pc.aba(model, data, q, v, tau + pc.passive_torque(model, data, q, v, tau))``.
    Without gear losses, a motion requires the joint torques ``pc.rnea(...) - pc.passive_torque(...)``; otherwise, see
    ``pc.motor_torque``. ``pc.simulate`` adds the passive torque, which is zero if ``model.passive`` is None.

    Args:
        tau: Joint torques B tau_motor of lossless motors, where B is ``pc.actuation_matrix``, shape (nv,), [N m] or
            [N]. Required if gears have losses, because these losses depend on the load and the acceleration.
        fext: External forces as in ``pc.aba``; they affect the loads of the gears.
        friction_speed: Dry friction is proportional to tanh(speed / friction_speed), [rad/s] or [m/s]. 0 selects
            sign(speed); infinity removes dry friction. Unlike here, MuJoCo's ``qfrc_passive`` excludes dry friction.

    Returns:
        Torque, shape (nv,), [N m] or [N]; a new array.

    Raises:
        ArgumentTypeError: ``tau`` is missing.
        ModelError: A gear locks, so that no finite acceleration satisfies the torque model.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> tree = pc.load("four_bar").tree
        >>> model = pc.ClusterModel(tree, [pc.Spring("crank", 2.0, rest=0.5)])
        >>> data = model.createData()
        >>> pc.passive_torque(model, data, np.zeros(model.nq), np.zeros(model.nv))[model.joint_idx_v("crank")].item()
        1.0
    """
    q, v = _check.state(model, data, q, v)
    friction_speed = check_friction_speed("passive_torque", friction_speed)
    if model.passive is None:
        return np.zeros(model.nv)
    spring_torque = springs(model, data, q, v, friction_speed)
    if not model.passive.lossy:
        return spring_torque
    if tau is None:
        raise ArgumentTypeError(
            f"passive_torque: the gear of {model.passive.lossy[0]!r} has load-dependent losses, so tau is required: "
            "passive_torque(model, data, q, v, tau), with tau as in pc.aba."
        )
    tau = _check.velocity(model, "tau", tau)
    losses = Losses(model, data, q, v, friction_speed)
    a = aba(model, data, q, v, tau + spring_torque, fext)
    load = losses.load(losses.motor_torque(tau) - losses.friction, model, a)
    if not np.isfinite(load).all():
        return np.full(model.nv, np.nan)
    response = losses.whole @ computeMinverse(model, data, q) @ losses.rows.T
    return spring_torque - losses.settle(load, response) @ losses.rows


def springs(model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, speed: float) -> np.ndarray:
    """Compute the passive torque on the independent joints, excluding gear losses."""
    G = _bridge.matrix(model, data, q)
    return np.zeros(model.nv) if model.passive is None else np.asarray(model.passive.torque(q, G @ v, speed) @ G)


def check_friction_speed(caller: str, given: Any) -> float:
    speed = real(given)
    if speed is None or not speed >= 0.0:
        raise ArgumentTypeError(f"{caller}: friction_speed must be a number, at least 0, got {shown(given)}.")
    return speed
