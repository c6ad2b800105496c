"""The torque of springs, dampers, dry friction and held weight, and what motors and their gears lose."""

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
    """Return the torque with which springs, dampers, dry friction and held weight act on the independent joints.

    Friction and gears of each ``Motor`` are part of it. It has the sign of MuJoCo's ``qfrc_passive``: the acceleration
    under torques of motors is ``pc.aba(model, data, q, v, tau + pc.passive_torque(model, data, q, v, tau))``, and where
    no gear has losses motors give ``pc.rnea(...) - pc.passive_torque(...)`` (else: ``pc.motor_torque``).
    ``pc.simulate`` adds it by itself. Zero for a model without passive forces (``model.passive`` is None).

    Args:
        tau: Torque of the independent joints by motors that lose nothing (B tau_motor of ``pc.actuation_matrix``),
            shape (nv,). Needed where gears have losses: these follow their load, and so the acceleration.
        fext: External forces, as in ``pc.aba``: gears carry them, too.
        friction_speed: Dry friction grows as tanh(speed / friction_speed), [rad/s] or [m/s]; 0 takes the sign,
            infinity leaves it out (in MuJoCo it is a constraint, and no part of ``qfrc_passive``).

    Returns:
        Shape (nv,), [N m] or [N]; a fresh array.

    Raises:
        ArgumentTypeError: ``tau`` is missing.
        ModelError: A gear locks: under no finite acceleration its law holds.

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
    own = springs(model, data, q, v, friction_speed)
    if not model.passive.lossy:
        return own
    if tau is None:
        raise ArgumentTypeError(
            f"passive_torque: the gear of {model.passive.lossy[0]!r} loses a part of its load, so the torque of the "
            "motors is needed: passive_torque(model, data, q, v, tau), tau as for pc.aba."
        )
    tau = _check.velocity(model, "tau", tau)
    losses = Losses(model, data, q, v, friction_speed)
    a = aba(model, data, q, v, tau + own, fext)
    load = losses.load(losses.motor_torque(tau) - losses.friction, model, a)
    if not np.isfinite(load).all():
        return np.full(model.nv, np.nan)
    response = losses.whole @ computeMinverse(model, data, q) @ losses.rows.T
    return own - losses.settle(load, response) @ losses.rows


def springs(model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray, speed: float) -> np.ndarray:
    """Return the torque of all that acts but gears, on the independent joints."""
    G = _bridge.matrix(model, data, q)
    return np.zeros(model.nv) if model.passive is None else np.asarray(model.passive.torque(q, G @ v, speed) @ G)


def check_friction_speed(caller: str, given: Any) -> float:
    """Return a speed of ``passive_torque``; raise ``ArgumentTypeError`` for what is none."""
    speed = real(given)
    if speed is None or not speed >= 0.0:
        raise ArgumentTypeError(f"{caller}: friction_speed must be a number, at least 0, got {shown(given)}.")
    return speed
