"""Where a frame gets to in open loop."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ....errors import SimulationError
from ....model import ClusterModel, check_model
from ....simulation import SimulationResult, simulate
from ...pages.results import Result, finite, told
from .._samples import chosen, documented


@dataclass(frozen=True, eq=False)
class Drift(Result):
    """How far a frame of an approximate robot gets from that of the exact one, under the same torques.

    Attributes:
        robot: Name of the robot.
        frame: Name of the frame.
        time: Shape (N,), [s].
        path: Position of the exact robot's frame in the world, shape (N, 3), [m].
        distance: Distance of each approximation's frame from it, shape (N,), [m]; NaN after a simulation stopped.
        angle: Angle between the two, shape (N,), [rad].
        stopped: Why the simulation of an approximation ended early; empty if none did.
    """

    robot: str
    frame: str
    time: np.ndarray
    path: np.ndarray
    distance: dict[str, np.ndarray]
    angle: dict[str, np.ndarray]
    stopped: dict[str, str]

    @property
    def length(self) -> float:
        """Length of the exact path, [m]: what the distances are to be compared with."""
        return float(np.sum(np.linalg.norm(np.diff(self.path, axis=0), axis=1)))

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers, ready for JSON: at the quarters of the time, and the largest."""
        quarters = [round(k * (len(self.time) - 1) / 4) for k in range(1, 5)]
        errors = {
            what: {rung: {"quarters": finite(x[quarters].tolist()), "largest": float(np.nanmax(x))} for rung, x in of}
            for what, of in (("distance", self.distance.items()), ("angle", self.angle.items()))
        }
        times = self.time[quarters].tolist()
        return told(self, "robot frame", quarters=times, path_length=self.length, **errors, stopped=self.stopped)


@documented
def drift(
    model: ClusterModel,
    q0: ArrayLike,
    v0: ArrayLike,
    tau: ArrayLike | Callable[..., Any] | None,
    frame: str,
    duration: float = 1.0,
    dt: float = 1e-3,
    rungs: Iterable[str] | None = None,
    drop_rotors: bool = False,
    record: int = 1,
) -> Drift:
    """Simulate the exact robot and its approximations from the same state, under the same torques.

    The torques are open loop: those that move the exact robot, for example, computed by inverse dynamics. All robots
    are integrated by RK4 with the same step.

    Args:
        q0: Configuration of the tree at the start, shape (nq,).
        v0: Independent velocity at the start, shape (nv,).
        tau: As in ``pc.simulate``: None, a function ``tau(t, q, v)``, or an array, (nv,) or (steps, nv). A function
            that looks at q and v closes the loop, of each robot with its own state.
        dt: Step, [s].
        record: Keep every n-th step.

    Raises:
        ArgumentTypeError: A type is wrong.
        UnknownNameError: There is no such frame or approximation.
        SimulationError: The exact robot cannot be simulated so long; an approximation that cannot is in ``stopped``.
    """
    check_model(model, "metrics.drift")
    at, ladder = model.getFrameId(frame), chosen(model, rungs, drop_rotors)

    start = (model, q0, v0, tau, duration, dt)
    how: dict[str, Any] = {"method": "rk4", "record": record}
    exact = simulate(*start, **how)
    poses = frame_poses(model, at, exact.q)
    path = np.array([M.translation for M in poses])
    distance, angle, stopped = {}, {}, {}
    for name, rung in ladder.items():
        result, why = simulated(*start, **how, dynamics=rung.aba)
        if why:
            stopped[name] = why
        times = zip(result.time, exact.time, strict=False)
        n = sum(abs(t - u) < 1e-3 * dt for t, u in times)  # where one stops may be between two samples
        found = frame_poses(model, at, result.q[:n])
        distance[name], angle[name] = np.full((2, len(poses)), np.nan)
        for i, M in enumerate(found):
            distance[name][i] = np.linalg.norm(M.translation - path[i])
            angle[name][i] = np.linalg.norm(pin.log3(poses[i].rotation.T @ M.rotation))
    return Drift(model.name, frame, exact.time, path, distance, angle, stopped)


def simulated(*start: Any, least: int = 0, **options: Any) -> tuple[SimulationResult, str]:
    """Simulate; if that ends early, but not before some samples, return what there is, and why."""
    try:
        return simulate(*start, **options), ""
    except SimulationError as error:
        if error.result is None or len(error.result.time) < least:
            raise
        return error.result, str(error)


def frame_poses(model: ClusterModel, frame: int, q: np.ndarray) -> list[pin.SE3]:
    """Return where a frame of the tree is in each configuration, (N, nq)."""
    tree, data = model.tree, model.tree.createData()
    found = []
    for row in q:
        pin.framesForwardKinematics(tree, data, row)
        found.append(pin.SE3(data.oMf[frame]))
    return found
