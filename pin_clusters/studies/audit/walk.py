"""Touch-downs of the exact robot and of armature: the same motion, controller and ground; only the rotors differ.

The controller knows the robot's weight and the recorded forces, but no rotor: statics and PD on the joints. A soft
harness guides the base; what it gives is said. A drop has none: the robot falls, and holds its pose.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ... import approximations
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

STEP, IMPACT, AFTER = 2.5e-4, 5e-3, 0.05
"""Of the simulation; what counts as the impact; in which torques and speeds are looked at, [s]."""
_APART, _MATCH = 0.03, 0.05  # a foot lands that was off for so long; the same landing, [s]
_SOFT, _STIFF, _DAMPED = 2.0 * np.pi * 1.0, 2.0 * np.pi * 10.0, 1.4  # harness, joints [rad/s]; twice the damping ratio
_BENT = 20.0  # a leg is straight if joints turn faster than this over its length when it becomes shorter by 1 m/s
_MOST, _NEAR, _HIGHEST = 0.2, 2e-3, 10.0  # of the weight; what stands where no forces were recorded; of a drop, [m]


@dataclass(frozen=True, eq=False)
class Landing(Result):
    """A foot comes to the ground. Numbers are by ``"exact"`` and names of approximations, NaN where it does not land.

    Attributes:
        body: Joint that moves the foot.
        time: [s].
        impulse: Out of the ground in the first 5 ms, [N s].
        torque_at: Joint whose largest torque in the 50 ms after differs most.
        torque: That torque, [N m] or [N].
        speed_at: The same of speeds.
        speed: [rad/s] or [m/s].
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
    """What armature does to touch-downs.

    Attributes:
        motion: What it is.
        landings: Of the exact robot, in the order of time.
        rungs: Names of the approximations, the usual one first.
        dt: Step, [s].
        harness: Largest force on the base, [N]; 0 for a drop.
        moment: Its largest moment, [N m].
        weight: Of the robot, [N].
        friction: Of the ground.
        time: Shape (samples,), [s].
        bodies: What may touch.
        pushed: Impulse out of the ground until then, by ``"exact"`` and approximations, shape (samples, bodies), [N s].
        straight: Names of joints whose bodies land, in a drop, on legs that are nearly straight.
    """

    motion: str
    landings: tuple[Landing, ...]
    rungs: tuple[str, ...]
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

    def off(self, rung: str) -> np.ndarray:
        """Return how far impulses of an approximation are off, in per cent of the largest, shape (landings,)."""
        exact, other = (np.array([x.impulse[name] for x in self.landings]) for name in ("exact", rung))
        return np.asarray(100.0 * (other - exact) / exact.max())

    @property
    def worst(self) -> Landing:
        """The landing at which the usual approximation is worst."""
        return self.landings[int(np.argmax(np.nan_to_num(np.abs(self.off(self.rungs[0])))))]

    @property
    def sentence(self) -> str:
        """What was found."""
        exact = [x.impulse["exact"] for x in self.landings]
        words = []
        for rung in self.rungs:
            off = self.off(rung)
            late = 1e3 * np.array([x.time[rung] - x.time["exact"] for x in self.landings])
            span = (_span(x, "+.2g") for x in (off, 0.01 * max(exact) * off))
            word = "{} {} % ({} N s)".format(approximations.LABELS[rung], *span)
            words.append(f"{word}, up to {np.nanmax(np.abs(late)):.0f} ms earlier or later")
            if missed := int(np.isnan(off).sum()):
                words[-1] += f", {missed} not at all"
        legs = (
            f" It lands on straight legs ({', '.join(self.straight)}), which do not give way, so that rotors hardly "
            "matter. For bent ones pass --trajectory minimum-jerk --pose JOINT=VALUE,... --pose neutral."
        )
        return (
            f"{len(exact)} touch-down{'s' * (len(exact) > 1)} of {_span(exact, '.2g')} N s in the first "
            f"{1e3 * IMPACT:g} ms; off, in per cent of the largest, by: {'; '.join(words)}."
        ) + legs * bool(self.straight)


def _span(values: Any, digits: str) -> str:
    """Return the smallest and the largest number, once if they read alike."""
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
    """Let the exact robot and its approximations walk along a motion, or fall from a height in its first pose.

    Raises:
        ModelError: The base does not float, there are no rotors, or nothing lands.
        TrajectoryError: The base was not recorded, or the harness carries more than 20 % of the weight.
        SimulationError: Nothing can touch, or a simulation fails.
    """
    control = Control(model, trajectory, drop, ground, touching, dt)
    rungs = ("armature",) if model.closures else ("diagonal", "block")
    runs = dict[str, SimulationResult]()
    for rung in ("exact", *rungs):
        robot = model if rung == "exact" else approximations.robot(model, rung)
        q, v = control.q[0], control.v[0]
        runs[rung] = simulate(
            robot, q, v, control, control.duration, dt, ground=control.ground, touching=control.touching
        )
        progress(len(runs) / (1 + len(rungs)))
    weight = float(np.linalg.norm(model.tree.gravity.linear)) * sum(float(I.mass) for I in model.inertia_tree.inertias)
    harness, moment = control.most.tolist()
    if harness > _MOST * weight:
        raise TrajectoryError(
            f"audit: along {trajectory.label} the harness on the base carries {harness:.3g} N, "
            f"{100.0 * harness / weight:.0f} % of the weight; above {100.0 * _MOST:g} % the touch-downs would be its "
            "own. Give a motion that this robot can do on its feet, with these points of touch, or let it fall: --drop."
        )
    said = trajectory.label if drop is None else f"drop from {drop:g} m"
    landings = _landings(model, runs, np.array(control.ground.normal), dt)
    if not landings:
        raise ModelError(
            f"audit: no foot of {model.name!r} lands ({said}). Give another motion, or let it fall: --drop."
        )
    pushed = {name: np.cumsum(run.contact_impulses @ control.ground.normal, axis=0) for name, run in runs.items()}
    exact = runs["exact"]
    return Walked(
        said,
        landings,
        rungs,
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
    """The controller, the same for all robots.

    Attributes:
        q: Where to be at each step, shape (steps, nq); the first is the start.
        v: With which velocity, shape (steps, nv).
        tau: Statics, shape (steps, nv).
        most: Largest force and moment of the harness so far.
        straight: Names of joints whose bodies would land on straight legs, in a drop.
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
                + ("its base does not float." if base is None else "it has no rotors that armature stands for.")
            )
        if drop is not None and (isinstance(drop, bool) or not 0.0 < drop <= _HIGHEST):
            raise ArgumentTypeError(f"audit: drop is a height between 0 and {_HIGHEST:g} m, got {drop!r}.")
        self.model, self.base, self.dt, self.drop, self.most = model, base, dt, drop, np.zeros(2)
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
        """Return names of joints whose bodies touch first, and whose legs can hardly become shorter: they are straight.

        The least joint speeds are sought that lift all points of a body at 1 m/s without sliding. Those of a knee bent
        by 0.2 rad are 20 m/s over the length of the leg; those of a straight leg are infinite.
        """
        world, _ = world_of(self.model, self.ground, self.touching, False, False)
        assert world is not None
        near, on = world.look(q, _NEAR), Coordinates(self.model, self.model)
        forwardKinematics(self.model, on.data, q)
        J = np.delete(world.rows(on, q, near)[: 3 * near.contacts], self.base, axis=1).reshape(near.contacts, 3, -1)
        base, found = self.model.getJointId(str(floating_base(self.model))), list[str]()
        for j in sorted({*near.joints[:, 0].tolist()} - {base}):
            at = near.joints[:, 0] == j
            rows, up = J[at].reshape(-1, J.shape[2]), np.tile([0.0, 0.0, 1.0], int(at.sum()))
            most = _BENT / np.linalg.norm(near.places[at].mean(axis=0) - on.data.tree.oMi[base].translation)
            gram = most**2 / at.sum() * rows.T
            speeds = np.linalg.solve(gram @ rows + np.eye(J.shape[2]), gram @ up)
            if np.sum((rows @ speeds - up) ** 2) > 0.5 * at.sum():
                found.append(self.model.names[j])
        return tuple(found)

    def _follow(self, trajectory: Trajectory) -> None:
        """Take a recorded motion, the ground where its lowest point is most of the time."""
        if not isinstance(trajectory, Recorded) or not trajectory.moves_base:
            raise TrajectoryError(
                f"audit: walk needs a recorded motion of a floating base (x y z qx qy qz qw), and {trajectory.label} "
                "is none. Give one (--walk MOTION), or let the robot fall (--drop 0.1)."
            )
        model, data, base = self.model, self.model.createData(), self.base
        time, self.q, self.v, a = trajectory.resampled(self.dt).states(model)
        self.duration, still, on = float(time[-1]), np.zeros(model.nv), Coordinates(model, model)
        world, _ = world_of(model, self.ground, self.touching, False, False)
        assert world is not None
        low = [world.lowest(model, q) for q in self.q[:: max(1, round(0.01 / self.dt))]]
        up = float(np.median(low))
        self.ground = Ground(self.ground.friction, self.ground.normal, self.ground.height + up)
        loads = trajectory.loads(model, time, self.q)
        self.tau = np.array([rnea(model, data, q, still, still) for q in self.q])
        for k, q in enumerate(self.q if loads is None else ()):  # the least forces at what is near
            near = world.look(q, up + _NEAR)
            J = world.rows(on, q, near)[: 3 * near.contacts]
            wrench = rnea(model, data, q, self.v[k], a[k])[base]
            self.tau[k] -= J.T @ np.linalg.lstsq(J[:, base].T, wrench, rcond=None)[0]
        self.tau -= 0.0 if loads is None else loads
        self.tau[:, base] = 0.0
        self.q[0] = on_ground(model, self.q[0], self.ground, self.touching, above=max(0.0, low[0] - up))

    def __call__(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return torques, and the wrench of the harness."""
        k, base = min(round(t / self.dt), len(self.q) - 1), self.base
        off, late = difference(self.model, q, self.q[k]), self.v[k] - v
        found = self.tau[k] + self.gain * (off + _DAMPED / _STIFF * late)
        if self.drop is None:
            found[base] = wrench = self.M @ (_SOFT**2 * off[base] + _DAMPED * _SOFT * late[base])
            self.most = np.maximum(self.most, np.linalg.norm(wrench.reshape(2, 3), axis=1))
        return np.asarray(found)


def _landings(
    model: ClusterModel, runs: dict[str, SimulationResult], normal: np.ndarray, dt: float
) -> tuple[Landing, ...]:
    """Return the landings of the exact robot beside those of the others."""
    exact, found, nan = runs["exact"], list[Landing](), dict.fromkeys(runs, float("nan"))
    root = floating_base(model)
    joints = {model.joint_idx_v(name): name for name in model.independent_joints if name != root}
    legs, after, impact = list(joints), round(AFTER / dt), round(IMPACT / dt)
    for b, body in enumerate(exact.bodies):
        starts = {name: _starts(run, b, normal, round(_APART / dt)) for name, run in runs.items()}
        for k in starts["exact"]:
            if k + after >= len(exact.time):
                continue
            # the nearest landing, if this is the nearest one to it, too
            at = {name: _nearest(every, k) for name, every in starts.items() if every}
            at = {n: i for n, i in at.items() if abs(i - k) * dt <= _MATCH and _nearest(starts["exact"], i) == k}
            impulse = {
                n: float(runs[n].contact_impulses[i : i + impact, b].sum(axis=0) @ normal) for n, i in at.items()
            }
            peaks = list[Any]()
            for kind in ("tau", "v"):
                most = {n: np.abs(getattr(runs[n], kind)[i : i + after, legs]).max(axis=0) for n, i in at.items()}
                usual = next((most[n] for n in list(runs)[1:] if n in most), most["exact"])
                worst = int(np.argmax(np.abs(usual - most["exact"])))
                peaks += [joints[legs[worst]], nan | {n: float(x[worst]) for n, x in most.items()}]
            time = {n: float(exact.time[i]) for n, i in at.items()}
            found.append(Landing(body, nan | time, nan | impulse, *peaks))
    return tuple(sorted(found, key=lambda x: x.time["exact"]))


def _nearest(samples: list[int], k: int) -> int:
    return min(samples, key=lambda i: abs(i - k))


def _starts(run: SimulationResult, b: int, normal: np.ndarray, apart: int) -> list[int]:
    """Return the samples at which a body lands that was off the ground for so many."""
    pushed = np.flatnonzero(run.contact_impulses[:, b] @ normal > 1e-9).tolist()
    first = -apart if run.gap[0, b] > _NEAR else 0
    return [k for last, k in pairwise([first, *pushed]) if k - last >= apart]
