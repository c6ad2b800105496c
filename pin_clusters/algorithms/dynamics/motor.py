"""The motor side: speeds of the rotors, torques at the rotors, and where the power of motors goes."""

from typing import NamedTuple

import numpy as np

from ..._support.arrays import ArrayLike, vector
from ..._support.trees import in_v
from ...errors import ArgumentTypeError, ModelError
from ...model import FRICTION_SPEED, NOTHING, ClusterData, ClusterModel
from .._shared import bridge as _bridge
from .._shared import check as _check
from .losses import Losses
from .passive import check_friction_speed, springs

_documented = _check.documented(
    """
    References:
        Virtual work: tau' v = tau_motor' (B' v); the rows of B' are those of ``model.motors``.
    """
)


# a transmission with a larger condition number than this has a lost direction, not a large ratio
_SINGULAR = 1e12


@_documented
def rotor_velocity(model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Return the speed of each rotor relative to its carrier.

    Returns:
        One per entry of ``model.rotors``, in their order, shape (len(model.rotors),), [rad/s]; a fresh array.
    """
    q, v = _check.state(model, data, q, v)
    return rotor_rows(model, _bridge.matrix(model, data, q)) @ v


@_documented
def actuation_matrix(model: ClusterModel, data: ClusterData, q: ArrayLike) -> np.ndarray:
    """Return B: tau = B tau_motor, the motors sitting on the carriers of their rotors.

    Returns:
        Shape (nv, len(model.motors)): column k is the G row of ``model.motors[k]`` at this pose; a fresh array.
    """
    q = _check.pose(model, data, q)
    return np.ascontiguousarray(rotor_rows(model, _bridge.matrix(model, data, q))[[r.driven for r in model.rotors]].T)


@_documented
def motor_torque(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike,
    tau: ArrayLike,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
    *,
    friction_speed: float = FRICTION_SPEED,
) -> np.ndarray:
    """Return the torques at the rotors that act as the given torques of the independent joints.

    With ``v`` and ``a``, and ``tau = pc.rnea(model, data, q, v, a, fext)``: what motors have to give for a motion.
    Springs and the like (``pc.passive_torque``) do their part, and what each ``Motor`` and its gear lose is added.

    Args:
        tau: Torque of the independent joints, shape (nv,); with ``v`` all that ``pc.rnea`` asks for.
        v: Shape (nv,).
        a: Shape (nv,); needed with ``v`` where gears have losses.
        friction_speed: As in ``pc.passive_torque``, [rad/s].

    Returns:
        One per entry of ``model.motors``, in their order, [N m]; a fresh array. NaN and inf propagate.

    Raises:
        ArgumentTypeError: ``v`` or ``a`` is missing.
        ModelError: There is not one motor per independent velocity, or two motors turn alike; the joints without a
            motor are named.

    Example:
        A gear of ratio 5 needs a fifth of the torque at its motor:

        >>> import pinocchio as pin, pin_clusters as pc
        >>> tree = pin.Model()
        >>> j = tree.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "elbow")
        >>> model = pc.ClusterModel(tree, [pc.Rotor("elbow", 5.0, axial_inertia=1e-4)])
        >>> pc.motor_torque(model, model.createData(), pc.neutral(model), [10.0]).tolist()
        [2.0]
    """
    B = actuation_matrix(model, data, q)
    tau = np.array(_check.velocity(model, "tau", tau))
    check_friction_speed("motor_torque", friction_speed)
    lossy = model.passive is not None and model.passive.lossy
    if (v is None and a is not None) or (v is not None and a is None and lossy):
        raise ArgumentTypeError(
            "motor_torque: losses of motors follow from velocity and acceleration: pass both, or none."
        )
    losses = None
    if v is not None:
        q, v = _check.state(model, data, q, v)
        losses = Losses(model, data, q, v, float(friction_speed))
        tau -= springs(model, data, q, v, float(friction_speed))
    n, count = B.shape
    idle = _joints(model, ~np.any(B, axis=1))
    without = f" No rotor is driven by the joint(s) {idle}." if idle else ""
    if n != count:
        raise ModelError(
            f"motor_torque: model {model.name!r} has {count} motors for nv = {n} independent velocities, so the motor "
            f"torques are not determined.{without} Solve B tau_motor = tau for the part that you mean, with "
            "B = pc.actuation_matrix(model, data, q)."
        )
    if not np.isfinite(B).all():
        return np.full(n, np.nan)  # of a pose that is not finite
    if n and not np.linalg.cond(B) < _SINGULAR:
        # a direction that no motor torque reaches
        lost = np.linalg.svd(B)[0][:, -1]
        reached = without or f" They cannot move the joint(s) {_joints(model, np.abs(lost) > 1e-6)} independently."
        raise ModelError(f"motor_torque: the motors of model {model.name!r} do not turn independently.{reached}")
    u = np.linalg.solve(B, tau) if n else np.zeros(0)
    return u if losses is None or not lossy else losses.needed(u, model, a)


class MotorPower(NamedTuple):
    """Where the power of motors goes, [W], shape (motors,), in the order of ``model.motors``.

    Mechanical (torque times speed of the rotor), friction of the motor, loss of its gear (NaN where it is not
    determined), copper (NaN where torque constant or resistance are not known), electrical: mechanical and copper.
    """

    mechanical: np.ndarray
    friction: np.ndarray
    gear: np.ndarray
    copper: np.ndarray
    electrical: np.ndarray


@_documented
def motor_power(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike,
    v: ArrayLike,
    tau_motor: ArrayLike,
    a: ArrayLike | None = None,
    *,
    friction_speed: float = FRICTION_SPEED,
) -> MotorPower:
    """Return where the power of motors goes that give these torques in a motion.

    Args:
        tau_motor: Torques at the rotors, in the order of ``model.motors``, shape (motors,), [N m].
        a: Shape (nv,). Without it losses of gears are NaN, as are those of one that locks, which may hold either way.
        friction_speed: As in ``pc.passive_torque``, [rad/s].

    Returns:
        ``MotorPower``.

    Raises:
        ShapeError: ``tau_motor`` has another size.
    """
    q, v = _check.state(model, data, q, v)
    u = vector(model, "tau_motor", tau_motor, len(model.motors), "len(model.motors)")
    check_friction_speed("motor_power", friction_speed)
    losses = Losses(model, data, q, v, float(friction_speed))
    left = losses.load(u - losses.friction, model, a)
    loss = np.where(losses.factors.any(axis=0), np.nan, 0.0) if a is None else losses.part(left)
    copper = np.full(len(u), np.nan)
    for k, r in enumerate(model.motors):
        if r.motor is not None and r.motor.resistance is not None and r.motor.torque_constant is not None:
            copper[k] = r.motor.resistance * (u[k] / r.motor.torque_constant) ** 2
    given = u * losses.speeds
    return MotorPower(given, losses.friction * losses.speeds, loss * losses.speeds, copper, given + copper)


def turning(model: ClusterModel, data: ClusterData, q: np.ndarray, tau_motor: np.ndarray) -> np.ndarray:
    """Return the derivative of B tau_motor by q, along ``pc.integrate(model, q, e)``, shape (nv, nv)."""
    found, rows, driven = np.zeros((2, model.own_tree.nv, model.nv)), [], [r.driven for r in model.rotors]
    for unit in np.eye(model.nv):
        _bridge.derivatives(model, data, q, unit, NOTHING, found.ravel())  # of the tree's velocities
        rows.append(tau_motor @ rotor_rows(model, found[1])[driven])
    return np.array(rows)


def rotor_rows(model: ClusterModel, G: np.ndarray) -> np.ndarray:
    """Return the G rows of the rotors at the pose to which G belongs, shape (rotors, nv)."""
    if not model.closures:
        return np.array([r.row for r in model.rotors]).reshape(len(model.rotors), model.nv)
    rows = [sum((ratio * G[i] for i, ratio in r.drivers), np.zeros(model.nv)) for r in model.rotors]
    return np.array(rows).reshape(len(model.rotors), model.nv)


def _joints(model: ClusterModel, mask: np.ndarray) -> str:
    """Return the names of the joints to which some independent velocities belong."""
    tree = model.own_tree
    wanted = set(model.idx_v_independent[mask].tolist())
    names = [tree.names[j] for j in range(1, tree.njoints) if wanted & set(in_v(tree, j))]
    return ", ".join(map(repr, names))
