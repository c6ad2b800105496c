"""How much of the energy that goes into motors and gears over a motion comes out of them."""

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
    """Energies over a motion, [J], shape (motors,), in the order of ``model.motors``.

    In: from the motor where it drives, from the joints where they drive it. Out: on the other side; what is missing is
    lost to friction of the motor and in its gear. Copper: lost in its windings, NaN where constants are not known.
    Efficiency: of all together, out by in, a number, without copper; NaN where nothing moves.
    """

    energy_in: np.ndarray
    energy_out: np.ndarray
    friction: np.ndarray
    gear: np.ndarray
    copper: np.ndarray
    efficiency: float


def efficiency(model: ClusterModel, motion: Any) -> Efficiency:
    """Return where the energy of motors goes over a motion, such as a gait.

    In a simulation motors give its ``tau``; along a trajectory what it needs, less recorded forces of the ground,
    springs and the like. What no motor can give (at a base whose ground is not recorded) is left out.

    Args:
        model: The robot, with motors.
        motion: A ``SimulationResult`` of it, or a ``study.Trajectory``.

    Returns:
        ``Efficiency``.

    Raises:
        ArgumentTypeError: ``model`` or ``motion`` is no such thing.
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
            others = springs(model, data, q[k], v[k], FRICTION_SPEED) + (0.0 if ground is None else ground[k])
            u = losses.needed(losses.motor_torque(rnea(model, data, *state) - others), model, a[k])
        flows[k] = motor_power(model, data, q[k], v[k], u, a[k])[:4]
    given, friction, gear, copper = flows.transpose(1, 0, 2)
    rest = given - friction - gear
    into, out = (np.maximum(x, 0.0) + np.maximum(-y, 0.0) for x, y in ((given, rest), (rest, given)))
    energies = [np.trapezoid(x, time, axis=0) for x in (into, out, friction, gear, copper)]
    whole = float(energies[0].sum())
    return Efficiency._make([*energies, float(energies[1].sum()) / whole if whole else np.nan])
