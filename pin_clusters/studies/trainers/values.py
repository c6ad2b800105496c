"""Compute values of motor-driven joints for trainers: armature, friction, limits and gains, with their sources."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.sparse.csgraph import connected_components

from ...algorithms.dynamics.coupling import coupling_jacobian
from ...constraints import Spring
from ...errors import ArgumentTypeError
from ...model import ClusterModel
from ..audit import snippets
from ..audit.reflected import Reflected

_UNLIMITED = 1e9
DAMPING_RATIO = 2.0
"""Damping ratio of a joint under position control with the exported gains."""


@dataclass
class JointValues:
    """Values of a joint for a trainer. ``None`` means that a value is unknown and is not exported.

    Attributes:
        joint: Name of the joint.
        armature: Armature, [kg m^2] or [kg].
        friction: Dry friction, [N m] or [N].
        damping: Viscous friction, [N m s/rad] or [N s/m].
        effort: Torque limit, [N m] or [N]. Joints that share motors can all reach their limits at once.
        stall: Torque at zero speed on the torque-speed line, [N m] or [N]; None if other joints share the motors.
        velocity: Speed limit, [rad/s] or [m/s]. Joints that share motors can all reach their limits at once.
        stiffness: Position gain, [N m/rad] or [N/m]; None for torque control.
        gain: Velocity gain, [N m s/rad] or [N s/m].
        reasons: Source of each value, by attribute name.
    """

    joint: str
    armature: float = 0.0
    friction: float | None = None
    damping: float | None = None
    effort: float | None = None
    stall: float | None = None
    velocity: float | None = None
    stiffness: float | None = None
    gain: float | None = None
    reasons: dict[str, str] = field(default_factory=dict)


def values_of(
    model: ClusterModel, reflected: Reflected, *, tendons: bool = False, gains: float | None = None
) -> dict[str, JointValues]:
    """Compute the values of each motor-driven joint, by name, in the order of the tree.

    Args:
        model: The robot.
        reflected: Reflected inertia of the robot (``audit.reflected.reflect``).
        tendons: Whether rotors driven by several joints are exported as tendons instead of armature.
        gains: Natural frequency w / (2 pi), [Hz]; stiffness = armature * w^2, damping = 4 * armature * w.
            With None, there are no gains.

    Raises:
        ArgumentTypeError: ``gains`` is not a positive number.
    """
    bad = isinstance(gains, bool) or not isinstance(gains, (int, float)) or not 0.0 < gains < math.inf
    if gains is not None and bad:
        raise ArgumentTypeError(f"trainers: gains must be a natural frequency in Hz greater than 0, got {gains!r}.")
    armature = snippets.joint_armature(reflected) if tendons else reflected.armature
    rotors = {d.rotor: dict(d.ratios) for d in reflected.drives}
    driven = {name for r in model.motors for name in rotors[r.name]}
    values = {name: JointValues(name, armature.get(name, 0.0)) for name in model.tree.names if name in driven}
    tendon_rotors = {d.rotor for d in snippets.tendons(reflected)} if tendons else set()
    for name, x in values.items():
        turned = [d for d in reflected.drives if name in d.ratios and d.ratios[name] and not d.own]
        parts = [f"{file_armature:g} from the file"] if (file_armature := reflected.own.get(name)) else []
        if by := [f"{d.rotor} ({d.inertia:g}, {d.ratios[name]:+g})" for d in turned if d.rotor not in tendon_rotors]:
            parts.append(f"J ratio^2 of {', '.join(by)}")
        if by := [d.rotor for d in turned if d.rotor in tendon_rotors]:
            parts.append(f"a tendon in the MJCF for {', '.join(by)}")
        x.reasons["armature"] = "; ".join(parts)
    _friction(model, rotors, values)
    _limits(model, rotors, values)
    if gains is not None:
        w = 2.0 * math.pi * gains
        for name, x in values.items():
            inertia = reflected.armature.get(name, 0.0)
            x.stiffness, x.gain = inertia * w**2, 2.0 * DAMPING_RATIO * inertia * w
            x.reasons["stiffness"] = f"armature (2 pi {gains:g} Hz)^2"
            x.reasons["gain"] = f"2 * {DAMPING_RATIO:g} * armature * 2 pi {gains:g} Hz"
    return values


def on_serial_tree(model: ClusterModel, reflected: Reflected) -> Reflected:
    """Return the rotors of a robot with loops as seen by the independent joints.

    Ratios are those of the reference pose. The armature is the mean of the reflected inertia along the motion, which
    is the constant with the least RMS deviation.
    """
    G, drives = coupling_jacobian(model, model.createData(), model.q_reference), []
    columns = {name: model.joint_idx_v(name) for name in model.independent_joints}
    for r, d in zip(model.rotors, reflected.drives, strict=True):
        row = sum((ratio * G[iv] for iv, ratio in r.drivers), np.zeros(model.nv))
        ratios = {name: float(row[i]) for name, i in columns.items() if abs(row[i]) > 1e-9}
        drives.append(replace(d, ratios=ratios, own=False))
    mean = np.zeros(len(reflected.joints)) if reflected.along is None else reflected.along.mean(axis=0).diagonal()
    total = {name: reflected.own.get(name, 0.0) + float(x) for name, x in zip(reflected.joints, mean, strict=True)}
    return replace(reflected, drives=tuple(drives), armature=total)


def _friction(model: ClusterModel, rotors: dict[str, dict[str, float]], values: dict[str, JointValues]) -> None:
    for s in model.constraints:
        if isinstance(s, Spring) and isinstance(s.along, str) and s.along in values:
            _add(values[s.along], "friction", s.friction, s.label)
            _add(values[s.along], "damping", s.damping[0], s.label)
    for r in model.motors:
        for name, ratio in rotors[r.name].items() if r.motor else ():
            _add(values[name], "friction", abs(ratio) * r.motor.coulomb, f"coulomb |ratio| of {r.name}")  # type: ignore[union-attr]
            _add(values[name], "damping", ratio**2 * r.motor.viscous, f"viscous ratio^2 of {r.name}")  # type: ignore[union-attr]


def _add(x: JointValues, key: str, value: float, why: str) -> None:
    if value:
        setattr(x, key, (getattr(x, key) or 0.0) + value)
        x.reasons[key] = f"{x.reasons[key]} + {why}" if key in x.reasons else why


def _limits(model: ClusterModel, rotors: dict[str, dict[str, float]], values: dict[str, JointValues]) -> None:
    """Compute torque and speed limits of joints such that the motors can deliver every combination of these limits."""
    tree, names = model.own_tree, list(values)
    for r in model.motors:  # the limits in the robot's file apply to single joints
        for name in rotors[r.name]:
            i, x = tree.idx_vs[tree.getJointId(name)], values[name]
            for key, limit in (("effort", float(tree.effortLimit[i])), ("velocity", float(tree.velocityLimit[i]))):
                if 0.0 < limit < _UNLIMITED:
                    setattr(x, key, limit)
                    x.reasons[key] = "limit of the robot's file"
    ratios = np.array([[rotors[r.name].get(n, 0.0) for n in names] for r in model.motors])  # rotor speeds = ratios @ v
    count, group = connected_components(np.abs(ratios) @ np.abs(ratios.T), directed=False)  # motors that share joints
    for k in range(count):
        motors = [r.motor for r, g in zip(model.motors, group, strict=True) if g == k]
        used = np.flatnonzero(np.any(ratios[group == k], axis=0))
        joints, R = [names[i] for i in used], ratios[group == k][:, used]
        torque = [m and m.peak_torque for m in motors]
        speed, stall = [m and m.free_speed for m in motors], [m and m.stall_torque for m in motors]
        condition = "" if len(joints) == 1 and len(motors) == 1 else f", for {', '.join(n for n in joints)} together"
        if None not in speed:
            _box(values, joints, "velocity", np.abs(R), speed, f"no_load_speed / ratio{condition}")
        if len(joints) == 1:
            for key, limits in (("effort", torque), ("stall", stall)):
                if None not in limits:
                    _least(values[joints[0]], key, float(np.abs(R[:, 0]) @ limits), _WHY[key] + condition)
        elif None not in torque and R.shape[0] == R.shape[1] and np.linalg.cond(R) < 1e9:
            _box(values, joints, "effort", np.abs(np.linalg.inv(R.T)), torque, _WHY["effort"] + condition)


_WHY = {"effort": "peak_torque |ratio|", "stall": "torque_constant voltage / resistance |ratio|"}


def _box(values: dict[str, JointValues], joints: list[str], key: str, A: np.ndarray, most: list, why: str) -> None:
    """Set limits t_j, proportional to the limits of single joints, such that |x_j| <= t_j implies A |x| <= most."""
    bounds = np.array(most, dtype=float)
    with np.errstate(divide="ignore"):
        single_limits = np.min(np.where(A > 0.0, bounds[:, None] / A, np.inf), axis=0)
    share = float(np.min(bounds / (A @ single_limits)))
    for name, x in zip(joints, share * single_limits, strict=True):
        _least(values[name], key, float(x), why)


def _least(x: JointValues, key: str, value: float, why: str) -> None:
    present = getattr(x, key)
    if present is None or value < present:
        setattr(x, key, value)
        x.reasons[key] = why
