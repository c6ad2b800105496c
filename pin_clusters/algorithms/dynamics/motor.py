"""Speeds, torques and power of motors, on the motor side of the gears."""

from typing import NamedTuple

import numpy as np

from ..._support.arrays import ArrayLike, vector
from ..._support.trees import in_v
from ...errors import ArgumentTypeError, ModelError
from ...model import FRICTION_SPEED, NOTHING, ClusterData, ClusterModel, once
from .._shared import bridge as _bridge
from .._shared import check as _check
from .losses import Losses
from .passive import check_friction_speed, springs

_documented = _check.documented(
    """
    References:
        Virtual work: tau' v = tau_motor' (B' v), where B' has the rows of G for ``model.motors``.
    """
)


# If B has a larger condition number, B is singular. Large gear ratios alone do not exceed this limit.
_SINGULAR = 1e12


@_documented
def rotor_velocity(model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Compute the speed of each rotor relative to its carrier.

    Returns:
        Rotor speeds in the order of ``model.rotors``, shape (len(model.rotors),), [rad/s]; a new array.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("mit_humanoid_leg")
        >>> pc.rotor_velocity(model, model.createData(), pc.neutral(model), np.ones(model.nv)).round(2)
        array([24., 12.,  6.,  6.,  6.])
    """
    q, v = _check.state(model, data, q, v)
    return rotor_rows(model, _bridge.matrix(model, data, q)) @ v


@_documented
def actuation_matrix(model: ClusterModel, data: ClusterData, q: ArrayLike) -> np.ndarray:
    """Compute the actuation matrix B, which maps motor torques to joint torques: tau = B tau_motor.

    Returns:
        B, shape (nv, motors); a new array. B[j, k] is the speed of motor k, relative to its carrier, per unit of the
        independent velocity v[j], [rad/rad] or [rad/m].

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("mit_humanoid_leg")
        >>> pc.actuation_matrix(model, model.createData(), pc.neutral(model)).shape
        (5, 5)
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
    """Compute the motor torques that are equivalent to the given torques of the independent joints.

    To compute the motor torques of a motion, pass ``v``, ``a`` and ``tau = pc.rnea(model, data, q, v, a, fext)``. Then
    passive forces (``pc.passive_torque``) are subtracted from ``tau``, and motor and gear losses are added.

    Args:
        tau: Torque of the independent joints, shape (nv,), [N m] or [N]. With ``v``, pass the result of ``pc.rnea``.
        v: Independent velocity, shape (nv,), [rad/s] or [m/s].
        a: Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2]; required with ``v`` if gears have losses.
        friction_speed: As in ``pc.passive_torque``, [rad/s].

    Returns:
        Motor torques in the order of ``model.motors``, shape (nv,), [N m]; a new array. NaN and inf propagate.

    Raises:
        ArgumentTypeError: Only ``a`` was passed, or only ``v`` although gears have losses.
        ModelError: B is singular or not square, so the motor torques are not unique. The message lists undriven joints.

    Example:
        With a gear ratio of 5, the motor torque is a fifth of the joint torque:

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
            "motor_torque: motor losses depend on v and a. Pass both, or omit both to ignore losses and springs."
        )
    losses = None
    if v is not None:
        q, v = _check.state(model, data, q, v)
        losses = Losses(model, data, q, v, float(friction_speed))
        tau -= springs(model, data, q, v, float(friction_speed))
    n, count = B.shape
    idle = _joints(model, ~np.any(B, axis=1))
    without = f" No rotor drives the joint(s) {idle}." if idle else ""
    if n != count:
        raise ModelError(
            f"motor_torque: model {model.name!r} has {count} motors for nv = {n} independent velocities, so the motor "
            f"torques are not unique.{without} Choose a solution of B tau_motor = tau, with "
            "B = pc.actuation_matrix(model, data, q)."
        )
    if not np.isfinite(B).all():
        return np.full(n, np.nan)  # q is not finite
    if n and not np.linalg.cond(B) < _SINGULAR:
        # No motor acts on the motion along the left singular vector of the smallest singular value.
        lost = np.linalg.svd(B)[0][:, -1]
        reached = without or f" The motors cannot move joint(s) {_joints(model, np.abs(lost) > 1e-6)} independently."
        raise ModelError(f"motor_torque: the actuation matrix of model {model.name!r} is singular at q.{reached}")
    u = np.linalg.solve(B, tau) if n else np.zeros(0)
    return u if losses is None or not lossy else losses.needed(u, model, a)


class MotorPower(NamedTuple):
    """Power balance of the motors. Each array has shape (motors,), in the order of ``model.motors``, [W].

    Attributes:
        mechanical: Mechanical power, which is the rotor torque times the rotor speed.
        friction: Power lost by friction of the motor.
        gear: Power lost in the gear; NaN if the acceleration is unknown or the gear locks.
        copper: Resistive loss of the winding; NaN if the torque constant or the resistance is unknown.
        electrical: Electrical power, which is the sum of ``mechanical`` and ``copper``.
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
    """Compute the power balance of the motors from their torques and the motion.

    Args:
        tau_motor: Torques at the rotors, in the order of ``model.motors``, shape (motors,), [N m].
        a: Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2]. Without ``a``, ``gear`` is NaN for
            gears with losses. The loss of a locked gear is NaN, because it is not unique.
        friction_speed: As in ``pc.passive_torque``, [rad/s].

    Returns:
        ``MotorPower`` with new arrays, [W].

    Raises:
        ShapeError: ``tau_motor`` has a wrong size.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("mit_humanoid_leg")
        >>> data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
        >>> pc.motor_power(model, data, q, v, np.ones(5)).mechanical.round(2)
        array([24., 12.,  6.,  6.,  6.])
    """
    q, v = _check.state(model, data, q, v)
    u = vector(model, "tau_motor", tau_motor, len(model.motors), "len(model.motors)")
    check_friction_speed("motor_power", friction_speed)
    losses = Losses(model, data, q, v, float(friction_speed))
    load = losses.load(u - losses.friction, model, a)
    loss = np.where(losses.factors.any(axis=0), np.nan, 0.0) if a is None else losses.part(load)
    copper = np.full(len(u), np.nan)
    for k, r in enumerate(model.motors):
        if r.motor is not None and r.motor.resistance is not None and r.motor.torque_constant is not None:
            copper[k] = r.motor.resistance * (u[k] / r.motor.torque_constant) ** 2
    mechanical = u * losses.speeds
    return MotorPower(mechanical, losses.friction * losses.speeds, loss * losses.speeds, copper, mechanical + copper)


def turning(model: ClusterModel, data: ClusterData, q: np.ndarray, tau_motor: np.ndarray) -> np.ndarray:
    """Compute the derivative of B tau_motor with respect to q, shape (nv, nv), for constant ``tau_motor``."""
    dG, rows, is_motor = np.zeros((2, model.own_tree.nv, model.nv)), [], [r.driven for r in model.rotors]
    for unit in np.eye(model.nv):
        _bridge.derivatives(model, data, q, unit, NOTHING, dG.ravel())  # dG[1] is d(G unit)/dq
        rows.append(tau_motor @ rotor_rows(model, dG[1])[is_motor])
    return np.array(rows)


def rotor_rows(model: ClusterModel, G: np.ndarray) -> np.ndarray:
    """Compute the matrix that maps v to the rotor speeds, shape (rotors, nv)."""
    if not model.closures:
        return np.array([r.row for r in model.rotors]).reshape(len(model.rotors), model.nv)
    rows = [sum((ratio * G[i] for i, ratio in r.drivers), np.zeros(model.nv)) for r in model.rotors]
    return np.array(rows).reshape(len(model.rotors), model.nv)


@once
def varying_rates(model: ClusterModel) -> np.ndarray:
    """Return which tree velocities depend on the independent velocities through ratios that change with q."""
    topology, varying = model.tables.topology, np.zeros(model.own_tree.nv, dtype=bool)
    varying[[iv for loop in topology.analyses for iv in loop.dependents]] = True
    joints = model.own_tree.joints
    for row in topology.substituted:
        varying[joints[row.dependent].idx_v] |= any(varying[joints[m].idx_v] for m, _ in row.terms)
    return varying


def _joints(model: ClusterModel, mask: np.ndarray) -> str:
    tree = model.own_tree
    velocities = set(model.idx_v_independent[mask].tolist())
    names = [tree.names[j] for j in range(1, tree.njoints) if velocities & set(in_v(tree, j))]
    return ", ".join(map(repr, names))
