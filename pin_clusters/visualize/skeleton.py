"""Finds the points at which joints, rods and loops are attached to bodies, and the scale of the drawing."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from .._support.trees import joint_axis, slides
from ..constraints import Differential
from ..constraints.closures import BodyClosure, JointClosure
from ..model import ClusterModel


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Attachment points of a robot's bodies, and the size of the robot."""

    model: ClusterModel  # the robot
    rotor_joints: frozenset[int]  # ids of joints that are drawn as rotors
    # For each body, by joint id: points at which other bodies, rods and loops are attached, in the joint frame, [m].
    points: tuple[tuple[np.ndarray, ...], ...]
    levels: tuple[int, ...]  # number of clusters between each joint and the base; -1 for a floating base
    unit: float  # typical length of a link, [m]
    poses: list[pin.SE3]  # pose of each joint in the world at the reference pose
    lower: np.ndarray  # lower corner of the bounding box at the reference pose, shape (3,), [m]
    upper: np.ndarray  # upper corner, shape (3,), [m]

    @property
    def size(self) -> float:
        return float(np.linalg.norm(self.upper - self.lower))


def skeleton_of(model: ClusterModel) -> Skeleton:
    tree = model.tree
    rotors = frozenset(r.joint_id for r in model.rotors if r.joint_id is not None)
    points: list[list[np.ndarray]] = [[] for _ in range(tree.njoints)]
    for j in range(1, tree.njoints):
        virtual = "JointModelP" in tree.joints[j].shortname() and not tree.inertias[j].mass > 0.0
        if j not in rotors and not virtual:
            points[tree.parents[j]].append(np.array(tree.jointPlacements[j].translation))
    for c in model.closures:
        for body, point in (*ends_of(c), *(end for rod in rods_of(model, c) for end in rod)):
            points[body].append(np.array(point))
    poses = world(tree, tree.createData(), model.q_reference)
    lengths = [np.linalg.norm(p) for j in range(1, tree.njoints) for p in points[j]]
    lengths += [2.0 * np.linalg.norm(tree.inertias[j].lever) for j in range(1, tree.njoints) if not points[j]]
    lower, upper = _extent(tree, points, poses)
    lengths = [x for x in lengths if x > 0.02 * np.linalg.norm(upper - lower)]
    unit = float(np.sqrt(np.mean(np.square(lengths)))) if lengths else 0.3
    if not np.any(upper > lower):  # The robot may have a single body.
        lower, upper = lower - unit, upper + unit
    return Skeleton(model, rotors, tuple(map(tuple, points)), _levels(model), unit, poses, lower, upper)


def ends_of(closure: Any) -> tuple[tuple[int, np.ndarray], ...]:
    """Return the body and the point at each end of a rod or a loop; return an empty tuple for other closures."""
    ends = closure.ends if isinstance(closure, BodyClosure) else ()
    return tuple((j, x.translation if isinstance(x, pin.SE3) else x) for j, x in ends)


def rods_of(model: ClusterModel, closure: Any) -> list[Any]:
    source = closure.source
    return source.rods(model.tree) if isinstance(closure, JointClosure) and isinstance(source, Differential) else []


def facing(skeleton: Skeleton) -> np.ndarray | None:
    """Return the viewing direction of a planar robot, which is parallel to its joint axes; None for other robots.

    If the plane is vertical, x (or y in the yz plane) points right in the view; a horizontal robot is seen from above.
    """
    tree = skeleton.model.tree
    axes = []
    for j in range(1, tree.njoints):
        if j in skeleton.rotor_joints:
            continue
        axis = joint_axis(tree.joints[j])
        if axis is None or slides(tree, j):
            return None
        axes.append(skeleton.poses[j].rotation @ axis)
    if not axes or any(abs(a @ axes[0]) < 0.99 for a in axes):
        return None
    axis = axes[0]
    ahead = axis[2] if abs(axis[2]) > 0.9 else axis[0] - axis[1]
    return axis if ahead > 0.0 else -axis


def world(tree: pin.Model, data: pin.Data, q: np.ndarray) -> list[pin.SE3]:
    pin.forwardKinematics(tree, data, q)
    return [pin.SE3(M) for M in data.oMi]


def _levels(model: ClusterModel) -> tuple[int, ...]:
    tree = model.tree
    cluster = {name: i for i, c in enumerate(model.clusters) for name in c.joints}
    levels = [-1] * tree.njoints
    for j in range(1, tree.njoints):
        parent = tree.parents[j]
        same_cluster = parent and cluster[tree.names[j]] == cluster[tree.names[parent]]
        floats = parent == 0 and tree.joints[j].nv > 1
        levels[j] = -1 if floats else levels[parent] + (0 if same_cluster else 1)
    return tuple(levels)


def _extent(tree: pin.Model, points: list[list[np.ndarray]], poses: list[pin.SE3]) -> tuple[np.ndarray, np.ndarray]:
    cloud_points = []
    for j, (M, body) in enumerate(zip(poses, tree.inertias, strict=True)):
        points_of_body = [np.zeros(3), *points[j]] if j else list(points[j])
        if body.mass > 0.0:
            points_of_body.append(np.array(body.lever) * (1.0 if points[j] else 2.0))
        cloud_points += [M.act(p) for p in points_of_body]
    cloud = np.array(cloud_points or [np.zeros(3)])
    return cloud.min(axis=0), cloud.max(axis=0)
