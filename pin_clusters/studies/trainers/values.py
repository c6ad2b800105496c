"""What trainers know of a joint that motors drive: armature, friction, limits, gains; each with its reason."""

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.sparse.csgraph import connected_components

from ...constraints import Spring
from ...errors import ArgumentTypeError
from ...model import ClusterModel
from ..audit import snippets
from ..audit.reflected import Reflected

_UNLIMITED = 1e9
DAMPING_RATIO = 2.0
"""Of gains by the rule of a natural frequency."""


@dataclass
class JointValues:
    """What a trainer is told of a joint; None is not known, and nothing is written.

    Attributes:
        joint: Its name.
        armature: [kg m^2] or [kg].
        friction: Dry friction, [N m] or [N].
        damping: Viscous friction, [N m s/rad] or [N s/m].
        effort: Largest torque or force, in any combination with the joints that share its motors.
        stall: The same at rest, by the line of torque over speed; of a joint that has its motors for itself.
        velocity: Largest speed, in the same way, [rad/s] or [m/s].
        stiffness: Gain of position; None unless asked for.
        gain: Gain of velocity.
        reasons: Why, by the name of the value.
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
    """Return what to tell of each joint that turns a motor, by its name, in the tree's order.

    Args:
        model: The robot.
        reflected: Its reflected inertia (``audit.reflected.reflect``).
        tendons: Whether rotors that several joints turn stand as tendons beside the joints.
        gains: Natural frequency of the gains, [Hz]: stiffness = armature w^2, damping = 4 armature w.

    Raises:
        ArgumentTypeError: ``gains`` is no frequency.
    """
    bad = isinstance(gains, bool) or not isinstance(gains, (int, float)) or not 0.0 < gains < math.inf
    if gains is not None and bad:
        raise ArgumentTypeError(f"trainers: gains must be a natural frequency above 0, [Hz], got {gains!r}.")
    armature = snippets.joint_armature(reflected) if tendons else reflected.armature
    rotors = {d.rotor: dict(d.ratios) for d in reflected.drives}
    driven = {name for r in model.motors for name in rotors[r.name]}
    found = {name: JointValues(name, armature.get(name, 0.0)) for name in model.tree.names if name in driven}
    beside = {d.rotor for d in snippets.tendons(reflected)} if tendons else set()
    for name, x in found.items():
        turned = [d for d in reflected.drives if name in d.ratios and d.ratios[name] and not d.own]
        said = [f"{own:g} of the file"] if (own := reflected.own.get(name)) else []
        if by := [f"{d.rotor} ({d.inertia:g}, {d.ratios[name]:+g})" for d in turned if d.rotor not in beside]:
            said.append(f"J ratio^2 of {', '.join(by)}")
        if by := [d.rotor for d in turned if d.rotor in beside]:
            said.append(f"a tendon in the MJCF for {', '.join(by)}")
        x.reasons["armature"] = "; ".join(said)
    _friction(model, rotors, found)
    _limits(model, rotors, found)
    if gains is not None:
        w = 2.0 * math.pi * gains
        for name, x in found.items():
            inertia = reflected.armature.get(name, 0.0)
            x.stiffness, x.gain = inertia * w**2, 2.0 * DAMPING_RATIO * inertia * w
            x.reasons["stiffness"] = f"armature (2 pi {gains:g} Hz)^2"
            x.reasons["gain"] = f"2 * {DAMPING_RATIO:g} * armature * 2 pi {gains:g} Hz"
    return found


def _friction(model: ClusterModel, rotors: dict[str, dict[str, float]], found: dict[str, JointValues]) -> None:
    for s in model.constraints:
        if isinstance(s, Spring) and isinstance(s.along, str) and s.along in found:
            _add(found[s.along], "friction", s.friction, s.label)
            _add(found[s.along], "damping", s.damping[0], s.label)
    for r in model.motors:
        for name, ratio in rotors[r.name].items() if r.motor else ():
            _add(found[name], "friction", abs(ratio) * r.motor.coulomb, f"coulomb |ratio| of {r.name}")  # type: ignore[union-attr]
            _add(found[name], "damping", ratio**2 * r.motor.viscous, f"viscous ratio^2 of {r.name}")  # type: ignore[union-attr]


def _add(x: JointValues, key: str, value: float, why: str) -> None:
    if value:
        setattr(x, key, (getattr(x, key) or 0.0) + value)
        x.reasons[key] = f"{x.reasons[key]} + {why}" if key in x.reasons else why


def _limits(model: ClusterModel, rotors: dict[str, dict[str, float]], found: dict[str, JointValues]) -> None:
    """Write the largest boxes of torques and speeds that motors can give in any combination."""
    tree, names = model.own_tree, list(found)
    for r in model.motors:  # a joint with its motors for itself, by the robot's file
        for name in rotors[r.name]:
            i, x = tree.idx_vs[tree.getJointId(name)], found[name]
            for key, limit in (("effort", float(tree.effortLimit[i])), ("velocity", float(tree.velocityLimit[i]))):
                if 0.0 < limit < _UNLIMITED:
                    setattr(x, key, limit)
                    x.reasons[key] = "limit of the robot's file"
    ratios = np.array([[rotors[r.name].get(n, 0.0) for n in names] for r in model.motors])  # speeds of rotors = R v
    count, group = connected_components(np.abs(ratios) @ np.abs(ratios.T), directed=False)  # that share joints
    for k in range(count):
        motors = [r.motor for r, g in zip(model.motors, group, strict=True) if g == k]
        used = np.flatnonzero(np.any(ratios[group == k], axis=0))
        joints, R = [names[i] for i in used], ratios[group == k][:, used]
        torque = [m and m.peak_torque for m in motors]
        speed, stall = [m and m.free_speed for m in motors], [m and m.stall_torque for m in motors]
        how = "" if len(joints) == 1 and len(motors) == 1 else f", with {', '.join(n for n in joints)} at once"
        if None not in speed:
            _box(found, joints, "velocity", np.abs(R), speed, f"no_load_speed / ratio{how}")
        if len(joints) == 1:
            for key, given in (("effort", torque), ("stall", stall)):
                if None not in given:
                    _least(found[joints[0]], key, float(np.abs(R[:, 0]) @ given), _WHY[key] + how)
        elif None not in torque and R.shape[0] == R.shape[1] and np.linalg.cond(R) < 1e9:
            _box(found, joints, "effort", np.abs(np.linalg.inv(R.T)), torque, _WHY["effort"] + how)


_WHY = {"effort": "peak_torque |ratio|", "stall": "torque_constant voltage / resistance |ratio|"}


def _box(found: dict[str, JointValues], joints: list[str], key: str, A: np.ndarray, most: list, why: str) -> None:
    """Write the box |x_j| <= t_j in which A |x| <= most holds: each side as long as its share of what it has alone."""
    bounds = np.array(most, dtype=float)
    with np.errstate(divide="ignore"):
        alone = np.min(np.where(A > 0.0, bounds[:, None] / A, np.inf), axis=0)
    share = float(np.min(bounds / (A @ alone)))
    for name, x in zip(joints, share * alone, strict=True):
        _least(found[name], key, float(x), why)


def _least(x: JointValues, key: str, value: float, why: str) -> None:
    given = getattr(x, key)
    if given is None or value < given:
        setattr(x, key, value)
        x.reasons[key] = why
