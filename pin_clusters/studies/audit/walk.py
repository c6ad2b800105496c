"""Compare the touch-downs of the exact robot and of robots with armature, for the same motion, controller and ground.

The controller consists of PD control, gravity compensation and torques that balance recorded ground forces; it does not
model rotors. A soft guide ("harness") supports the base, and its force is reported. In a drop, there is no guide: the
robot falls while the controller holds the first pose of the motion.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ... import approximations
from ..._support import old_names
from ...algorithms.dynamics.crba import crba
from ...algorithms.dynamics.rnea import rnea
from ...algorithms.kinematics.kinematics import forwardKinematics
from ...errors import ArgumentTypeError, ModelError
from ...model import ClusterModel
from ...model.configuration import difference
from ...simulation import SimulationResult, simulate
from ...simulation._coordinates import Coordinates
from ...simulation.ground.plane import Ground
from ...simulation.ground.world import on_ground, world_of
from ..pages.results import Result
from ..study.trajectories import Recorded, Trajectory, TrajectoryError, base_columns, floating_base

STEP, IMPACT, AFTER = 2.5e-4, 5e-3, 0.05  # time step; durations after a landing for impulses and for peaks, [s]
_OFF_GROUND, _MATCH = 0.03, 0.05  # shortest flight before a landing; largest time between matching landings, [s]
# Natural frequencies of the guide and of the joints, [rad/s]; twice the damping ratio of both.
_SOFT, _STIFF, _DAMPED = 2.0 * np.pi * 1.0, 2.0 * np.pi * 10.0, 1.4
_BENT = 20.0  # a leg is straight if shortening it at 1 m/s needs joint speeds above 20 rad/s / length [m]
_LARGEST_SHARE = 0.2  # largest acceptable force of the guide, relative to the weight
_CONTACT_GAP, _HIGHEST = 2e-3, 10.0  # gap up to which a point is in contact; largest drop height, [m]


@dataclass(frozen=True, eq=False)
class Landing(Result):
    """A touch-down of a foot.

    The keys of the dictionaries are ``"exact"`` and the approximation names. Values are NaN if the foot does not land.

    Attributes:
        body: Joint that moves the foot.
        time: Time of the touch-down, [s].
        impulse: Normal impulse of the ground in the first 5 ms after touch-down, [N s].
        torque_at: Joint with the largest error of the peak torque in the 50 ms after touch-down.
        torque: Peak torque of ``torque_at``, [N m] or [N].
        speed_at: Joint with the largest error of the peak speed in the 50 ms after touch-down.
        speed: Peak speed of ``speed_at``, [rad/s] or [m/s].
    """

    body: str
    time: dict[str, float]
    impulse: dict[str, float]
    torque_at: str
    torque: dict[str, float]
    speed_at: str
    speed: dict[str, float]


@dataclass(frozen=True, eq=False)
class Walked(Result):
    """Errors that armature causes at touch-down.

    Attributes:
        motion: Description of the motion.
        landings: Touch-downs of the exact robot, sorted by time.
        levels: Names of the approximations; the judged one is first.
        dt: Time step, [s].
        harness: Largest force of the guide on the base, [N]; 0 for a drop.
        moment: Largest moment of the guide, [N m].
        weight: Weight of the robot, [N].
        friction: Friction coefficient of the ground.
        time: Time of each sample, shape (samples,), [s].
        bodies: Bodies that may touch the ground.
        pushed: Accumulated normal impulse of the ground, with the keys of ``Landing``, shape (samples, bodies), [N s].
        straight: Feet that land on nearly straight legs in a drop, named as in ``Landing.body``.
    """

    motion: str
    landings: tuple[Landing, ...]
    levels: tuple[str, ...]
    rungs = old_names.attribute("levels")
    dt: float
    harness: float
    moment: float
    weight: float
    friction: float
    time: np.ndarray
    bodies: tuple[str, ...]
    pushed: dict[str, np.ndarray]
    straight: tuple[str, ...] = ()

    _json = "motion sentence dt harness moment weight friction straight landings"

    def off(self, level: str) -> np.ndarray:
        """Return the impulse errors of an approximation, [%] of the largest exact impulse, shape (landings,)."""
        exact, other = (np.array([x.impulse[name] for x in self.landings]) for name in ("exact", level))
        return np.asarray(100.0 * (other - exact) / exact.max())

    @property
    def worst(self) -> Landing:
        """The landing with the largest error of the judged approximation."""
        return self.landings[int(np.argmax(np.nan_to_num(np.abs(self.off(self.levels[0])))))]

    @property
    def sentence(self) -> str:
        """Summary in one sentence."""
        exact = [x.impulse["exact"] for x in self.landings]
        words = []
        for level in self.levels:
            errors = self.off(level)
            late = 1e3 * np.array([x.time[level] - x.time["exact"] for x in self.landings])
            span = (_span(x, "+.2g") for x in (errors, 0.01 * max(exact) * errors))
            word = "{} {} % ({} N s)".format(approximations.LABELS[level], *span)
            words.append(f"{word}, up to {np.nanmax(np.abs(late)):.0f} ms earlier or later")
            if missed := int(np.isnan(errors).sum()):
                words[-1] += f", {missed} missing"
        legs = (
            f" The robot lands on straight legs ({', '.join(self.straight)}), which hardly bend, so rotors have little "
            "effect. For bent legs pass --trajectory minimum-jerk --pose JOINT=VALUE,... --pose neutral."
        )
        return (
            f"{len(exact)} touch-down{'s' * (len(exact) > 1)} of {_span(exact, '.2g')} N s in the first "
            f"{1e3 * IMPACT:g} ms; errors in per cent of the largest: {'; '.join(words)}."
        ) + legs * bool(self.straight)


def _span(values: Any, digits: str) -> str:
    return " to ".join(dict.fromkeys(format(float(x), digits) for x in (np.nanmin(values), np.nanmax(values))))


def walked(
    model: ClusterModel,
    trajectory: Trajectory,
    drop: float | None,
    ground: Any,
    touching: Any,
    progress: Callable[[float], None] = lambda part: None,
    dt: float = STEP,
) -> Walked:
    """Simulate the exact and approximate robots along a motion or, with ``drop``, a fall in the motion's first pose."""
    control = Control(model, trajectory, drop, ground, touching, dt)
    levels = ("armature",) if model.closures else ("diagonal", "block")
    runs = dict[str, SimulationResult]()
    for level in ("exact", *levels):
        robot = model if level == "exact" else approximations.robot(model, level)
        q, v = control.q[0], control.v[0]
        runs[level] = simulate(
            robot, q, v, control, control.duration, dt, ground=control.ground, touching=control.touching
        )
        progress(len(runs) / (1 + len(levels)))
    weight = float(np.linalg.norm(model.tree.gravity.linear)) * sum(float(I.mass) for I in model.inertia_tree.inertias)
    harness, moment = control.largest_wrench.tolist()
    if harness > _LARGEST_SHARE * weight:
        raise TrajectoryError(
            f"audit: along {trajectory.label} the guide on the base carries {harness:.3g} N, "
            f"{100.0 * harness / weight:.0f} % of the weight; above {100.0 * _LARGEST_SHARE:g} % it would dominate the "
            "impacts. Choose a motion that this robot can perform with these contact points, or simulate a fall: "
            "--drop."
        )
    motion_text = trajectory.label if drop is None else f"drop from {drop:g} m"
    landings = _landings(model, runs, np.array(control.ground.normal), dt)
    if not landings:
        raise ModelError(
            f"audit: no foot of {model.name!r} lands ({motion_text}). Choose another motion, or simulate a fall: "
            "--drop."
        )
    pushed = {name: np.cumsum(run.contact_impulses @ control.ground.normal, axis=0) for name, run in runs.items()}
    exact = runs["exact"]
    return Walked(
        motion_text,
        landings,
        levels,
        dt,
        harness,
        moment,
        weight,
        control.ground.friction,
        exact.time,
        exact.bodies,
        pushed,
        control.straight,
    )


class Control:
    """The controller of the exact and approximate robots. ``q``, ``v`` and ``tau`` have one row per time step.

    ``largest_wrench`` contains the largest force and moment of the guide so far, [N] and [N m].
    """

    def __init__(
        self,
        model: ClusterModel,
        trajectory: Trajectory,
        drop: float | None,
        ground: Ground | None,
        touching: Any,
        dt: float,
    ) -> None:
        base = base_columns(model)
        if base is None or not model.rotors:
            raise ModelError(
                f"audit: touch-downs of {model.name!r} cannot be compared: "
                + ("its base does not float." if base is None else "it has no rotors for armature to replace.")
            )
        if drop is not None and (isinstance(drop, bool) or not 0.0 < drop <= _HIGHEST):
            raise ArgumentTypeError(f"audit: drop must be a height above 0 and up to {_HIGHEST:g} m, got {drop!r}.")
        self.model, self.base, self.dt, self.drop, self.largest_wrench = model, base, dt, drop, np.zeros(2)
        self.straight: tuple[str, ...] = ()
        self.ground = Ground() if ground is None else ground
        self.touching = model.collision if touching is None else touching
        g = float(np.linalg.norm(model.tree.gravity.linear))
        if drop is None:
            self._follow(trajectory)
        else:
            self.q = trajectory.states(model)[1][:1]
            self.v, self.tau = np.zeros((2, 1, model.nv))
            self.duration, above = float(np.sqrt(2.0 * drop / g)) + 3.0 * AFTER, float(drop)
            self.straight = self._straight(on_ground(model, self.q[0], self.ground, self.touching))
            self.q[0] = on_ground(model, self.q[0], self.ground, self.touching, above=above)
        M = crba(model, model.createData(), self.q[0])
        self.M, self.gain = M[base, base], _STIFF**2 * np.diag(M)
        self.gain[base] = 0.0

    def _straight(self, q: np.ndarray) -> tuple[str, ...]:
        """Return the names (see ``Landing.body``) of the feet that touch the ground first and have straight legs.

        A leg of length L, in metres, counts as straight if joint speeds of 20 / L rad/s cannot shorten it at 1 m/s.
        If the knee is bent by 0.2 rad, these speeds are sufficient.
        """
        world, _ = world_of(self.model, self.ground, self.touching, False, False)
        assert world is not None
        contacts, coordinates = world.look(q, _CONTACT_GAP), Coordinates(self.model, self.model)
        forwardKinematics(self.model, coordinates.data, q)
        J = np.delete(world.rows(coordinates, q, contacts)[: 3 * contacts.contacts], self.base, axis=1).reshape(
            contacts.contacts, 3, -1
        )
        base, straight_joints = self.model.getJointId(str(floating_base(self.model))), list[str]()
        for j in sorted({*contacts.joints[:, 0].tolist()} - {base}):
            body_rows = contacts.joints[:, 0] == j
            rows, up = J[body_rows].reshape(-1, J.shape[2]), np.tile([0.0, 0.0, 1.0], int(body_rows.sum()))
            speed_limit = _BENT / np.linalg.norm(
                contacts.places[body_rows].mean(axis=0) - coordinates.data.tree.oMi[base].translation
            )
            gram = speed_limit**2 / body_rows.sum() * rows.T
            speeds = np.linalg.solve(gram @ rows + np.eye(J.shape[2]), gram @ up)
            if np.sum((rows @ speeds - up) ** 2) > 0.5 * body_rows.sum():
                straight_joints.append(self.model.names[j])
        return tuple(straight_joints)

    def _follow(self, trajectory: Trajectory) -> None:
        if not isinstance(trajectory, Recorded) or not trajectory.moves_base:
            raise TrajectoryError(
                "audit: walk requires a recorded motion of a floating base (x y z qx qy qz qw), got "
                f"{trajectory.label}. Pass such a motion (--walk MOTION), or simulate a fall (--drop 0.1)."
            )
        model, data, base = self.model, self.model.createData(), self.base
        time, self.q, self.v, a = trajectory.resampled(self.dt).states(model)
        self.duration, zeros, coordinates = float(time[-1]), np.zeros(model.nv), Coordinates(model, model)
        world, _ = world_of(model, self.ground, self.touching, False, False)
        assert world is not None
        lowest_heights = [world.lowest(model, q) for q in self.q[:: max(1, round(0.01 / self.dt))]]
        ground_height = float(np.median(lowest_heights))
        self.ground = Ground(self.ground.friction, self.ground.normal, self.ground.height + ground_height)
        loads = trajectory.loads(model, time, self.q)
        self.tau = np.array([rnea(model, data, q, zeros, zeros) for q in self.q])
        # If no forces were recorded, use the minimum-norm contact forces that produce the motion.
        for k, q in enumerate(self.q if loads is None else ()):
            contacts = world.look(q, ground_height + _CONTACT_GAP)
            J = world.rows(coordinates, q, contacts)[: 3 * contacts.contacts]
            wrench = rnea(model, data, q, self.v[k], a[k])[base]
            self.tau[k] -= J.T @ np.linalg.lstsq(J[:, base].T, wrench, rcond=None)[0]
        self.tau -= 0.0 if loads is None else loads
        self.tau[:, base] = 0.0
        self.q[0] = on_ground(
            model, self.q[0], self.ground, self.touching, above=max(0.0, lowest_heights[0] - ground_height)
        )

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        k, base = min(round(t / self.dt), len(self.q) - 1), self.base
        position_error, velocity_error = difference(self.model, q, self.q[k]), self.v[k] - v
        tau = self.tau[k] + self.gain * (position_error + _DAMPED / _STIFF * velocity_error)
        if self.drop is None:
            tau[base] = wrench = self.M @ (_SOFT**2 * position_error[base] + _DAMPED * _SOFT * velocity_error[base])
            self.largest_wrench = np.maximum(self.largest_wrench, np.linalg.norm(wrench.reshape(2, 3), axis=1))
        return np.asarray(tau)


def _landings(
    model: ClusterModel, runs: dict[str, SimulationResult], normal: np.ndarray, dt: float
) -> tuple[Landing, ...]:
    exact, landings, nan = runs["exact"], list[Landing](), dict.fromkeys(runs, float("nan"))
    root = floating_base(model)
    joints = {model.joint_idx_v(name): name for name in model.independent_joints if name != root}
    legs, after, impact = list(joints), round(AFTER / dt), round(IMPACT / dt)
    for b, body in enumerate(exact.bodies):
        starts = {name: _starts(run, b, normal, round(_OFF_GROUND / dt)) for name, run in runs.items()}
        for k in starts["exact"]:
            if k + after >= len(exact.time):
                continue
            # Two landings match if each is the nearest landing to the other.
            matched = {
                name: _nearest(landing_samples, k) for name, landing_samples in starts.items() if landing_samples
            }
            matched = {
                n: i for n, i in matched.items() if abs(i - k) * dt <= _MATCH and _nearest(starts["exact"], i) == k
            }
            impulse = {
                n: float(runs[n].contact_impulses[i : i + impact, b].sum(axis=0) @ normal) for n, i in matched.items()
            }
            peaks = list[Any]()
            for kind in ("tau", "v"):
                peak_values = {
                    n: np.abs(getattr(runs[n], kind)[i : i + after, legs]).max(axis=0) for n, i in matched.items()
                }
                usual = next((peak_values[n] for n in list(runs)[1:] if n in peak_values), peak_values["exact"])
                worst = int(np.argmax(np.abs(usual - peak_values["exact"])))
                peaks += [joints[legs[worst]], nan | {n: float(x[worst]) for n, x in peak_values.items()}]
            time = {n: float(exact.time[i]) for n, i in matched.items()}
            landings.append(Landing(body, nan | time, nan | impulse, *peaks))
    return tuple(sorted(landings, key=lambda x: x.time["exact"]))


def _nearest(candidates: list[int], k: int) -> int:
    return min(candidates, key=lambda i: abs(i - k))


def _starts(run: SimulationResult, b: int, normal: np.ndarray, apart: int) -> list[int]:
    pushed = np.flatnonzero(run.contact_impulses[:, b] @ normal > 1e-9).tolist()
    before = -apart if run.gap[0, b] > _CONTACT_GAP else 0
    return [k for previous, k in pairwise([before, *pushed]) if k - previous >= apart]
