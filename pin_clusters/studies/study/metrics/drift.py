"""Compare the paths of a frame in open-loop simulations of the exact and the approximate robots."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...._support import old_names
from ....errors import SimulationError
from ....model import ClusterModel, check_model
from ....simulation import SimulationResult, simulate
from ...pages.results import Result, finite, told
from .._samples import chosen, documented


@dataclass(frozen=True, eq=False)
class Drift(Result):
    """Deviation of a frame in each approximate robot from the same frame in the exact robot.

    Attributes:
        time: Time of each sample, shape (N,), [s].
        path: Position of the exact robot's frame in the world, shape (N, 3), [m].
        distance: Distance of each approximate robot's frame from ``path``, shape (N,), [m]; NaN after a failure.
        angle: Angle between the exact and the approximate robot's frame, shape (N,), [rad].
        stopped: Error message of each failed simulation, by name of the approximation.
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
        """Length of the exact robot's path, [m], for comparison with ``distance``."""
        return float(np.sum(np.linalg.norm(np.diff(self.path, axis=0), axis=1)))

    def as_dict(self) -> dict[str, Any]:
        quarters = [round(k * (len(self.time) - 1) / 4) for k in range(1, 5)]
        errors = {
            quantity: {
                level: {"quarters": finite(x[quarters].tolist()), "largest": float(np.nanmax(x))}
                for level, x in entries
            }
            for quantity, entries in (("distance", self.distance.items()), ("angle", self.angle.items()))
        }
        times = self.time[quarters].tolist()
        return told(self, "robot frame", quarters=times, path_length=self.length, **errors, stopped=self.stopped)


@old_names.argument("rungs", "levels")
@documented
def drift(
    model: ClusterModel,
    q0: ArrayLike,
    v0: ArrayLike,
    tau: ArrayLike | Callable[..., Any] | None,
    frame: str,
    duration: float = 1.0,
    dt: float = 1e-3,
    levels: Iterable[str] | None = None,
    drop_rotors: bool = False,
    record: int = 1,
) -> Drift:
    """Simulate the exact robot and its approximations from the same state, under the same torques.

    The torques are usually open loop, for example the inverse-dynamics torques of the exact robot. RK4
    integrates all robots with the same time step.

    Args:
        q0: Initial configuration of the tree, shape (nq,).
        v0: Initial independent velocity, shape (nv,).
        tau: As in ``pc.simulate``: None, a function ``tau(t, q, v)``, or an array, (nv,) or (steps, nv). If the
            function uses q and v, the torques of each robot depend on that robot's own state.
        dt: Time step, [s].
        record: Number n of steps between samples; every n-th step is recorded.

    Raises:
        ArgumentTypeError: An argument has the wrong type.
        UnknownNameError: ``frame`` or a name in ``levels`` is unknown.
        SimulationError: The simulation of the exact robot fails. ``stopped`` lists failed approximations.
    """
    check_model(model, "metrics.drift")
    frame_id, approximate_models = model.getFrameId(frame), chosen(model, levels, drop_rotors)

    start = (model, q0, v0, tau, duration, dt)
    options: dict[str, Any] = {"method": "rk4", "record": record}
    exact = simulate(*start, **options)
    poses = frame_poses(model, frame_id, exact.q)
    path = np.array([M.translation for M in poses])
    distance, angle, stopped = {}, {}, {}
    for name, approximation in approximate_models.items():
        result, failure = simulated(*start, **options, dynamics=approximation.aba)
        if failure:
            stopped[name] = failure
        times = zip(result.time, exact.time, strict=False)
        n = sum(abs(t - u) < 1e-3 * dt for t, u in times)  # a simulation may stop between two samples
        approximate_poses = frame_poses(model, frame_id, result.q[:n])
        distance[name], angle[name] = np.full((2, len(poses)), np.nan)
        for i, M in enumerate(approximate_poses):
            distance[name][i] = np.linalg.norm(M.translation - path[i])
            angle[name][i] = np.linalg.norm(pin.log3(poses[i].rotation.T @ M.rotation))
    return Drift(model.name, frame, exact.time, path, distance, angle, stopped)


def simulated(*start: Any, least: int = 0, **options: Any) -> tuple[SimulationResult, str]:
    """Call ``simulate``; if it fails after at least ``least`` samples, return these samples and the error message."""
    try:
        return simulate(*start, **options), ""
    except SimulationError as error:
        if error.result is None or len(error.result.time) < least:
            raise
        return error.result, str(error)


def frame_poses(model: ClusterModel, frame: int, q: np.ndarray) -> list[pin.SE3]:
    tree, data = model.tree, model.tree.createData()
    poses = []
    for row in q:
        pin.framesForwardKinematics(tree, data, row)
        poses.append(pin.SE3(data.oMf[frame]))
    return poses
