"""Describe the value, the limits and the unit of joints with one degree of freedom."""

import math
from dataclasses import dataclass

import numpy as np

from ..._support.trees import coordinate, slides
from ...model import Cluster, ClusterModel

UNLIMITED = 1e3  # Position limits beyond this value count as no limit, [rad] or [m]


@dataclass(frozen=True)
class Coordinate:
    """A joint with one degree of freedom."""

    name: str  # name of the joint
    joint: int  # id of the joint in the tree
    iv: int  # index of the joint in the tree velocity
    column: int  # index of the joint in the independent velocity v; -1 if it is dependent
    slides: bool  # whether the joint is prismatic
    low: float  # lower limit, [rad] or [m]; -inf if there is none
    high: float  # upper limit, [rad] or [m]; inf if there is none
    rotor: bool  # whether the joint is a rotor's joint

    @property
    def unit(self) -> str:
        return "m" if self.slides else "rad"

    @property
    def torque_unit(self) -> str:
        return "N" if self.slides else "N m"

    def value(self, model: ClusterModel, q: np.ndarray) -> float:
        return coordinate(model.own_tree, self.joint, q)

    def values(self, model: ClusterModel, q: np.ndarray) -> np.ndarray:
        """Return the joint's value in each configuration, shape (N,); values of continuous joints are unwrapped."""
        values = np.array([self.value(model, row) for row in q])
        return np.unwrap(values) if model.own_tree.nqs[self.joint] == 2 else values


def coordinates(model: ClusterModel, names: tuple[str, ...]) -> tuple[Coordinate, ...]:
    """Return the one-dof joints among ``names``; limits with low >= high are ignored."""
    tree, joints = model.own_tree, []
    rotors = {r.joint_id for r in model.rotors}
    for name in names:
        j = tree.getJointId(name)
        if tree.nvs[j] != 1:
            continue
        low, high = -math.inf, math.inf
        if tree.nqs[j] == 1:
            i = tree.idx_qs[j]
            limits = float(tree.lowerPositionLimit[i]), float(tree.upperPositionLimit[i])
            if limits[0] < limits[1]:
                low, high = (x if abs(x) < UNLIMITED else math.copysign(math.inf, x) for x in limits)
        free = name in model.independent_joints
        column = model.joint_idx_v(name) if free else -1
        joints.append(Coordinate(name, j, int(tree.idx_vs[j]), column, slides(tree, j), low, high, j in rotors))
    return tuple(joints)


def has_loops(model: ClusterModel, cluster: Cluster) -> bool:
    sources = {id(c.source) for c in model.closures}
    return any(id(c) in sources for c in cluster.constraints)
