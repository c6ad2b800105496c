"""Compute the energy balance of motors and gears over a motion."""

from typing import Any, NamedTuple

import numpy as np

from ...algorithms.dynamics.losses import Losses
from ...algorithms.dynamics.motor import motor_power
from ...algorithms.dynamics.passive import springs
from ...algorithms.dynamics.rnea import rnea
from ...errors import ArgumentTypeError
from ...model import FRICTION_SPEED, ClusterModel, check_model
from ...simulation import SimulationResult
from .trajectories import Trajectory


class Efficiency(NamedTuple):
    """Energies over a motion, [J]; each array has shape (motors,) and the order of ``model.motors``.

    Attributes:
        energy_in: Energy that driving motors and back-driven joints supply to the transmissions.
        energy_out: Energy delivered to driven joints and back-driven motors; the loss is ``energy_in - energy_out``.
        friction: Energy lost to friction in the motor.
        gear: Energy lost in the gear.
        copper: Energy lost in the windings; NaN if the motor constants are unknown.
        efficiency: Total ``energy_out`` divided by total ``energy_in``, excluding ``copper``; NaN if nothing moves.
    """

    energy_in: np.ndarray
    energy_out: np.ndarray
    friction: np.ndarray
    gear: np.ndarray
    copper: np.ndarray
    efficiency: float


def efficiency(model: ClusterModel, motion: Any) -> Efficiency:
    """Compute the energy balance and the efficiency of the motors over a motion, such as a gait.

    If ``motion`` is a simulation, the motors supply its torques ``tau``. For a trajectory, the motors supply the
    inverse-dynamics torques minus recorded ground forces, springs and other passive forces. Torques that no motor can
    supply, such as the wrench on a base without recorded ground forces, are ignored.

    Args:
        model: The robot, with motors.
        motion: A ``SimulationResult`` of the robot, or a ``study.Trajectory``.

    Returns:
        ``Efficiency``: energies of each motor, [J], and the dimensionless efficiency of all motors together.

    Raises:
        ArgumentTypeError: ``model`` is not a ClusterModel, or ``motion`` is neither a simulation nor a trajectory.

    Example:
        >>> import pin_clusters as pc
        >>> from pin_clusters import study
        >>> pc.efficiency(pc.load("mit_humanoid_leg"), study.Sine(duration=0.5, dt=0.01)).energy_in.shape
        (5,)
    """
    check_model(model, "efficiency")
    simulated = isinstance(motion, SimulationResult)
    if not simulated and not isinstance(motion, Trajectory):
        kind = type(motion).__name__
        raise ArgumentTypeError(f"efficiency: motion must be a SimulationResult or a study.Trajectory, got {kind}.")
    data = model.createData()
    time, q, v, a = (motion.time, motion.q, motion.v, motion.a) if simulated else motion.states(model)
    ground = motion.loads(model, time, q) if hasattr(motion, "loads") else None
    flows = np.empty((len(time), 4, len(model.motors)))
    for k, state in enumerate(zip(q, v, a, strict=True)):
        losses = Losses(model, data, q[k], v[k], FRICTION_SPEED)
        if simulated:
            u = losses.motor_torque(motion.tau[k])
        else:
            passive_torques = springs(model, data, q[k], v[k], FRICTION_SPEED) + (0.0 if ground is None else ground[k])
            u = losses.needed(losses.motor_torque(rnea(model, data, *state) - passive_torques), model, a[k])
        flows[k] = motor_power(model, data, q[k], v[k], u, a[k])[:4]
    power_in, friction, gear, copper = flows.transpose(1, 0, 2)
    power_out = power_in - friction - gear
    into, out = (np.maximum(x, 0.0) + np.maximum(-y, 0.0) for x, y in ((power_in, power_out), (power_out, power_in)))
    energies = [np.trapezoid(x, time, axis=0) for x in (into, out, friction, gear, copper)]
    total_in = float(energies[0].sum())
    return Efficiency._make([*energies, float(energies[1].sum()) / total_in if total_in else np.nan])
