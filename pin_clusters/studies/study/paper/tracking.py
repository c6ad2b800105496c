"""Compare the end-effector paths of exact and approximate robots under the same open-loop torques."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin

from .... import approximations
from ...._support.picture_names import literal
from ....algorithms.dynamics.rnea import rnea
from ....model import ClusterModel
from ...pages.results import finite, told
from .._samples import labels, locked, spread
from ..approximate_dynamics import Progress, along, part_of
from ..metrics.drift import frame_poses, simulated
from ..plots import STYLES, Figure, head, named, panels
from ..trajectories import Sine, moved_joints
from ._experiment import Experiment, documented, rotors
from ._part import Rows

TIMES = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)


@dataclass(frozen=True, eq=False)
class EndEffectorTracking(Experiment):
    """Drift of the end effectors of the exact and the approximate robots under the exact torques of a motion."""

    robot: str  # name of the robot
    frame: str  # name of the end-effector frame
    sine: Sine  # the motion
    dt: float  # step of the simulations, [s]
    drop_rotors: bool  # whether the approximate robots omit the rotors
    time: np.ndarray  # time of each sample, shape (N,), [s]
    path: np.ndarray  # position of the end effector along the motion, shape (N, 3), [m]
    drift: dict[str, np.ndarray]  # distance from ``path`` by name of the robot, (N,), [m]; NaN after a failure
    ended: dict[str, str]  # error message of each failed simulation, by name of the robot

    @property
    def title(self) -> str:
        return (
            f"{self.robot}: exact torques of {self.sine.label} at every joint drive the exact and the approximate "
            f"robots in open loop (RK4, steps of {self.dt:g} s); distance of {self.frame!r} from its exact path; "
            f"rotors {rotors(self.drop_rotors)}."
        )

    @property
    def summary(self) -> str:
        k = int(np.argmin(np.abs(self.time - 0.5)))
        label = labels(self.drift)
        drift = {label[level]: 1e3 * x for level, x in self.drift.items()}
        drift_texts = [f"{name} {x[k]:.3g} mm (at most {np.nanmax(x):.3g})" for name, x in drift.items()]
        ended = "".join(f" {label[level]}: {reason}" for level, reason in self.ended.items())
        return f"Drift after {self.time[k]:.2g} s: {', '.join(drift_texts)}.{ended}"

    def as_dict(self) -> dict[str, Any]:
        rows = spread(len(self.time), 101)
        return {
            "experiment": "end-effector-tracking",
            **told(self, "robot frame trajectory:sine"),
            "method": "rk4",
            "step": self.dt,
            "rotors_of_approximations": locked(self.drop_rotors),
            "time": self.time[rows].tolist(),
            "drift": {level: finite(x[rows].tolist()) for level, x in self.drift.items()},
            "largest_drift": {level: float(np.nanmax(x)) for level, x in self.drift.items()},
            "ended": self.ended,
        }

    def tables(self) -> list[tuple[str, Rows]]:
        sample_rows = [int(np.argmin(np.abs(self.time - t))) for t in TIMES if t <= self.time[-1] + 1e-9]
        rows: Rows = [("", *(f"{self.time[k]:.3g} s" for k in sample_rows))]
        for label, x in zip(labels(self.drift).values(), self.drift.values(), strict=True):
            rows.append((label, *(f"{1e3 * x[k]:.3g}" if np.isfinite(x[k]) else "-" for k in sample_rows)))
        return [(f"Distance of {self.frame} from the motion, mm", rows)]

    def draw(self, figure: Figure) -> None:
        beginning, full = panels(figure, 2, left=0.075, gap=0.2, top=1.4, bottom=0.5)
        early = self.time <= min(1.0, float(self.time[-1]))
        for level, x in self.drift.items():
            beginning.plot(self.time[early], 1e3 * x[early], **STYLES[level])
            full.plot(self.time[1:], np.maximum(1e3 * x[1:], 1e-12), **STYLES[level])
        full.set_yscale("log")
        full.set_ylim(bottom=max(1e-12, 0.1 * min(1e3 * float(np.nanmedian(x)) for x in self.drift.values())))
        for axes, title in ((beginning, "beginning"), (full, "full duration, logarithmic")):
            axes.set_xlim(left=0.0)
            named(axes, title, "time [s]", "distance [mm]")
        head(
            figure,
            f"{literal(self.robot)}: open-loop drift of {literal(self.frame)} under the exact torques",
            (
                f"The exact torques of {self.sine.label.replace('2 pi', '2$' + chr(92) + 'pi$')} at every joint, "
                f"fixed base; RK4, steps of {1e3 * self.dt:g} ms.",
                f"Distance of the frame from its path in the motion. Rotors are {rotors(self.drop_rotors)}.",
            ),
            labels(self.drift),
        )


@documented
def run(
    model: ClusterModel,
    *,
    drop_rotors: bool = False,
    progress: Progress | None = None,
    frequency: float = 0.5,
    amplitude: float = 0.5,
    duration: float = 5.0,
    dt: float = 1e-3,
    frame: str | None = None,
) -> EndEffectorTracking:
    """Simulate the exact and the approximate robots under the exact robot's inverse-dynamics torques along a sine.

    Each RK4 stage uses the torques at its time. There is no feedback, so all errors grow, including integration errors.

    Args:
        model: The robot; its base should be fixed, because a floating base would fall.
        frequency: Frequency of the sine, [Hz].
        amplitude: Amplitude of the sine, [rad] or [m].
        dt: Time step, [s].
        frame: Name of a frame of ``model.tree``; by default, the last joint of the longest chain.
    """
    name = _end(model) if frame is None else frame
    frame_id = model.getFrameId(name)
    sine, _ = Sine(amplitude, frequency, duration, dt / 2.0, in_phase=True).fitted(model)
    # The last RK4 stage of the last step needs an additional sample.
    longer = replace(sine, duration=duration + dt)
    _, q, v, a = longer.states(model)
    torques, _ = along(model, {}, rnea, q, v, a)
    time = np.arange(round(duration / dt) + 1) * dt
    path = _positions(model, q[::2][: len(time)], frame_id)

    def tau(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.asarray(torques[min(round(2.0 * t / dt), len(torques) - 1)])

    drift, ended = {}, {}
    approximate = approximations.of(model, drop_rotors)
    runs = {"exact": None, **{name: approximation.aba for name, approximation in approximate.items()}}
    for i, (level, dynamics) in enumerate(runs.items()):
        tell_part = part_of(progress, i, len(runs))
        start = (model, q[0], v[0], tau, duration, dt)
        simulation, reason = simulated(*start, dynamics=dynamics, switch=False, progress=tell_part)
        if reason:
            ended[level] = reason
        reached = _positions(model, simulation.q[: len(time)], frame_id)
        drift[level] = np.full(len(time), np.nan)
        drift[level][: len(reached)] = np.linalg.norm(reached - path[: len(reached)], axis=1)
    recorded_sine = replace(sine, dt=dt)
    return EndEffectorTracking(model.name, name, recorded_sine, dt, drop_rotors, time, path, drift, ended)


def _positions(model: ClusterModel, q: np.ndarray, frame: int) -> np.ndarray:
    return np.array([M.translation for M in frame_poses(model, frame, q)])


def _end(model: ClusterModel) -> str:
    tree, data = model.tree, model.tree.createData()
    pin.forwardKinematics(tree, data, model.q_reference)

    def depth_and_reach(name: str) -> tuple[int, float]:
        j = tree.getJointId(name)
        return len(tree.supports[j]), float(np.linalg.norm(data.oMi[j].translation))

    return max(moved_joints(model), key=depth_and_reach)
