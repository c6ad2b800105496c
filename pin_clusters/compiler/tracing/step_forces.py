"""Torques of a traced time step: drives with torque limits, springs, dampers, friction and gear losses."""

from dataclasses import dataclass, field

import numpy as np

from ...kernels.tables import tree_layout as tl
from ...model import FRICTION_SPEED
from ._sources import source
from .expressions import Number, select
from .program import objects
from .run import Run


@dataclass(frozen=True)
class Lines:
    """Springs, dampers and dry friction along sums of joint coordinates; one row per spring.

    Attributes:
        to_length: Matrix from q to the lengths of the springs, shape (n, nq).
        to_rate: Matrix from the tree velocity to the rates of the springs, shape (n, tree.nv).
        numbers: For each spring: bounds of its rest length, three coefficients of stiffness, three of damping, dry
            friction, and the speed below which friction changes its sign smoothly, shape (n, 10), as in ``pc.Spring``.
    """

    to_length: np.ndarray
    to_rate: np.ndarray
    numbers: np.ndarray


@dataclass(frozen=True)
class Gears:
    """Gears with losses, see ``pc.Motor``; one row per gear.

    Attributes:
        to_speed: Matrix from the tree velocity to the rotor speeds relative to the carriers, shape (n, tree.nv).
        to_torque: Matrix from the independent torques to the torques of the rotors, shape (n, nv).
        carriers: Joint that carries each rotor; 0 if the rotor is fixed to the world.
        axes: Axis of each rotor in the frame of this joint, shape (n, 3).
        numbers: For each gear: axial inertia, viscous and dry friction, loss per load while the motor drives and while
            the joint drives, speed change per unit loss in a step, and the speed below which friction changes its sign
            smoothly, shape (n, 7).
    """

    to_speed: np.ndarray
    to_torque: np.ndarray
    carriers: tuple[int, ...]
    axes: np.ndarray
    numbers: np.ndarray


@dataclass(frozen=True)
class Actuation:
    """Joints with PD drives, and torque limits.

    Attributes:
        driven: Index in q and index in v of each joint with a PD drive, shape (nu, 2).
        target_bounds: Smallest and largest target of these joints, shape (nu, 2), [rad] or [m].
        joint_limits: Largest torque of each independent joint, inf without a limit, shape (nv,).
        motors: Matrix B from motor torques to independent torques, for motors with a torque limit, shape (nv, motors).
        motor_limits: For each of these motors: largest torque [N m], torque at zero speed that the voltage permits
            [N m], decrease of this torque per speed [N m s/rad], and no-load speed [rad/s], shape (motors, 4).
    """

    driven: np.ndarray = field(default_factory=lambda: np.zeros((0, 2), dtype=np.int64))
    target_bounds: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    joint_limits: np.ndarray = field(default_factory=lambda: np.zeros(0))
    motors: np.ndarray = field(default_factory=lambda: np.zeros((0, 0)))
    motor_limits: np.ndarray = field(default_factory=lambda: np.zeros((0, 4)))


def passive_torques(run: Run, v: np.ndarray, lines: Lines | None, gears: Gears | None) -> np.ndarray:
    """Return the torques of springs, dampers, friction and gear losses, shape (nv,)."""
    torques = run.rest
    if lines is not None:
        to_rate = lines.to_rate @ run.G
        torques = torques + to_rate.T @ _spring_forces(lines, run["q"], to_rate @ v)
    if gears is not None:
        to_speed = gears.to_speed @ run.G
        torques = torques - to_speed.T @ _losses(gears, to_speed @ v, run["loads"])
    return torques


def _spring_forces(lines: Lines, q: np.ndarray, rates: np.ndarray) -> np.ndarray:
    phases, turn, forces = source("steps.phases"), source("steps.passive").turn, []
    for x, w, numbers in zip(lines.to_length @ q, rates, lines.numbers.tolist(), strict=True):
        low, high, k1, k2, k3, d1, d2, d3, friction, slow = numbers
        y, speed = x - phases.higher(low, select(x, high, x, high)), phases.size_of(w)
        force = y * (k1 + y * (k2 + y * k3)) + w * (d1 + speed * (d2 + speed * d3))
        forces.append(-force - friction * turn(w * (1.0 / slow)) if friction else -force)
    return objects(forces)


def _losses(gears: Gears, speeds: np.ndarray, loads: np.ndarray) -> np.ndarray:
    """Return the gear losses at the loads of the previous step, [N m]."""
    phases, turn, losses = source("steps.phases"), source("steps.passive").turn, []
    for w, load, numbers in zip(speeds, loads, gears.numbers.tolist(), strict=True):
        _, _, _, forward, backward, reach, _ = numbers
        size = select(0.0, load * w, forward, backward) * phases.size_of(load)
        losses.append(size * turn(w / phases.higher(FRICTION_SPEED, reach * size)))
    return objects(losses)


def gear_loads(run: Run, v: np.ndarray, tau: np.ndarray, a: np.ndarray, gears: Gears) -> np.ndarray:
    """Return the gear loads of a step, which determine the losses of the next step, [N m].

    Args:
        run: The state in the middle of the step, with the loads of the previous step.
        v: Velocity at which the second stage of the step has evaluated friction and losses.
        tau: Torques of the drives.
        a: Mean acceleration of the step, including impulses.
        gears: The gears.
    """
    run = run.at(run["q"])
    run.inputs["v"] = v
    turn, to_speed = source("steps.passive").turn, gears.to_speed @ run.G
    speeds, spins = to_speed @ v, to_speed @ a + gears.to_speed @ run.bias
    first, motions = run.model.tables.tree.sections.a, run.tree(tl.MOTION, v, a)
    losses, loads = _losses(gears, speeds, run["loads"]), []
    for k, (inertia, viscous, dry, _, _, _, slow) in enumerate(gears.numbers.tolist()):
        omega = motions[first + 6 * gears.carriers[k] :][3:6] if gears.carriers[k] else run.zeros(3)
        friction = viscous * speeds[k] + (dry * turn(speeds[k] * (1.0 / slow)) if dry else 0.0)
        loads.append(gears.to_torque[k] @ tau - friction - losses[k] - inertia * (spins[k] + gears.axes[k] @ omega))
    return objects(loads)


def drive(run: Run, of: Actuation, h: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the torque demand, and the inertia that makes the drive implicit, both for each independent velocity.

    A drive is a spring and a damper at the end of the step: tau = kp (target - q - h v_next) - kd v_next. With the
    acceleration a = (v_next - v) / h, it equals kp (target - q - h v) - kd v - (h kd + h^2 kp) a. The last term acts
    like armature, so that the step is stable for all gains. If the torque of a joint or motor is at its limit, the
    joints that it drives get a constant torque and no added inertia.
    """
    q, v, demand, added = run["q"], run["v"], run["tau"].copy(), run.rest
    strength = np.full(len(demand), 1.0, dtype=object)
    if len(of.driven):
        iq, iv = of.driven.T.tolist()
        strength[iv] = run["strength"]
        kp, kd = strength[iv] * run["kp"], strength[iv] * run["kd"]
        bounds = of.target_bounds.tolist()
        target = objects([clamped(x, *pair) for x, pair in zip(run["target"], bounds, strict=True)])
        demand[iv] = demand[iv] + kp * (target - q[iq] - h * v[iv]) - kd * v[iv]
        added[iv] = h * kd + h * h * kp
    for k in np.flatnonzero(np.isfinite(of.joint_limits)).tolist():
        limit = strength[k] * of.joint_limits[k]
        demand[k] = _limited(demand[k], -limit, limit, added, [k])
    if len(of.motor_limits):
        torques, speeds = np.linalg.pinv(of.motors) @ demand, of.motors.T @ v
        change = objects([0.0] * len(torques))
        for m, numbers in enumerate(of.motor_limits.tolist()):
            joints = np.flatnonzero(of.motors[:, m]).tolist()
            share = sum(strength[k] for k in joints) * (1.0 / len(joints))
            low, high = -share * largest_torque(-speeds[m], numbers), share * largest_torque(speeds[m], numbers)
            change[m] = _limited(torques[m], low, high, added, joints) - torques[m]
        demand = demand + of.motors @ change
    return demand, added


def largest_torque(speed: Number, numbers: list[float]) -> Number:
    """Return the largest torque of a motor at a speed, as in ``Motor.torque_limits``."""
    peak, stall, slope, free = numbers
    limit: Number = peak
    if np.isfinite(stall):
        limit = stall - slope * speed
        limit = select(0.0, limit, select(limit, peak, limit, peak), 0.0)
    return select(speed, free, limit, 0.0) if np.isfinite(free) else limit


def _limited(x: Number, low: Number, high: Number, added: np.ndarray, joints: list[int]) -> Number:
    """Return x within its limits; beyond a limit, set the added inertia of ``joints`` to zero."""
    for k in joints:
        added[k] = select(high, x, 0.0, select(x, low, 0.0, added[k]))
    return clamped(x, low, high)


def clamped(x: Number, low: Number, high: Number) -> Number:
    """Return x within its bounds; NaN stays NaN, because comparisons with NaN are false."""
    x = select(x, low, low, x)
    return select(high, x, high, x)
