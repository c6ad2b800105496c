"""The torques of a motion in open loop: where exact and approximate robots take the end effector."""

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
from ..metrics.drift import frame_poses, simulated
from ..plots import STYLES, Figure, head, named, panels
from ..rungs import Progress, along, part_of
from ..trajectories import Sine, moved_joints
from ._experiment import Experiment, documented, rotors
from ._part import Rows

TIMES = (0.1, 0.25, 0.5, 1.0, 2.0, 5.0)


@dataclass(frozen=True, eq=False)
class EndEffectorTracking(Experiment):
    """Where the end effector goes when the torques of a motion drive the exact and the approximate robots.

    Attributes:
        robot: Its name.
        frame: Frame of the end effector.
        sine: The motion.
        dt: Step of the simulations, [s].
        drop_rotors: Whether the approximate robots lack the rotors.
        time: Shape (N,), [s].
        path: Where the motion has the end effector, shape (N, 3), [m].
        drift: Per simulation (``exact`` and the approximations) the distance from it, shape (N,), [m]; NaN after a
            simulation ended.
        ended: Why simulations ended before their time.
    """

    robot: str
    frame: str
    sine: Sine
    dt: float
    drop_rotors: bool
    time: np.ndarray
    path: np.ndarray
    drift: dict[str, np.ndarray]
    ended: dict[str, str]

    @property
    def title(self) -> str:
        """What was done."""
        return (
            f"{self.robot}: exact torques of {self.sine.label} at every joint drive the exact and the approximate "
            f"robots in open loop (RK4, steps of {self.dt:g} s); distance of {self.frame!r} from where it should be; "
            f"rotors {rotors(self.drop_rotors)}."
        )

    @property
    def summary(self) -> str:
        """What the drift is after half a second, and at most."""
        k = int(np.argmin(np.abs(self.time - 0.5)))
        label = labels(self.drift)
        drift = {label[rung]: 1e3 * x for rung, x in self.drift.items()}
        said = [f"{name} {x[k]:.3g} mm (at most {np.nanmax(x):.3g})" for name, x in drift.items()]
        ended = "".join(f" {label[rung]}: {why}" for rung, why in self.ended.items())
        return f"Drift after {self.time[k]:.2g} s: {', '.join(said)}.{ended}"

    def as_dict(self) -> dict[str, Any]:
        """Return settings and drift over time (every hundredth of the time), ready for JSON."""
        kept = spread(len(self.time), 101)
        return {
            "experiment": "end-effector-tracking",
            **told(self, "robot frame trajectory:sine"),
            "method": "rk4",
            "step": self.dt,
            "rotors_of_approximations": locked(self.drop_rotors),
            "time": self.time[kept].tolist(),
            "drift": {rung: finite(x[kept].tolist()) for rung, x in self.drift.items()},
            "largest_drift": {rung: float(np.nanmax(x)) for rung, x in self.drift.items()},
            "ended": self.ended,
        }

    def tables(self) -> list[tuple[str, Rows]]:
        """Return the drift at some times."""
        at = [int(np.argmin(np.abs(self.time - t))) for t in TIMES if t <= self.time[-1] + 1e-9]
        rows: Rows = [("", *(f"{self.time[k]:.3g} s" for k in at))]
        for label, x in zip(labels(self.drift).values(), self.drift.values(), strict=True):
            rows.append((label, *(f"{1e3 * x[k]:.3g}" if np.isfinite(x[k]) else "-" for k in at)))
        return [(f"Distance of {self.frame} from the motion, mm", rows)]

    def draw(self, figure: Figure) -> None:
        """Draw the drift over time: all of it on a logarithmic scale, the beginning on a linear one."""
        first, whole = panels(figure, 2, left=0.075, gap=0.2, top=1.4, bottom=0.5)
        early = self.time <= min(1.0, float(self.time[-1]))
        for rung, x in self.drift.items():
            first.plot(self.time[early], 1e3 * x[early], **STYLES[rung])
            whole.plot(self.time[1:], np.maximum(1e3 * x[1:], 1e-12), **STYLES[rung])
        whole.set_yscale("log")
        whole.set_ylim(bottom=max(1e-12, 0.1 * min(1e3 * float(np.nanmedian(x)) for x in self.drift.values())))
        for axes, title in ((first, "the beginning"), (whole, "all of it, logarithmic")):
            axes.set_xlim(left=0.0)
            named(axes, title, "time [s]", "distance [mm]")
        head(
            figure,
            f"{literal(self.robot)}: open-loop drift of {literal(self.frame)} under the exact torques",
            (
                f"The exact torques of {self.sine.label.replace('2 pi', '2$' + chr(92) + 'pi$')} at every joint, "
                f"fixed base; RK4, steps of {1e3 * self.dt:g} ms.",
                f"Distance from where the motion has the frame. Rotors are {rotors(self.drop_rotors)}.",
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
    """Drive the exact and the approximate robots with the exact torques of a sine.

    Nothing corrects the motion: the smallest error grows, that of the integration too. The torques are those at the
    times of the stages of RK4.

    Args:
        model: The robot; a floating base would fall, so its base is meant to be fixed.
        frequency: Of the sine, [Hz].
        amplitude: Of the sine, [rad] or [m].
        dt: Step, [s].
        frame: A frame of ``model.tree``; by default that of the joint at the end of the longest chain.

    Raises:
        UnknownNameError: There is no such frame.
        TrajectoryError: A number is not allowed.
    """
    name = _end(model) if frame is None else frame
    at = model.getFrameId(name)
    sine, _ = Sine(amplitude, frequency, duration, dt / 2.0, in_phase=True).fitted(model)
    # one sample more, for the last stage of the last step
    longer = replace(sine, duration=duration + dt)
    _, q, v, a = longer.states(model)
    torques, _ = along(model, {}, rnea, q, v, a)
    time = np.arange(round(duration / dt) + 1) * dt
    path = _positions(model, q[::2][: len(time)], at)

    def tau(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.asarray(torques[min(round(2.0 * t / dt), len(torques) - 1)])

    drift, ended = {}, {}
    runs = {"exact": None, **{name: rung.aba for name, rung in approximations.of(model, drop_rotors).items()}}
    for i, (rung, dynamics) in enumerate(runs.items()):
        tell = part_of(progress, i, len(runs))
        start = (model, q[0], v[0], tau, duration, dt)
        found, why = simulated(*start, dynamics=dynamics, switch=False, progress=tell)
        if why:
            ended[rung] = why
        reached = _positions(model, found.q[: len(time)], at)
        drift[rung] = np.full(len(time), np.nan)
        drift[rung][: len(reached)] = np.linalg.norm(reached - path[: len(reached)], axis=1)
    said = replace(sine, dt=dt)
    return EndEffectorTracking(model.name, name, said, dt, drop_rotors, time, path, drift, ended)


def _positions(model: ClusterModel, q: np.ndarray, frame: int) -> np.ndarray:
    """Return where a frame is, shape (N, 3), [m]."""
    return np.array([M.translation for M in frame_poses(model, frame, q)])


def _end(model: ClusterModel) -> str:
    """Return the last joint of the longest chain of joints that move on their own."""
    tree, data = model.tree, model.tree.createData()
    pin.forwardKinematics(tree, data, model.q_reference)

    def depth_and_reach(name: str) -> tuple[int, float]:
        j = tree.getJointId(name)
        return len(tree.supports[j]), float(np.linalg.norm(data.oMi[j].translation))

    return max(moved_joints(model), key=depth_and_reach)
