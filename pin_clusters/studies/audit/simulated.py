"""Evaluate the approximations in simulation: accelerations, free flight, apparent inertia and drift of frames."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin

from ...algorithms.dynamics.rnea import rnea
from ...errors import ModelError, SimulationError
from ...model import ClusterModel
from ..pages.results import Result
from ..study import StudyResult, metrics
from ..study._samples import spread
from ..study.approximate_dynamics import along
from ..study.metrics import Drift, FlightError, ForwardError, OsimError
from ..study.trajectories import base_columns

STATES = 200  # Number of evenly spaced samples of the motion at which accelerations are compared
DURATION, STEP = 0.2, 1e-3  # duration and step of the open-loop simulation, [s]; longer runs diverge in any model
_FRAMES = 2  # number of frames that are compared by default
_STILL = 1e-6  # smallest range of motion of a frame that counts as moving, [m]
_REST = 1e-9  # smallest acceleration that counts as motion


@dataclass(frozen=True, eq=False)
class FrameError(Result):
    """Errors at one frame."""

    frame: str  # name of the frame
    osim: OsimError  # error of the operational-space inertia
    drift: Drift | None  # drift of the frame in open loop; None if the exact robot cannot be simulated
    reason: str  # reason why the drift is unknown; otherwise empty

    _json = "frame osim drift no_drift:reason"


@dataclass(frozen=True, eq=False)
class Simulated(Result):
    """Errors of the approximations in a simulation with the exact torques of the motion."""

    forward: ForwardError  # acceleration errors along the motion; for a floating base, with the exact base wrench
    free: ForwardError | None  # acceleration errors in free flight, with no wrench on the base; None for a fixed base
    flight: FlightError | None  # errors of base acceleration and momentum in free flight; None if the base is fixed
    frames: tuple[FrameError, ...]  # errors at some frames

    _json = "forward_dynamics:forward free_flight:free flight frames"


def simulated(
    model: ClusterModel,
    study_result: StudyResult,
    motion: tuple[np.ndarray, np.ndarray, np.ndarray],
    frames: Sequence[str] | None,
    progress: Callable[[float], None],
) -> Simulated:
    """Compute errors in simulation along a motion (q, v, a); default ``frames`` are the ends of the longest chains."""
    q, v, _ = motion
    exact_torques, _ = along(model, {}, rnea, *motion)
    tau = _torques(model, study_result, exact_torques)
    samples = spread(len(q), STATES)
    states = (q[samples], v[samples], tau[samples])
    names = ends(model, q[samples]) if frames is None else tuple(frames)
    drop_rotors = study_result.drop_rotors
    forward = metrics.forward_error(model, q[samples], v[samples], exact_torques[samples], drop_rotors=drop_rotors)
    if study_result.base == "fixed" or not getattr(study_result.trajectory, "moves_base", False):
        # If the base is at rest, relative errors of its acceleration are meaningless.
        forward = replace(forward, base={}, exact=np.where(forward.exact > _REST, forward.exact, 0.0))
    progress(0.3)
    free = flight = None
    if base_columns(model) is not None:
        free = metrics.forward_error(model, *states, drop_rotors=drop_rotors)
        with suppress(ModelError):  # raised if joints or constraints also connect the robot to the world
            flight = metrics.flight(model, *states, drop_rotors=drop_rotors)
    progress(0.5)
    errors = []
    for i, name in enumerate(names):
        osim = metrics.osim_error(model, name, q[samples], drop_rotors=drop_rotors)
        errors.append(FrameError(name, osim, *_drift(model, study_result, q[0], v[0], tau, name)))
        progress(0.5 + 0.5 * (i + 1) / len(names))
    return Simulated(forward, free, flight, tuple(errors))


def ends(model: ClusterModel, q: np.ndarray) -> tuple[str, ...]:
    """Return a frame at a moving chain end for each of the two largest chain lengths, such as a foot and a hand."""
    tree = model.tree
    rotors = {r.joint_id for r in model.rotors}
    links = [j for j in range(1, tree.njoints) if j not in rotors]
    parents = {int(tree.parents[j]) for j in links}
    depth = {j: len(tree.supports[j]) for j in links if j not in parents and tree.nvs[j] == 1}
    path, name_counts = _origins(model, q), Counter(f.name for f in tree.frames)
    end_by_depth: dict[int, str] = {}
    for j in sorted(depth, key=lambda j: (-depth[j], j)):
        # Models that were built in Python may have no frames, and a joint and a body may have the same name.
        frames = [f for f in tree.frames if f.parentJoint == j and name_counts[f.name] == 1]
        if frames and np.ptp(path[:, j], axis=0).max() > _STILL:
            end_by_depth.setdefault(depth[j], next((f.name for f in frames if f.type.name == "BODY"), frames[0].name))
    return tuple(end_by_depth.values())[:_FRAMES]


def _origins(model: ClusterModel, q: np.ndarray) -> np.ndarray:
    tree = model.tree
    data = tree.createData()
    positions = np.empty((len(q), tree.njoints, 3))
    for i, row in enumerate(q):
        pin.forwardKinematics(tree, data, row)
        positions[i] = [M.translation for M in data.oMi]
    return positions


def _torques(model: ClusterModel, study_result: StudyResult, exact_torques: np.ndarray) -> np.ndarray:
    tau = exact_torques.copy()
    # The torques of the study account for recorded ground forces.
    columns = [model.joint_idx_v(study_result.joints[k]) for k in study_result.actuated]
    tau[:, columns] = study_result.exact[:, study_result.actuated]
    base = base_columns(model)
    if base is not None:
        tau[:, base] = 0.0
    return tau


def _drift(
    model: ClusterModel, study_result: StudyResult, q0: np.ndarray, v0: np.ndarray, tau: np.ndarray, frame: str
) -> tuple[Drift | None, str]:
    duration = min(DURATION, float(study_result.time[-1] - study_result.time[0]))
    if duration < STEP:
        return None, "the motion is too short"
    start, last = study_result.time[0], len(study_result.time) - 1

    # A function is used because compiling the simulation loop for an array of torques would take too long.
    def torque(t: float, *_: Any) -> np.ndarray:
        k = min(int(np.searchsorted(study_result.time, start + t, side="right")) - 1, last - 1)
        fraction = (start + t - study_result.time[k]) / (study_result.time[k + 1] - study_result.time[k])
        return np.asarray((1.0 - fraction) * tau[k] + fraction * tau[k + 1])

    steps = int(duration / STEP + 1e-9)
    try:
        return metrics.drift(model, q0, v0, torque, frame, steps * STEP, STEP, drop_rotors=study_result.drop_rotors), ""
    except SimulationError as error:
        return None, str(error)
