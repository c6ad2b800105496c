"""Compute the torques that the motors of a cluster can deliver at its joints in several poses."""

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
_MOST = 10  # Largest number of motors for which all 2^motors combinations of limits are enumerated


@dataclass(frozen=True, eq=False)
class TorqueSet:
    """Deliverable joint torques in one pose: ``matrix`` maps all motor torques within the motors' limits to this set.

    Attributes:
        pose: Description of the pose.
        q: Configuration, shape (nq,).
        matrix: Matrix that maps motor torques to joint torques, shape (joints, motors).
        corners: Corners of the set, in cyclic order for two joints, shape (corners, joints), [N m] or [N].
        largest: Largest torque of each joint, whatever the torques at the other joints, shape (joints,), [N m] or [N].
        alone: Largest torque of each joint with zero torque at the other joints, shape (joints,), [N m] or [N].
        speeds: Corners of the set of deliverable speeds of two joints, in cyclic order, [rad/s] or [m/s]; else empty.
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
    """Torques that the motors of one cluster can deliver.

    Attributes:
        joints: Link joints that the motors drive through the cluster or, if there are none, independent joints.
        motors: Motors of the cluster.
        sets: Torque sets in several poses; the first one is for the reference pose.
        along: Largest torques over the range, shape (N, joints), [N m] or [N]; None if several joints are independent.
        values: Values of the independent joint at the samples of ``along``, shape (N,), [rad] or [m].
    """

    joints: tuple[Coordinate, ...]
    motors: tuple[Motor, ...]
    sets: tuple[TorqueSet, ...]
    along: np.ndarray | None
    values: np.ndarray | None

    def as_dict(self) -> dict[str, Any]:
        """Return the results as numbers and text for JSON."""
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
    """Compute deliverable torques; return None if there are no motors or a joint has several degrees of freedom."""
    joints = outputs(model, cluster, motors)
    if not motors or not joints:
        return None
    data = model.createData()
    columns = [c.column for c in coordinates(model, cluster.independent)]
    limits = np.array([m.limit for m in motors])
    poses = [("reference pose", model.q_reference)]
    for s in sweeps if len(sweeps) < 4 else ():
        ends = (0, -1)
        if s.turns:  # A full turn has no ends, so use the middle of each direction.
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
        # If there is one degree of freedom, each joint can carry the entire torque.
        along, values = np.full((len(sweeps[0].q), len(joints)), np.nan), sweeps[0].values
        for i, q in enumerate(sweeps[0].q):
            with suppress(SingularClusterError), np.errstate(divide="ignore"):  # the end of a range can be singular
                G = coupling_jacobian(model, data, q)
                drive = sum(abs(float(m.row @ G[:, columns[0]])) * x for m, x in zip(motors, limits, strict=True))
                along[i] = drive / np.abs(G[[c.iv for c in joints], columns[0]])
    return Torques(joints, motors, tuple(sets), along, values)


def stiffness(model: ClusterModel, cluster: Cluster, t: Torques, poses: np.ndarray) -> np.ndarray:
    """Return each joint's stiffness, (..., joints), with the other joints fixed and motors of unit stiffness."""
    data, stiffnesses = model.createData(), np.full((*poses.shape[:-1], len(t.joints)), np.nan)
    columns = [c.column for c in coordinates(model, cluster.independent)]
    for pose in np.argwhere(np.isfinite(poses[..., 0])).tolist():
        with suppress(SingularClusterError):
            matrix = _matrix(coupling_jacobian(model, data, poses[tuple(pose)]), columns, t.joints, t.motors)
            stiffnesses[tuple(pose)] = np.nan if matrix is None else np.square(matrix).sum(axis=1)
    return stiffnesses


def distinct(t: Torques) -> list[TorqueSet]:
    sets: list[TorqueSet] = []
    for s in t.sets:
        scale = np.abs(s.matrix).max()
        if not any(np.allclose(s.matrix, x.matrix, rtol=0.0, atol=1e-4 * scale) for x in sets):
            sets.append(s)
    return sets


def outputs(model: ClusterModel, cluster: Cluster, motors: tuple[Motor, ...]) -> tuple[Coordinate, ...]:
    """Return a cluster's output joints: all joints except rotors if the cluster has one degree of freedom.

    With several degrees of freedom, the outputs are the dependent joints except rotors, if these are as many as the
    independent joints and the motors drive only independent joints. Otherwise, they are the independent joints.
    """
    joints = coordinates(model, cluster.joints)
    free = [c for c in joints if c.column >= 0]
    if len(free) != sum(model.own_tree.nvs[model.getJointId(name)] for name in cluster.independent):
        return ()
    if len(free) == 1:
        return tuple(c for c in joints if not c.rotor)
    links = tuple(c for c in joints if c.column < 0 and not c.rotor)
    independent = {c.iv for c in free}
    driven = all(set(np.flatnonzero(m.row)) <= independent for m in motors)
    return links if driven and len(links) == len(free) else tuple(free)


def _inside(s: Sweep, k: int) -> np.ndarray:
    """Return the configuration at an end of a sweep or, if this end is singular, at the adjacent sample."""
    if k in (0, -1) and not s.turns:
        end = s.low if k == 0 else s.high
        k = k if end.kind in ("limit", "none") else 1 if k == 0 else -2
    return np.asarray(s.q[k])


def _matrix(
    G: np.ndarray, columns: list[int], joints: tuple[Coordinate, ...], motors: tuple[Motor, ...]
) -> np.ndarray | None:
    """Return the matrix that maps motor to joint torques; None if joint velocities are linearly dependent."""
    B = np.array([m.row @ G[:, columns] for m in motors]).T
    D = G[np.ix_([c.iv for c in joints], columns)]
    if len(columns) == 1:
        with np.errstate(divide="ignore", invalid="ignore"):
            matrix = B / D  # each joint alone carries the entire torque
        return matrix if np.isfinite(matrix).all() else None
    return np.linalg.solve(D.T, B) if np.linalg.cond(D) < _SINGULAR else None


def _corners(scaled: np.ndarray) -> np.ndarray:
    """Return the corners of the set ``scaled @ [-1, 1]^motors``, in cyclic order for two joints."""
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
    except QhullError:  # the set is flat, because the motors do not drive the joints independently
        direction = np.linalg.svd(scaled)[0][:, 0]
        order = np.argsort(image @ direction)
        return np.asarray(image[order[[0, -1]]])
    return np.asarray(image[hull.vertices])


def _alone(scaled: np.ndarray, largest: np.ndarray) -> np.ndarray:
    """Compute, by linear programs, the largest torque of each joint with zero torque at the others."""
    from scipy.optimize import linprog

    n = len(scaled)
    if n == 1:
        return largest
    largest_alone = np.zeros(n)
    for i in range(n):
        others_scaled = np.delete(scaled, i, axis=0)
        solved = linprog(-scaled[i], A_eq=others_scaled, b_eq=np.zeros(n - 1), bounds=(-1.0, 1.0))
        largest_alone[i] = -float(solved.fun or 0.0) if solved.status == 0 else 0.0
    return largest_alone
