"""Defines the nodes of the scene; a node has a path, a mesh, and a pose that depends on the configuration."""

from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from ..model import axis_to_z
from .meshes import Mesh

_THIN = 1e-6
"""Minimum length of a stretched mesh, because a scale of 0 has no inverse."""


@dataclass(frozen=True, eq=False)
class State:
    """The quantities that determine the poses and colours of all nodes of a robot."""

    poses: list[pin.SE3]  # pose of each joint in the world frame, as in ``data.oMi``
    angles: np.ndarray  # angle of each rotor, shape (rotors,), [rad], not wrapped
    residuals: np.ndarray  # residual of each closure as a fraction of its scale, shape (closures,)


@dataclass(frozen=True, eq=False)
class Node:
    """A node that does not move relative to its parent node."""

    path: str  # path relative to the root node of the robot
    mesh: Mesh | None  # None for a node that only groups its children
    opacity: float = field(default=1.0, kw_only=True)  # from 0 (invisible) to 1
    closure: int | None = field(default=None, kw_only=True)  # index of the closure whose residual sets its colour

    def pose(self, state: State) -> tuple[pin.SE3, np.ndarray | None]:
        """Return the pose relative to the parent node, and the scale, shape (3,), or None if there is no scaling."""
        return pin.SE3.Identity(), None


@dataclass(frozen=True, eq=False)
class Rigid(Node):
    """A node that is fixed to a body."""

    body: int  # joint id
    placement: pin.SE3 = field(default_factory=pin.SE3.Identity)  # placement in the frame of this joint

    def pose(self, state: State) -> tuple[pin.SE3, np.ndarray | None]:
        return state.poses[self.body] * self.placement, None


@dataclass(frozen=True, eq=False)
class Spin(Node):
    """A node that turns with a rotor; its parent node is fixed to the rotor's carrier."""

    rotor: int  # index in ``model.rotors``
    axis: np.ndarray  # unit axis, shape (3,)

    def pose(self, state: State) -> tuple[pin.SE3, np.ndarray | None]:
        return pin.SE3(pin.exp3(float(state.angles[self.rotor]) * self.axis), np.zeros(3)), None


@dataclass(frozen=True, eq=False)
class Between(Node):
    """A node that is stretched between two points; its unscaled mesh extends along z from 0 to 1."""

    body_a: int  # joint id
    point_a: np.ndarray  # in the frame of joint a, shape (3,), [m]
    body_b: int  # joint id
    point_b: np.ndarray  # in the frame of joint b, shape (3,), [m]

    def pose(self, state: State) -> tuple[pin.SE3, np.ndarray | None]:
        a, b = state.poses[self.body_a].act(self.point_a), state.poses[self.body_b].act(self.point_b)
        return stretched(a, b - a)


def stretched(start: np.ndarray, vector: np.ndarray) -> tuple[pin.SE3, np.ndarray]:
    """Return the pose and scale that map a mesh between z = 0 and z = 1 to the segment ``start + [0, 1] * vector``."""
    length = float(np.linalg.norm(vector))
    rotation = axis_to_z(vector / length) if length > _THIN else np.eye(3)
    return pin.SE3(rotation, np.array(start)), np.array([1.0, 1.0, max(length, _THIN)])


def matrix(pose: pin.SE3, scale: np.ndarray | None) -> np.ndarray:
    transform = pose.homogeneous.copy()
    if scale is not None:
        transform[:3, :3] *= scale
    return transform
