"""The joints of one degree of freedom as a designer sees them: value, limits, unit; and which of them turn together."""

import math
from dataclasses import dataclass

import numpy as np

from ..._support.trees import coordinate, slides
from ...model import Cluster, ClusterModel

UNLIMITED = 1e3
"""Limits beyond this are none, [rad] or [m]."""


@dataclass(frozen=True)
class Coordinate:
    """A joint of one degree of freedom.

    Attributes:
        name: Of the joint.
        joint: Its id in the tree.
        iv: Its index in the tree's v.
        column: Its index in v; -1 if it is dependent.
        slides: Whether it is prismatic.
        low: Lower limit, -inf if it has none, [rad] or [m].
        high: Upper limit, inf if it has none.
        rotor: Whether it carries a rotor.
    """

    name: str
    joint: int
    iv: int
    column: int
    slides: bool
    low: float
    high: float
    rotor: bool

    @property
    def unit(self) -> str:
        """Of its value."""
        return "m" if self.slides else "rad"

    @property
    def torque_unit(self) -> str:
        """Of its torque."""
        return "N" if self.slides else "N m"

    def value(self, model: ClusterModel, q: np.ndarray) -> float:
        """Return where it is in a configuration."""
        return coordinate(model.own_tree, self.joint, q)

    def values(self, model: ClusterModel, q: np.ndarray) -> np.ndarray:
        """Return where it is along configurations that follow each other, shape (N,); a continuous one is unwrapped."""
        found = np.array([self.value(model, row) for row in q])
        return np.unwrap(found) if model.own_tree.nqs[self.joint] == 2 else found


def coordinates(model: ClusterModel, names: tuple[str, ...]) -> tuple[Coordinate, ...]:
    """Return those of some joints that have one degree of freedom; a limit below or at the other one is none."""
    tree, found = model.own_tree, []
    rotors = {r.joint_id for r in model.rotors}
    for name in names:
        j = tree.getJointId(name)
        if tree.nvs[j] != 1:
            continue
        low, high = -math.inf, math.inf
        if tree.nqs[j] == 1:
            i = tree.idx_qs[j]
            given = float(tree.lowerPositionLimit[i]), float(tree.upperPositionLimit[i])
            if given[0] < given[1]:
                low, high = (x if abs(x) < UNLIMITED else math.copysign(math.inf, x) for x in given)
        free = name in model.independent_joints
        column = model.joint_idx_v(name) if free else -1
        found.append(Coordinate(name, j, int(tree.idx_vs[j]), column, slides(tree, j), low, high, j in rotors))
    return tuple(found)


def has_loops(model: ClusterModel, cluster: Cluster) -> bool:
    """Whether the joints of a cluster are tied by equations that depend on the pose."""
    sources = {id(c.source) for c in model.closures}
    return any(id(c) in sources for c in cluster.constraints)
