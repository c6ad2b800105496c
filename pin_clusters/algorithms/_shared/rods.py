"""Point masses that represent rods and are not included in the inertias of the bodies.

The velocity of a rod varies linearly along its length, so three point masses are dynamically equivalent to the rod. The
masses at the ends belong to the bodies at the ends (``model.inertia_tree``), but a mass at an end on the universe has
no body, so this module includes it. The position of the middle mass is the mean of the positions of the ends.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ...constraints.closures import lumps_of
from ...model import ClusterData, ClusterModel


@dataclass(frozen=True, eq=False)
class Lump:
    """A point mass at the mean position of two points on bodies; its motion is expressed in the world."""

    mass: float  # [kg]
    ends: tuple[tuple[int, np.ndarray], ...]  # (joint id, point in the joint frame, [m])
    inside: frozenset[int]  # ids of the joints (including the universe) whose subtrees contain both ends

    def mean(self, quantity: Callable[[pin.Data, int, np.ndarray], np.ndarray], data: pin.Data) -> np.ndarray:
        return np.asarray(sum(0.5 * quantity(data, j, p) for j, p in self.ends))


def lumps(model: ClusterModel) -> list[Lump]:
    masses, above = lumps_of(model.own_tree, model.closures), model.own_tree.supports
    return [Lump(mass, ends, frozenset(above[carrier])) for mass, ends, carrier in masses]


def position(data: pin.Data, j: int, point: np.ndarray) -> np.ndarray:
    """Compute the position of a point of a body in the world, [m], after ``pin.forwardKinematics``."""
    return data.oMi[j].act(point)


def velocity(data: pin.Data, j: int, point: np.ndarray) -> np.ndarray:
    """Compute the velocity of a point of a body, in world axes, [m/s], after ``pin.forwardKinematics``."""
    if not j:
        return np.zeros(3)
    v = data.v[j]
    return data.oMi[j].rotation @ (v.linear + np.cross(v.angular, point))


def acceleration(data: pin.Data, j: int, point: np.ndarray) -> np.ndarray:
    """Compute the acceleration of a point of a body, in world axes, [m/s^2], after ``pin.forwardKinematics``."""
    if not j:
        return np.zeros(3)
    v, a = data.v[j], data.a[j]
    speed = v.linear + np.cross(v.angular, point)
    local = a.linear + np.cross(a.angular, point) + np.cross(v.angular, speed)
    return data.oMi[j].rotation @ local


def add_to_centers(model: ClusterModel, data: ClusterData, level: int, subtrees: bool) -> None:
    """Add the masses of rods to Pinocchio's centres of mass; subtree centres are expressed in joint frames.

    ``level`` is 1 for positions, 2 to add velocities, 3 to add accelerations. If ``subtrees``, also update subtrees.
    """
    tree = data.tree
    for p in lumps(model):
        x = p.mean(position, tree)
        dx, ddx = p.mean(velocity, tree) if level > 1 else None, p.mean(acceleration, tree) if level > 2 else None
        for j in p.inside if subtrees else (0,):
            before, tree.mass[j] = tree.mass[j], tree.mass[j] + p.mass
            M = tree.oMi[j] if j else pin.SE3.Identity()
            moments = (
                M.actInv(x),
                None if dx is None else M.rotation.T @ dx,
                None if ddx is None else M.rotation.T @ ddx,
            )
            for results, value in zip((tree.com, tree.vcom, tree.acom), moments, strict=True):
                if value is not None:
                    results[j] = (before * results[j] + p.mass * value) / tree.mass[j]
