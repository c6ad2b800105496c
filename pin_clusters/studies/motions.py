"""Generate motions for display: passive swings, joint sweeps, random poses, recordings, and simulated approximations.

``pin-clusters view --animate`` shows these motions; ``pin_clusters.visualize.animate`` accepts their arrays.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from .. import approximations, batch
from ..algorithms.dynamics.crba import crba
from ..algorithms.dynamics.rnea import computeGeneralizedGravity, rnea
from ..errors import BranchLost, ModelError, UnknownNameError, did_you_mean
from ..model import ClusterModel
from ..model.configuration import interpolate, randomConfiguration
from ..simulation import SimulationResult
from . import study
from .study.approximate_dynamics import Progress
from .study.metrics.drift import simulated
from .study.trajectories._base import base_columns, base_pose

_DURATIONS = {"swing": 5.0, "sweep": 4.0, "random": 9.0}
KINDS = tuple(_DURATIONS)  # Kinds of motion that are available for every robot
STEP = 1e-3  # Time step of simulations, [s]
AMPLITUDE, _FREQUENCY, _START_SPEED, _POSE_TIME = 0.5, 0.5, 1.0, 1.5  # in [rad] or [m], [Hz], [rad/s] and [s]
_WEIGHTLESS = 1e-9  # gravity torques up to this fraction of the weight count as zero


@dataclass(frozen=True, eq=False)
class Motion:
    """A motion for display.

    Attributes:
        time: Time of each sample, shape (n,), [s].
        q: Configurations of the tree, shape (n, nq).
        v: Independent velocities, shape (n, nv).
        tau: Torques of the independent joints, shape (n, nv), [N m] or [N]; None if unknown.
        notes: Sentences about the motion, for the legend.
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray | None
    notes: list[str] = field(default_factory=list)


def check(kind: str) -> None:
    available = (*KINDS, *study.motions())
    if kind not in available and not Path(kind).is_file():
        raise UnknownNameError(
            f"no motion or file is named {kind!r}.{did_you_mean(kind, available, limit=len(available))}"
        )


def check_ghost(model: ClusterModel, level: str) -> None:
    available = approximations.names(model)
    if level not in available:
        reason = " Armature alone cannot approximate its closed loops." if model.closures else ""
        raise UnknownNameError(
            f"robot {model.name!r} has no approximation {level!r}.{reason} Choose one of: "
            f"{', '.join(map(repr, available))}."
        )


def make(
    model: ClusterModel,
    kind: str,
    duration: float | None = None,
    amplitude: float = AMPLITUDE,
    progress: Progress | None = None,
) -> Motion:
    """Create a motion of a robot for display.

    Args:
        model: The robot.
        kind: ``"swing"``, ``"sweep"``, ``"random"``, a name of ``pc.study.motions()``, or a ``.csv`` or ``.npz`` file.
        duration: Duration, [s]. The default is 5 s (swing), 4 s (sweep), 9 s (random) or the recording's duration.
        amplitude: Initial (swing) or largest (sweep) offset of independent joints from the reference, [rad] or [m].
        progress: Callback that is called with the numbers of finished and total steps of a simulation.

    Raises:
        TrajectoryError: The recording does not fit the robot.
        SimulationError: The swing cannot be simulated.

    Example:
        >>> import pin_clusters as pc
        >>> from pin_clusters.studies import motions
        >>> model = pc.load("four_bar")
        >>> sweep = motions.make(model, "sweep", duration=0.5)
        >>> viewer = pc.visualize.animate(model, sweep.time, sweep.q, notes=sweep.notes)
    """
    if kind not in KINDS:
        return recorded(model, kind, duration)
    length = _DURATIONS[kind] if duration is None else duration
    if kind == "random":
        return random_poses(model, length)
    shown = swing(model, length, amplitude, progress) if kind == "swing" else sweep(model, length, amplitude)
    shown.notes.extend(beyond_limits(model, shown.q))
    return shown


def swing(model: ClusterModel, duration: float, amplitude: float, progress: Progress | None = None) -> Motion:
    """Simulate a robot that is released at an offset from its reference pose and moves without motor torques.

    A floating base is fixed. If gravity does not move the robot, its joints start with a speed of 1 rad/s.

    Args:
        model: The robot.
        duration: Duration, [s].
        amplitude: Initial offset of every independent joint, [rad] or [m]; reduced if closed loops cannot reach it.
        progress: Callback that is called with the numbers of finished and total steps.

    Raises:
        SimulationError: The simulation fails in its first step.

    Example:
        >>> import pin_clusters as pc
        >>> from pin_clusters.studies import motions
        >>> swing = motions.swing(pc.load("four_bar"), duration=0.1, amplitude=0.3)
        >>> swing.q.shape, swing.tau.any()
        ((101, 3), np.False_)
    """
    sine, reach = study.Sine(amplitude, 0.25, 1.0, 0.01, in_phase=True).fitted(model)
    q0 = sine.states(model)[1][-1]  # the sine ends after a quarter period, at its amplitude
    v0 = np.zeros(model.nv)
    notes = [f"Released without torques, every joint {sine.amplitude:.3g} rad (m) from the reference pose."]
    if reach.reason:
        notes.append(f"At a larger amplitude, {reach.reason}.")
    weight = float(np.linalg.norm(model.tree.gravity.linear)) * sum(float(I.mass) for I in model.inertia_tree.inertias)
    base = base_columns(model)
    torque = computeGeneralizedGravity(model, model.createData(), q0)
    if base is not None:
        torque[base] = 0.0
        notes.append("The base is fixed.")
    if not np.any(np.abs(torque) > _WEIGHTLESS * max(weight, 1e-300)):
        v0[[model.joint_idx_v(name) for name in study.trajectories.moved_joints(model)]] = _START_SPEED
        notes.append(f"Gravity does not move this robot; its joints start with {_START_SPEED:g} rad/s (m/s).")
    functions = (partial(f, model, model.createData()) for f in (crba, rnea))
    options: Any = {} if base is None else {"dynamics": held(model, base, *functions)}
    sim, reason = simulated(model, q0, v0, duration=duration, dt=STEP, progress=progress, least=2, **options)
    notes += ended("simulation", sim, reason)
    return Motion(sim.time, sim.q, sim.v, np.zeros_like(sim.v), notes)


def held(model: ClusterModel, base: slice, mass: Any, torques: Any) -> Callable[..., np.ndarray]:
    """Return a function for fixed-base forward dynamics; ``mass(q)`` is crba, ``torques(q, v, a)`` is rnea."""
    free, zeros = np.delete(np.arange(model.nv), base), np.zeros(model.nv)

    def dynamics(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        a, accelerating_torque = np.zeros(model.nv), tau - torques(q, v, zeros)
        a[free] = np.linalg.solve(mass(q)[np.ix_(free, free)], accelerating_torque[free])
        return a

    return dynamics


def ended(what: str, found: SimulationResult, why: str) -> list[str]:
    return [f"The {what} ends at {found.time[-1]:.3g} s: {why}"] if why else []


def sweep(model: ClusterModel, duration: float, amplitude: float) -> Motion:
    """Move every independent joint along a sine of 0.5 Hz about its reference position.

    Args:
        model: The robot.
        duration: Duration, [s].
        amplitude: Amplitude of every sine, [rad] or [m]; reduced if closed loops cannot reach it.
    """
    sine, reach = study.Sine(amplitude, _FREQUENCY, duration, min(STEP, 0.1 * duration)).fitted(model)
    time, q, v, a = sine.states(model)
    notes = [f"Every independent joint follows {sine.label}."]
    if reach.reason:
        notes.append(f"At a larger amplitude, {reach.reason}.")
    return Motion(time, q, v, batch.rnea(model, q, v, a), notes)


def beyond_limits(model: ClusterModel, q: np.ndarray) -> list[str]:
    """Return a note that lists the independent joints beyond their position limits, or an empty list."""
    low, high = model.tree.lowerPositionLimit, model.tree.upperPositionLimit
    names = []
    for name in study.trajectories.moved_joints(model):
        joint = model.tree.joints[model.tree.getJointId(name)]
        column, has_limits = joint.idx_q, low[joint.idx_q] < high[joint.idx_q]
        if (
            joint.nq == 1
            and has_limits
            and (q[:, column].max() > high[column] + 1e-9 or q[:, column].min() < low[column] - 1e-9)
        ):
            names.append(name)
    if not names:
        return []
    further = f" and {len(names) - 3} more" if names[3:] else ""
    exceeded = f"{', '.join(names[:3])}{further}"
    return [f"End stops are not modelled, so the motion exceeds the limits of {exceeded} (see --amplitude)."]


def random_poses(model: ClusterModel, duration: float) -> Motion:
    """Move the robot from the reference pose through random poses; every call uses the same poses.

    Args:
        model: The robot; a floating base is fixed.
        duration: Duration, [s]; the robot reaches a new pose about every 1.5 s.
    """
    pin.seed(0)
    poses = [model.q_reference.copy()]
    count = max(1, round(duration / _POSE_TIME))
    time, q = [np.zeros(1)], [poses[0][None]]
    progress = np.linspace(0.0, 1.0, 76)[1:]
    smooth = progress**3 * (10.0 - 15.0 * progress + 6.0 * progress**2)
    for _ in range(20 * count):
        if len(poses) > count:
            break
        goal = randomConfiguration(model)
        if base_columns(model) is not None:
            goal[base_pose(model)] = poses[0][base_pose(model)]
        try:
            path = np.array([interpolate(model, poses[-1], goal, float(s)) for s in smooth])
        except BranchLost:
            continue  # the loops cannot follow this path, so try another pose
        poses.append(path[-1])
        time.append(time[-1][-1] + progress * duration / count)
        q.append(path)
    notes = [f"{len(poses) - 1} random poses."]
    times, configurations = np.concatenate(time), np.concatenate(q)
    return Motion(times, configurations, np.zeros((len(times), model.nv)), None, notes)


def recording(name: str) -> study.Recorded:
    return study.motion(name) if name in study.motions() else study.Recorded.from_file(name)


def recorded(model: ClusterModel, name: str, duration: float | None = None) -> Motion:
    """Return a recorded motion and its torques; ``duration`` limits the motion to its first ``duration`` seconds."""
    trajectory = recording(name)
    time, q, v, a = trajectory.states(model)
    if duration is not None:
        selected = time <= time[0] + duration
        time, q, v, a = time[selected], q[selected], v[selected], a[selected]
    return Motion(time, q, v, batch.rnea(model, q, v, a), [trajectory.label])


def ghost(model: ClusterModel, shown: Motion, level: str, progress: Progress | None = None) -> Motion:
    """Simulate an approximation of a robot; a motion supplies the initial state and the torques.

    Args:
        model: The robot.
        shown: A motion of the exact robot, with torques.
        level: Name of the approximation, one of ``pc.approximations.names(model)``.
        progress: Callback that is called with the numbers of finished and total steps.

    Returns:
        The approximation's motion; its ``notes`` begin with the definition of the approximation.

    Raises:
        UnknownNameError: The robot has no such approximation.
        ModelError: The motion has no torques.
        SimulationError: The simulation fails in its first step.

    Example:
        >>> import pin_clusters as pc
        >>> from pin_clusters.studies import motions
        >>> model = pc.load("four_bar")
        >>> swing = motions.swing(model, duration=0.1, amplitude=0.3)
        >>> ghost = motions.ghost(model, swing, "frozen")
        >>> viewer = pc.visualize.animate(model, swing.time, swing.q, ghost=(ghost.time, ghost.q))
    """
    check_ghost(model, level)
    if shown.tau is None:
        raise ModelError("ghost: random poses have no torques. Pass a swing, a sweep or a recording instead.")
    steps = np.diff(shown.time)
    dt = float(np.median(steps))
    # The sampling interval of a recording is too long for a simulation, so it is divided into smaller steps.
    parts = max(1, int(np.ceil(dt / (1.5 * STEP))))
    tau = np.repeat(0.5 * (shown.tau[:-1] + shown.tau[1:]), parts, axis=0)
    approximate = approximations.of(model)[level]
    notes = [f"Ghost: {approximate.label} ({approximate.definition}), from the same start under the same torques."]
    base, dynamics = base_columns(model), approximate.aba
    if base is not None and not shown.v[:, base].any():
        dynamics = held(model, base, approximate.crba, approximate.rnea)
    sim, reason = simulated(
        model,
        shown.q[0],
        shown.v[0],
        tau,
        duration=len(tau) * dt / parts,
        dt=dt / parts,
        dynamics=dynamics,
        record=parts,
        progress=progress,
        least=2,
    )
    return Motion(sim.time, sim.q, sim.v, sim.tau, notes + ended("ghost", sim, reason))
