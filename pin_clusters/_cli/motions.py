"""Motions to look at: passive swing, sweep of all joints, random poses, recordings; and the ghost beside them."""

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
from ..errors import BranchLost, UnknownNameError, did_you_mean
from ..model import ClusterModel
from ..model.configuration import interpolate, randomConfiguration
from ..simulation import SimulationResult
from ..studies import study
from ..studies.study.metrics.drift import simulated
from ..studies.study.rungs import Progress
from ..studies.study.trajectories._base import base_columns, base_pose

_DURATIONS = {"swing": 5.0, "sweep": 4.0, "random": 9.0}
KINDS = tuple(_DURATIONS)
"""Motions that every robot has."""
STEP = 1e-3
"""Of simulations, [s]."""
AMPLITUDE, _FREQUENCY, _START_SPEED, _POSE_TIME = 0.5, 0.5, 1.0, 1.5
_WEIGHTLESS = 1e-9


@dataclass(frozen=True, eq=False)
class Shown:
    """A motion.

    Attributes:
        time: Shape (n,), [s].
        q: Shape (n, nq).
        v: Shape (n, nv).
        tau: Shape (n, nv), held from each sample to the next, [N m] or [N]; None if it is not known.
        notes: What one has to know about it.
    """

    time: np.ndarray
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray | None
    notes: list[str] = field(default_factory=list)


def check(kind: str) -> None:
    """Refuse, by ``UnknownNameError``, a name that neither a motion nor a file has."""
    known = (*KINDS, *study.motions())
    if kind not in known and not Path(kind).is_file():
        raise UnknownNameError(
            f"there is no motion, and no file, {kind!r}.{did_you_mean(kind, known, limit=len(known))}"
        )


def check_ghost(model: ClusterModel, rung: str) -> None:
    """Refuse, by ``UnknownNameError``, an approximation that the robot does not have."""
    known = approximations.names(model)
    if rung not in known:
        why = " It has closed loops, so no armature alone approximates it." if model.closures else ""
        raise UnknownNameError(
            f"robot {model.name!r} has no approximation {rung!r}.{why} Choose one of: {', '.join(map(repr, known))}."
        )


def make(
    model: ClusterModel, kind: str, duration: float | None, amplitude: float = AMPLITUDE,
    progress: Progress | None = None,
) -> Shown:  # fmt: skip
    """Return a motion of a robot: ``"swing"``, ``"sweep"``, ``"random"``, one of the package, or a file.

    The amplitude is how far joints go (sweep) or start from (swing) the reference pose.
    """
    if kind not in KINDS:
        return recorded(model, kind, duration)
    length = _DURATIONS[kind] if duration is None else duration
    if kind == "random":
        return random_poses(model, length)
    shown = swing(model, length, amplitude, progress) if kind == "swing" else sweep(model, length, amplitude)
    shown.notes.extend(beyond_limits(model, shown.q))
    return shown


def swing(model: ClusterModel, duration: float, amplitude: float, progress: Progress | None = None) -> Shown:
    """Let a robot go, without torques, from a pose where every joint is off by the amplitude, or as loops allow."""
    sine, reach = study.Sine(amplitude, 0.25, 1.0, 0.01, in_phase=True).fitted(model)
    q0 = sine.states(model)[1][-1]  # a quarter of a period
    v0 = np.zeros(model.nv)
    notes = [f"Let go without torques, every independent joint {sine.amplitude:.3g} rad (m) off the reference pose."]
    if reach.reason:
        notes.append(f"Farther off, {reach.reason}.")
    weight = float(np.linalg.norm(model.tree.gravity.linear)) * sum(float(I.mass) for I in model.inertia_tree.inertias)
    base = base_columns(model)
    torque = computeGeneralizedGravity(model, model.createData(), q0)
    if base is not None:
        torque[base] = 0.0
        notes.append("The base is held.")
    if not np.any(np.abs(torque) > _WEIGHTLESS * max(weight, 1e-300)):
        v0[[model.joint_idx_v(name) for name in study.trajectories.moved_joints(model)]] = _START_SPEED
        notes.append(f"Gravity does not move this robot; its joints start with {_START_SPEED:g} rad/s (m/s).")
    functions = (partial(f, model, model.createData()) for f in (crba, rnea))
    how: Any = {} if base is None else {"dynamics": held(model, base, *functions)}
    found, why = simulated(model, q0, v0, duration=duration, dt=STEP, progress=progress, least=2, **how)
    notes += ended("simulation", found, why)
    return Shown(found.time, found.q, found.v, np.zeros_like(found.v), notes)


def held(model: ClusterModel, base: slice, mass: Any, torques: Any) -> Callable[..., np.ndarray]:
    """Return the forward dynamics of a robot whose floating base is held: without ground it would only fall."""
    free, rest = np.delete(np.arange(model.nv), base), np.zeros(model.nv)

    def dynamics(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        a, left = np.zeros(model.nv), tau - torques(q, v, rest)
        a[free] = np.linalg.solve(mass(q)[np.ix_(free, free)], left[free])
        return a

    return dynamics


def ended(what: str, found: SimulationResult, why: str) -> list[str]:
    """Say that a simulation ended early; nothing if it did not."""
    return [f"The {what} ends at {found.time[-1]:.3g} s: {why}"] if why else []


def sweep(model: ClusterModel, duration: float, amplitude: float) -> Shown:
    """Move every independent joint along a sine about the reference pose."""
    sine, reach = study.Sine(amplitude, _FREQUENCY, duration, min(STEP, 0.1 * duration)).fitted(model)
    time, q, v, a = sine.states(model)
    notes = [f"Every independent joint moves by {sine.label}."]
    if reach.reason:
        notes.append(f"Farther off, {reach.reason}.")
    return Shown(time, q, v, batch.rnea(model, q, v, a), notes)


def beyond_limits(model: ClusterModel, q: np.ndarray) -> list[str]:
    """Say which independent joints leave the limits that the robot's file gives; nothing if none does."""
    low, high = model.tree.lowerPositionLimit, model.tree.upperPositionLimit
    names = []
    for name in study.trajectories.moved_joints(model):
        joint = model.tree.joints[model.tree.getJointId(name)]
        at, given = joint.idx_q, low[joint.idx_q] < high[joint.idx_q]
        if joint.nq == 1 and given and (q[:, at].max() > high[at] + 1e-9 or q[:, at].min() < low[at] - 1e-9):
            names.append(name)
    if not names:
        return []
    more = f" and {len(names) - 3} more" if names[3:] else ""
    return [f"There are no end stops: {', '.join(names[:3])}{more} beyond the limits of the file (see --amplitude)."]


def random_poses(model: ClusterModel, duration: float) -> Shown:
    """Go through random poses, starting from the reference pose; always the same ones."""
    pin.seed(0)
    poses = [model.q_reference.copy()]
    count = max(1, round(duration / _POSE_TIME))
    time, q = [np.zeros(1)], [poses[0][None]]
    part = np.linspace(0.0, 1.0, 76)[1:]
    smooth = part**3 * (10.0 - 15.0 * part + 6.0 * part**2)
    for _ in range(20 * count):
        if len(poses) > count:
            break
        goal = randomConfiguration(model)
        if base_columns(model) is not None:
            goal[base_pose(model)] = poses[0][base_pose(model)]
        try:
            way = np.array([interpolate(model, poses[-1], goal, float(s)) for s in smooth])
        except BranchLost:
            continue  # a loop cannot follow there from here
        poses.append(way[-1])
        time.append(time[-1][-1] + part * duration / count)
        q.append(way)
    notes = [f"{len(poses) - 1} random poses."]
    at, whole = np.concatenate(time), np.concatenate(q)
    return Shown(at, whole, np.zeros((len(at), model.nv)), None, notes)


def recording(name: str) -> study.Recorded:
    """Return a motion of the package, or one from a file, for any robot."""
    return study.motion(name) if name in study.motions() else study.Recorded.from_file(name)


def recorded(model: ClusterModel, name: str, duration: float | None) -> Shown:
    """Return a motion of the package, or one from a file."""
    trajectory = recording(name)
    time, q, v, a = trajectory.states(model)
    if duration is not None:
        kept = time <= time[0] + duration
        time, q, v, a = time[kept], q[kept], v[kept], a[kept]
    return Shown(time, q, v, batch.rnea(model, q, v, a), [trajectory.label])


def ghost(
    model: ClusterModel, shown: Shown, rung: str, progress: Progress | None = None
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Simulate an approximation from the same start, under the same torques; return time, configurations, and notes."""
    assert shown.tau is not None
    steps = np.diff(shown.time)
    dt = float(np.median(steps))
    parts = max(1, int(np.ceil(dt / (1.5 * STEP))))  # recordings are coarser than a simulation may be
    tau = np.repeat(0.5 * (shown.tau[:-1] + shown.tau[1:]), parts, axis=0)
    approximate = approximations.of(model)[rung]
    notes = [f"Ghost: {approximate.label} ({approximate.definition}), from the same start under the same torques."]
    base, dynamics = base_columns(model), approximate.aba
    if base is not None and not shown.v[:, base].any():
        dynamics = held(model, base, approximate.crba, approximate.rnea)
    found, why = simulated(
        model, shown.q[0], shown.v[0], tau, duration=len(tau) * dt / parts, dt=dt / parts, dynamics=dynamics,
        record=parts, progress=progress, least=2,
    )  # fmt: skip
    return found.time, found.q, notes + ended("ghost", found, why)
