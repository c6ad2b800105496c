"""Nodes of the scene: a path, a mesh, and where it is at a configuration."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from ..model import axis_to_z
from .meshes import Mesh

_THIN = 1e-6
"""Least length of something that is stretched: a scale of 0 has no inverse."""


@dataclass(frozen=True, eq=False)
class State:
    """Where a robot is.

    Attributes:
        poses: Of each joint in the world, as ``data.oMi``.
        angles: Of each rotor, [rad], not wrapped.
        residuals: Of each entry of ``model.closures``, as a part of its scale.
    """

    poses: list[pin.SE3]
    angles: np.ndarray
    residuals: np.ndarray


@dataclass(frozen=True, eq=False)
class Node:
    """Something in the scene that never moves, relative to the node above it.

    Attributes:
        path: Below the root of the robot.
        mesh: None if it only holds other nodes.
        opacity: 0 to 1.
        closure: Entry of ``model.closures`` whose residual gives its colour; None if its mesh does.
    """

    path: str
    mesh: Mesh | None
    opacity: float = field(default=1.0, kw_only=True)
    closure: int | None = field(default=None, kw_only=True)

    def pose(self, state: State) -> tuple[pin.SE3, np.ndarray | None]:
        """Return its pose in the node above it, and its scale, shape (3,), if that is not 1."""
        return pin.SE3.Identity(), None


@dataclass(frozen=True, eq=False)
class Rigid(Node):
    """Fixed in a body.

    Attributes:
        body: Joint id.
        placement: In the frame of that joint.
    """

    body: int
    placement: pin.SE3 = field(default_factory=pin.SE3.Identity)

    def pose(self, state: State) -> tuple[pin.SE3, np.ndarray | None]:
        """Return its pose in the world."""
        return state.poses[self.body] * self.placement, None


@dataclass(frozen=True, eq=False)
class Spin(Node):
    """What turns with a rotor; the node above it stays with the carrier.

    Attributes:
        rotor: Entry of ``model.rotors``.
        axis: Unit axis, shape (3,).
    """

    rotor: int
    axis: np.ndarray

    def pose(self, state: State) -> tuple[pin.SE3, np.ndarray | None]:
        """Return its rotation in the node above it."""
        return pin.SE3(pin.exp3(float(state.angles[self.rotor]) * self.axis), np.zeros(3)), None


@dataclass(frozen=True, eq=False)
class Between(Node):
    """Stretched from a point to another; its mesh goes along z from 0 to 1.

    Attributes:
        body_a: Joint id.
        point_a: In its frame, shape (3,).
        body_b: Joint id.
        point_b: In its frame, shape (3,).
    """

    body_a: int
    point_a: np.ndarray
    body_b: int
    point_b: np.ndarray

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
