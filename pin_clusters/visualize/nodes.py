"""Nodes of the scene: a path, a mesh, and where it is at a configuration."""

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from ..model import axis_to_z
from .meshes import Mesh

_THIN = 1e-6
"""Least length of something that is stretched: a scale of 0 has no inverse."""


@dataclass(frozen=True, eq=False)
class State:
    """Where a robot is."""

    poses: list[pin.SE3]  # of each joint in the world, as ``data.oMi``
    angles: np.ndarray  # of each rotor, [rad], not wrapped
    residuals: np.ndarray  # of each entry of ``model.closures``, as a part of its scale


@dataclass(frozen=True, eq=False)
class Node:
    """Something in the scene that never moves, relative to the node above it."""

    path: str  # below the root of the robot
    mesh: Mesh | None  # None if it only holds other nodes
    opacity: float = field(default=1.0, kw_only=True)  # 0 to 1
    closure: int | None = field(default=None, kw_only=True)  # the closure whose residual gives its colour, not its mesh

    def pose(self, state: State) -> tuple[pin.SE3, np.ndarray | None]:
        """Return its pose in the node above it, and its scale, shape (3,), if that is not 1."""
        return pin.SE3.Identity(), None


@dataclass(frozen=True, eq=False)
class Rigid(Node):
    """Fixed in a body."""

    body: int  # joint id
    placement: pin.SE3 = field(default_factory=pin.SE3.Identity)  # in the frame of that joint

    def pose(self, state: State) -> tuple[pin.SE3, np.ndarray | None]:
        """Return its pose in the world."""
        return state.poses[self.body] * self.placement, None


@dataclass(frozen=True, eq=False)
class Spin(Node):
    """What turns with a rotor; the node above it stays with the carrier."""

    rotor: int  # entry of ``model.rotors``
    axis: np.ndarray  # unit axis, shape (3,)

    def pose(self, state: State) -> tuple[pin.SE3, np.ndarray | None]:
        """Return its rotation in the node above it."""
        return pin.SE3(pin.exp3(float(state.angles[self.rotor]) * self.axis), np.zeros(3)), None


@dataclass(frozen=True, eq=False)
class Between(Node):
    """Stretched from a point to another; its mesh goes along z from 0 to 1."""

    body_a: int  # joint id
    point_a: np.ndarray  # in its frame, shape (3,)
    body_b: int  # joint id
    point_b: np.ndarray  # in its frame, shape (3,)

    def pose(self, state: State) -> tuple[pin.SE3, np.ndarray | None]:
        """Return its pose in the world, and its length as the scale of z."""
        a, b = state.poses[self.body_a].act(self.point_a), state.poses[self.body_b].act(self.point_b)
        return stretched(a, b - a)


def stretched(start: np.ndarray, way: np.ndarray) -> tuple[pin.SE3, np.ndarray]:
    """Return pose and scale of what goes along z from 0 to 1, put on the way from a point."""
    length = float(np.linalg.norm(way))
    rotation = axis_to_z(way / length) if length > _THIN else np.eye(3)
    return pin.SE3(rotation, np.array(start)), np.array([1.0, 1.0, max(length, _THIN)])


def matrix(pose: pin.SE3, scale: np.ndarray | None) -> np.ndarray:
    """Return pose and scale as one matrix, shape (4, 4)."""
    found = pose.homogeneous.copy()
    if scale is not None:
        found[:3, :3] *= scale
    return found
