"""What the approximations do to a simulation: accelerations, flight, what a frame feels and where it gets to."""

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
from ..study.metrics import Drift, FlightError, ForwardError, OsimError
from ..study.rungs import along
from ..study.trajectories import base_columns

STATES = 200
"""Samples of the motion at which accelerations are compared, evenly spread."""
DURATION, STEP = 0.2, 1e-3
"""Of the simulation in open loop, [s]: beyond it legs without feedback fall anywhere, and no two robots agree."""
_FRAMES, _STILL, _REST = 2, 1e-6, 1e-9


@dataclass(frozen=True, eq=False)
class FrameError(Result):
    """Errors at one frame.

    Attributes:
        frame: Its name.
        osim: Error of the inertia that a push on it feels.
        drift: Where it gets to in open loop; None if the exact robot cannot be simulated so.
        reason: Why not.
    """

    frame: str
    osim: OsimError
    drift: Drift | None
    reason: str

    _json = "frame osim drift no_drift:reason"


@dataclass(frozen=True, eq=False)
class Simulated(Result):
    """What the approximations do to a simulation. The torques are the exact ones of the motion.

    Attributes:
        forward: Errors of the accelerations along the motion: on a floating base acts the exact wrench of the motion.
        free: Errors of the accelerations in free flight: on the base acts nothing; None if the base does not float.
        flight: Errors of the base and of momentum in free flight; None if the base does not float.
        frames: Errors at some frames.
    """

    forward: ForwardError
    free: ForwardError | None
    flight: FlightError | None
    frames: tuple[FrameError, ...]

    _json = "forward_dynamics:forward free_flight:free flight frames"


def simulated(
    model: ClusterModel,
    found: StudyResult,
    motion: tuple[np.ndarray, np.ndarray, np.ndarray],
    frames: Sequence[str] | None,
    progress: Callable[[float], None],
) -> Simulated:
    """Compare simulations of a robot and of its approximations along the motion (q, v, a) of a study.

    The frames to look at are by default the ends of the longest chains.
    """
    q, v, _ = motion
    every, _ = along(model, {}, rnea, *motion)
    tau = _torques(model, found, every)
    some = spread(len(q), STATES)
    states = (q[some], v[some], tau[some])
    names = ends(model, q[some]) if frames is None else tuple(frames)
    drop = found.drop_rotors
    forward = metrics.forward_error(model, q[some], v[some], every[some], drop_rotors=drop)
    if found.base == "fixed" or not getattr(found.trajectory, "moves_base", False):
        # of a base at rest nothing is a part
        forward = replace(forward, base={}, exact=np.where(forward.exact > _REST, forward.exact, 0.0))
    progress(0.3)
    free = flight = None
    if base_columns(model) is not None:
        free = metrics.forward_error(model, *states, drop_rotors=drop)
        with suppress(ModelError):  # something else ties it to the world
            flight = metrics.flight(model, *states, drop_rotors=drop)
    progress(0.5)
    errors = []
    for i, name in enumerate(names):
        osim = metrics.osim_error(model, name, q[some], drop_rotors=drop)
        errors.append(FrameError(name, osim, *_drift(model, found, q[0], v[0], tau, name)))
        progress(0.5 + 0.5 * (i + 1) / len(names))
    return Simulated(forward, free, flight, tuple(errors))


def ends(model: ClusterModel, q: np.ndarray) -> tuple[str, ...]:
    """Return the bodies at the ends of the longest chains, one for each length: a foot and a hand, not both feet.

    Frames that stay where they are in all of the configurations do not count.
    """
    tree = model.tree
    rotors = {r.joint_id for r in model.rotors}
    links = [j for j in range(1, tree.njoints) if j not in rotors]
    parents = {int(tree.parents[j]) for j in links}
    depth = {j: len(tree.supports[j]) for j in links if j not in parents and tree.nvs[j] == 1}
    path, named = _origins(model, q), Counter(f.name for f in tree.frames)
    found: dict[int, str] = {}
    for j in sorted(depth, key=lambda j: (-depth[j], j)):
        # models that were not read from a file may have no frames; a name may be that of a joint and of a body
        frames = [f for f in tree.frames if f.parentJoint == j and named[f.name] == 1]
        if frames and np.ptp(path[:, j], axis=0).max() > _STILL:
            found.setdefault(depth[j], next((f.name for f in frames if f.type.name == "BODY"), frames[0].name))
    return tuple(found.values())[:_FRAMES]


def _origins(model: ClusterModel, q: np.ndarray) -> np.ndarray:
    """Return where the joints are, shape (N, njoints, 3)."""
    tree = model.tree
    data = tree.createData()
    found = np.empty((len(q), tree.njoints, 3))
    for i, row in enumerate(q):
        pin.forwardKinematics(tree, data, row)
        found[i] = [M.translation for M in data.oMi]
    return found


def _torques(model: ClusterModel, found: StudyResult, every: np.ndarray) -> np.ndarray:
    """Return the torques of the joints along the motion, nothing on a floating base, shape (N, nv)."""
    tau = every.copy()
    # where recorded forces of the ground act, the study has them
    columns = [model.joint_idx_v(found.joints[k]) for k in found.actuated]
    tau[:, columns] = found.exact[:, found.actuated]
    base = base_columns(model)
    if base is not None:
        tau[:, base] = 0.0
    return tau


def _drift(
    model: ClusterModel, found: StudyResult, q0: np.ndarray, v0: np.ndarray, tau: np.ndarray, frame: str
) -> tuple[Drift | None, str]:
    duration = min(DURATION, float(found.time[-1] - found.time[0]))
    if duration < STEP:
        return None, "the motion is too short"
    start, last = found.time[0], len(found.time) - 1

    # a function, not an array: the loop that is compiled for arrays would take longer to compile than all else
    def torque(t: float, *_: Any) -> np.ndarray:
        k = min(int(np.searchsorted(found.time, start + t, side="right")) - 1, last - 1)
        part = (start + t - found.time[k]) / (found.time[k + 1] - found.time[k])
        return np.asarray((1.0 - part) * tau[k] + part * tau[k + 1])

    steps = int(duration / STEP + 1e-9)
    try:
        return metrics.drift(model, q0, v0, torque, frame, steps * STEP, STEP, drop_rotors=found.drop_rotors), ""
    except SimulationError as error:
        return None, str(error)
