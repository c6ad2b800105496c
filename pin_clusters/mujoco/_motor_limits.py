"""The program that applies the torque limits of motors to differentials, belts and rods.

For motor positions theta, joint positions x and J = d theta / d x, joint torques tau require motor torques J^-T tau.
The program limits the motor torques and returns the change J' (limited - J^-T tau) of the joint torques.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._support.trees import joint_in_v
from ..compiler.tracing.expressions import Graph, Number, select
from ..compiler.tracing.program import Program, objects
from ..compiler.tracing.step_forces import clamped, largest_torque
from ..errors import ArgumentTypeError, ModelError
from ..export.motor_space import MotorSpace
from ..export.motor_space.maps import inverse
from ..export.motor_space.motor_space import NEAR, OPEN
from ._matching import Match

_MARGIN = 0.1
"""Distance by which soft joint limits may leave the region of a ``MotorSpace``, [rad] or [m]."""


@dataclass(frozen=True, eq=False)
class Limits:
    """The limited joints.

    Attributes:
        program: Program with the inputs ``qpos``, ``qvel`` and ``qfrc_actuator``, and the output ``change`` [N m].
        dofs: Index in ``qvel`` of each limited joint.
        motors: Names of the motors.
    """

    program: Program
    dofs: tuple[int, ...]
    motors: tuple[str, ...]


def trace_limits(matched: Match, spaces: Sequence[MotorSpace]) -> Limits | None:
    """Trace the limits; return None if there are no mechanisms."""
    mj_model, dofs, changes = matched.mj_model, list[int](), list[Number]()
    nq, nv = mj_model.nq, mj_model.nv
    qpos, qvel, torque = np.split(np.array(Graph().inputs(0, nq + 2 * nv)), [nq, nq + nv])
    for space in spaces:
        ids = _joints(matched, space)
        here = [int(mj_model.jnt_dofadr[i]) for i in ids]
        if repeated := [name for name, dof in zip(space.joints, here, strict=True) if dof in dofs]:
            raise ModelError(f"Exact: two MotorSpace objects contain the joint {repeated[0]!r}.")
        dofs += here
        changes += _changes(space, qpos[mj_model.jnt_qposadr[ids]], qvel[here], torque[here]).tolist()
    if not dofs:
        return None
    inputs = [("qpos", nq), ("qvel", nv), ("qfrc_actuator", nv)]
    program = Program.of(f"{matched.model.name}, motor limits", inputs, {"change": objects(changes)})
    return Limits(program.ordered(), tuple(dofs), tuple(name for space in spaces for name in space.motors))


def _joints(matched: Match, space: MotorSpace) -> list[int]:
    """Return the ids of the joints in MuJoCo; raise an error if a mechanism does not fit the models."""
    if not isinstance(space, MotorSpace):
        raise ArgumentTypeError(f"Exact: motors must contain pc.MotorSpace objects, got {type(space).__name__}.")
    model, mj_model, m = matched.model, matched.mj_model, space.mechanism
    motors, tree = {r.name: r.motor for r in model.rotors}, m.model.own_tree
    rotor_of = {tree.names[joint_in_v(tree, iv)]: r.name for r in m.model.rotors if r.motor for iv, _ in r.drivers}
    for name, motor in zip(space.motors, m.stated, strict=True):
        if m.model.name != model.name or motors.get(name) != motor:
            raise ModelError(
                f"Exact: the MotorSpace with motor {name!r} was made from another model than {model.name!r}, or from "
                "one with another pc.Motor. Create it with the same model."
            )
        if name not in motors and name in rotor_of:
            raise ModelError(
                f"Exact: {name!r} in a MotorSpace is a joint, but the limits belong to the motor of the rotor "
                f"{rotor_of[name]!r}. Pass the name of the rotor to pc.MotorSpace."
            )
    ids = []
    for name, (low, high) in zip(space.joints, space.region, strict=True):
        if name not in matched.joints:
            raise ModelError(
                f"Exact: joint {name!r} of a MotorSpace is not an independent joint of {model.name!r}. Select it with "
                "pc.with_independent."
            )
        i = matched.joints[name][1]
        lower, upper = mj_model.jnt_range[i] if mj_model.jnt_limited[i] else (-np.inf, np.inf)
        if m.loops and space._maps.solvers[0].steps and (lower < low - _MARGIN or upper > high + _MARGIN):
            raise ModelError(
                f"Exact: joint {name!r} moves from {lower:g} to {upper:g} in the MjModel, but its MotorSpace is valid "
                f"from {low:g} to {high:g} only. Limit the joint, or pass a larger region= to pc.MotorSpace."
            )
        ids.append(i)
    return ids


def _changes(space: MotorSpace, x: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
    J = _jacobian(space, x)
    torques, speeds = inverse(J).T @ tau, J @ v
    changes = []
    for torque, speed, numbers in zip(torques, speeds, _numbers(space), strict=True):
        low, high = -largest_torque(-speed, numbers), largest_torque(speed, numbers)
        changes.append(clamped(torque, low, high) - torque)
    return np.asarray(J.T @ objects(changes))


def _jacobian(space: MotorSpace, x: np.ndarray) -> np.ndarray:
    """Return J at the pose x, or at the reference pose if the linkage cannot reach x or is singular there."""
    m, maps = space.mechanism, space._maps
    pose = maps.solvers[0](x)
    J = maps.J(pose)
    if m.loops:
        at_reference = space.jacobian(m.values(m.joints, m.model.q_reference))
        margins = pose.margin, maps.solvers[1].margin(pose.q), pose.reach
        for index, x0 in np.ndenumerate(at_reference):
            for margin in margins:
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
            raise ModelError(
                f"Exact: motor {name!r} has no torque limit. Set peak_torque of its pc.Motor. An effort limit in the "
                "file applies only to a motor that drives a single joint."
            )
        rows.append(numbers)
    return rows
