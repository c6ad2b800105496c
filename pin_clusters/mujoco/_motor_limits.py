"""The program that limits the torques of actuators at the motors of differentials, belts and rods.

With J = d theta / d x and the torques tau of the joints, the motors produce J^-T tau. The program limits these torques
and returns the change J' (limited - J^-T tau) of the joint torques.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..compiler.tracing.expressions import Graph, Number, select
from ..compiler.tracing.program import Program, objects
from ..compiler.tracing.step_forces import clamped, largest_torque
from ..errors import ArgumentTypeError, ModelError
from ..export.motor_space import MotorSpace
from ..export.motor_space.maps import inverse
from ..export.motor_space.motor_space import NEAR, OPEN
from ._matching import Match


@dataclass(frozen=True, eq=False)
class Limits:
    """The limited joints.

    Attributes:
        program: Program with the inputs ``qpos``, ``qvel`` and ``qfrc_actuator``, and the output ``change`` [N m].
        dofs: Index in ``qvel`` of each limited joint, n numbers.
    """

    program: Program
    dofs: tuple[int, ...]


def trace_limits(matched: Match, spaces: Sequence[MotorSpace]) -> Limits | None:
    """Trace the limits; return None if there are no mechanisms."""
    mj_model, dofs, changes = matched.mj_model, list[int](), list[Number]()
    nq, nv = mj_model.nq, mj_model.nv
    qpos, qvel, torque = np.split(np.array(Graph().inputs(0, nq + 2 * nv)), [nq, nq + nv])
    for space in spaces:
        if not isinstance(space, MotorSpace):
            raise ArgumentTypeError(f"Exact: motors must contain pc.MotorSpace objects, got {type(space).__name__}.")
        for name in space.joints:
            if name not in matched.joints or space.mechanism.model.name != matched.model.name:
                raise ModelError(
                    f"Exact: the MotorSpace of {', '.join(space.joints)} belongs to {space.mechanism.model.name!r}. "
                    f"Its joints must be independent joints of {matched.model.name!r}."
                )
        ids = [matched.joints[name][1] for name in space.joints]
        here = [int(mj_model.jnt_dofadr[i]) for i in ids]
        if repeated := [name for name, dof in zip(space.joints, here, strict=True) if dof in dofs]:
            raise ModelError(f"Exact: two MotorSpace objects contain the joint {repeated[0]!r}.")
        dofs += here
        changes += _changes(space, qpos[mj_model.jnt_qposadr[ids]], qvel[here], torque[here]).tolist()
    if not dofs:
        return None
    inputs = [("qpos", nq), ("qvel", nv), ("qfrc_actuator", nv)]
    program = Program.of(f"{matched.model.name}, motor limits", inputs, {"change": objects(changes)})
    return Limits(program.ordered(), tuple(dofs))


def _changes(space: MotorSpace, x: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    J = _jacobian(space, x)
    torques, speeds = inverse(J).T @ tau, J @ v
    changes = []
    for torque, speed, numbers in zip(torques, speeds, _numbers(space), strict=True):
        low, high = -largest_torque(-speed, numbers), largest_torque(speed, numbers)
        changes.append(clamped(torque, low, high) - torque)
    return np.asarray(J.T @ objects(changes))


def _jacobian(space: MotorSpace, x: np.ndarray) -> np.ndarray:
    """Return J, at the reference pose if the linkage cannot reach the pose x."""
    m, maps = space.mechanism, space._maps
    pose = maps.solvers[0](x)
    J = maps.J(pose)
    if m.loops:
        at_reference = space.jacobian(m.values(m.joints, m.model.q_reference))
        for index, x0 in np.ndenumerate(at_reference):
            for margin in (pose.margin, maps.solvers[1].margin(pose.q), pose.reach):
                J[index] = select(NEAR, margin, J[index], x0)
            J[index] = select(pose.residual, OPEN, J[index], x0)
    return J


def _numbers(space: MotorSpace) -> list[list[float]]:
    """Return the numbers of each motor's torque limit, as in ``Motor.limit_numbers``."""
    rows = []
    for name, motor, peak in zip(space.motors, space.mechanism.stated, space.mechanism.given["torque"], strict=True):
        numbers = [np.inf, np.inf, 0.0, np.inf] if motor is None else list(motor.limit_numbers)
        numbers[0] = min(numbers[0], peak if np.isfinite(peak) else np.inf)
        if not np.isfinite(numbers[:2]).any():
            raise ModelError(f"Exact: motor {name!r} has no torque limit. Set peak_torque of its pc.Motor.")
        rows.append(numbers)
    return rows
