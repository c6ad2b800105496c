"""Which torques the motors of a cluster can make at its joints, and how that changes with the pose."""

import itertools
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...algorithms.dynamics.coupling import coupling_jacobian
from ...errors import SingularClusterError
from ...model import Cluster, ClusterModel
from ..pages.results import Result
from .actuators import Motor
from .coordinates import Coordinate, coordinates
from .sweep import Sweep
from .words import place

_SINGULAR = 1e8
_MOST = 10
"""Motors whose box has corners that can be counted."""


@dataclass(frozen=True, eq=False)
class TorqueSet:
    """The torques at some joints that motors within their limits can make in one pose: the image of a box.

    Attributes:
        pose: Which pose, in words.
        q: The pose, shape (nq,).
        matrix: Torque of the joints = matrix @ torque of the motors, shape (joints, motors).
        corners: Corners of the image, in turn where there are two joints, shape (corners, joints), [N m] or [N].
        largest: Of each joint, whatever the others feel, shape (joints,).
        alone: Of each joint while the others feel none, shape (joints,).
        speeds: Corners of what speeds of the motors within their limits move two joints by, in turn; else empty.
    """

    pose: str
    q: np.ndarray
    matrix: np.ndarray
    corners: np.ndarray
    largest: np.ndarray
    alone: np.ndarray
    speeds: np.ndarray


@dataclass(frozen=True, eq=False)
class Torques(Result):
    """What the motors of one cluster can do at its joints.

    Attributes:
        joints: Where torque is wanted: the joints of the links that motors move through the cluster; without such, its
            independent joints.
        motors: What drives it.
        sets: At some poses, the reference pose first.
        along: Of a cluster of one freedom, over its range, shape (N, joints): the largest torque; else None.
        values: Of the moved joint there, shape (N,).
    """

    joints: tuple[Coordinate, ...]
    motors: tuple[Motor, ...]
    sets: tuple[TorqueSet, ...]
    along: np.ndarray | None
    values: np.ndarray | None

    def as_dict(self) -> dict[str, Any]:
        """Return plain numbers and text."""
        return {
            "joints": [c.name for c in self.joints],
            "motors": [{"name": m.name, "limit": m.limit, "given": m.given, "from": m.source} for m in self.motors],
            "poses": [
                {"pose": s.pose, "corners": s.corners.tolist(), "largest": s.largest.tolist()} for s in self.sets
            ],
        }


def torques(
    model: ClusterModel, cluster: Cluster, motors: tuple[Motor, ...], sweeps: Sequence[Sweep]
) -> Torques | None:
    """Compute the torques of a cluster's motors; None if it has none, or joints of several degrees of freedom."""
    joints = outputs(model, cluster, motors)
    if not motors or not joints:
        return None
    data = model.createData()
    columns = [c.column for c in coordinates(model, cluster.independent)]
    limits = np.array([m.limit for m in motors])
    poses = [("reference pose", model.q_reference)]
    for s in sweeps if len(sweeps) < 4 else ():
        ends = (0, -1)
        if s.turns:  # no end: half of the way there
            ends = (s.reference // 2, (s.reference + len(s.values) - 1) // 2)
        for k in ends:
            if abs(s.values[k] - s.values[s.reference]) > 1e-6:
                poses.append((f"{s.moved.name} at {place(s.values[k], s.moved.unit)}", _inside(s, k)))
    sets = []
    for pose, q in poses:
        matrix = _matrix(coupling_jacobian(model, data, q), columns, joints, motors)
        if matrix is not None:
            scaled = matrix * limits
            largest = np.abs(scaled).sum(axis=1)
            square = matrix.shape == (2, 2) and np.linalg.cond(matrix) < _SINGULAR
            speeds = _corners(np.linalg.inv(matrix.T) * [m.speed for m in motors]) if square else np.empty((0, 2))
            sets.append(TorqueSet(pose, q, matrix, _corners(scaled), largest, _alone(scaled, largest), speeds))
    if not sets:
        return None
    along = values = None
    if len(columns) == 1 and sweeps:
        # of one freedom each joint could take all of the torque: an interval per joint
        along, values = np.full((len(sweeps[0].q), len(joints)), np.nan), sweeps[0].values
        for i, q in enumerate(sweeps[0].q):
            with suppress(SingularClusterError), np.errstate(divide="ignore"):  # at the very end of a range
                G = coupling_jacobian(model, data, q)
                drive = sum(abs(float(m.row @ G[:, columns[0]])) * x for m, x in zip(motors, limits, strict=True))
                along[i] = drive / np.abs(G[[c.iv for c in joints], columns[0]])
    return Torques(joints, motors, tuple(sets), along, values)


def stiffness(model: ClusterModel, cluster: Cluster, t: Torques, poses: np.ndarray) -> np.ndarray:
    """Return the stiffness at each joint of motors with a stiffness of 1, the others held, shape (.., joints)."""
    data, found = model.createData(), np.full((*poses.shape[:-1], len(t.joints)), np.nan)
    columns = [c.column for c in coordinates(model, cluster.independent)]
    for at in np.argwhere(np.isfinite(poses[..., 0])).tolist():
        with suppress(SingularClusterError):
            matrix = _matrix(coupling_jacobian(model, data, poses[tuple(at)]), columns, t.joints, t.motors)
            found[tuple(at)] = np.nan if matrix is None else np.square(matrix).sum(axis=1)
    return found


def distinct(t: Torques) -> list[TorqueSet]:
    """Return the poses without those that repeat the numbers of an earlier one."""
    found: list[TorqueSet] = []
    for s in t.sets:
        scale = np.abs(s.matrix).max()
        if not any(np.allclose(s.matrix, x.matrix, rtol=0.0, atol=1e-4 * scale) for x in found):
            found.append(s)
    return found


def outputs(model: ClusterModel, cluster: Cluster, motors: tuple[Motor, ...]) -> tuple[Coordinate, ...]:
    """Return the joints at which torque is wanted.

    Of one freedom, all that is no rotor. Of more: the dependent joints, where the motors are at the independent ones
    and there are as many dependent joints that are no rotors; otherwise the independent ones.
    """
    every = coordinates(model, cluster.joints)
    free = [c for c in every if c.column >= 0]
    if len(free) != sum(model.own_tree.nvs[model.getJointId(name)] for name in cluster.independent):
        return ()
    if len(free) == 1:
        return tuple(c for c in every if not c.rotor)
    links = tuple(c for c in every if c.column < 0 and not c.rotor)
    at = {c.iv for c in free}
    driven = all(set(np.flatnonzero(m.row)) <= at for m in motors)
    return links if driven and len(links) == len(free) else tuple(free)


def _inside(s: Sweep, k: int) -> np.ndarray:
    """Return the end of a sweep, or the sample beside it where the dependent joints are not determined at the end."""
    if k in (0, -1) and not s.turns:
        end = s.low if k == 0 else s.high
        k = k if end.kind in ("limit", "none") else 1 if k == 0 else -2
    return np.asarray(s.q[k])


def _matrix(
    G: np.ndarray, columns: list[int], joints: tuple[Coordinate, ...], motors: tuple[Motor, ...]
) -> np.ndarray | None:
    """Return torque of the joints per torque of the motors, by virtual work; None where the joints are not free."""
    B = np.array([m.row @ G[:, columns] for m in motors]).T
    D = G[np.ix_([c.iv for c in joints], columns)]
    if len(columns) == 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            found = B / D  # each joint takes all of it
        return found if np.isfinite(found).all() else None
    return np.linalg.solve(D.T, B) if np.linalg.cond(D) < _SINGULAR else None


def _corners(scaled: np.ndarray) -> np.ndarray:
    """Return the corners of the image of the box from -1 to 1, of two joints in turn."""
    from scipy.spatial import ConvexHull, QhullError

    n, count = scaled.shape
    if count > _MOST:
        return np.empty((0, n))
    box = np.array(list(itertools.product((-1.0, 1.0), repeat=count)))
    image = box @ scaled.T
    if n == 1:
        return np.array([image.min(axis=0), image.max(axis=0)])
    try:
        hull = ConvexHull(image)
    except QhullError:  # flat: motors that cannot move the joints independently
        direction = np.linalg.svd(scaled)[0][:, 0]
        order = np.argsort(image @ direction)
        return np.asarray(image[order[[0, -1]]])
    return np.asarray(image[hull.vertices])


def _alone(scaled: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Return the largest torque of each joint while the others feel none, by linear programming."""
    from scipy.optimize import linprog

    n = len(scaled)
    if n == 1:
        return largest
    found = np.zeros(n)
    for i in range(n):
        rest = np.delete(scaled, i, axis=0)
        solved = linprog(-scaled[i], A_eq=rest, b_eq=np.zeros(n - 1), bounds=(-1.0, 1.0))
        found[i] = -float(solved.fun or 0.0) if solved.status == 0 else 0.0
    return found
