"""Rods with mass: what no body of the tree carries.

The velocity of a rod is linear along it, so that three point masses move as it does: one at each end, which the bodies
of the ends carry (``model.inertia_tree``), and one in the middle, which moves like the mean of the ends. An end on the
universe is carried by no body, so it is listed here too.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ...constraints.closures import lumps_of
from ...model import ClusterData, ClusterModel


@dataclass(frozen=True, eq=False)
class Lump:
    """A point mass that moves like the mean of two points of bodies; all results are in the world."""

    mass: float  # [kg]
    ends: tuple[tuple[int, np.ndarray], ...]  # (joint id, point in the joint frame)
    inside: frozenset[int]  # joint ids whose subtrees hold all of it, the universe included

    def mean(self, quantity: Callable[[pin.Data, int, np.ndarray], np.ndarray], data: pin.Data) -> np.ndarray:
        """Return its ``position``, ``velocity`` or ``acceleration``, gravity not included."""
        return np.asarray(sum(0.5 * quantity(data, j, p) for j, p in self.ends))


def lumps(model: ClusterModel) -> list[Lump]:
    """Return the masses that no body of ``model.inertia_tree`` has."""
    found, above = lumps_of(model.own_tree, model.closures), model.own_tree.supports
    return [Lump(mass, ends, frozenset(above[carrier])) for mass, ends, carrier in found]


def position(data: pin.Data, j: int, point: np.ndarray) -> np.ndarray:
    """Return a point of a body in the world; after ``pin.forwardKinematics``, as the next two."""
    return data.oMi[j].act(point)


def velocity(data: pin.Data, j: int, point: np.ndarray) -> np.ndarray:
    """Return its velocity, in axes of the world."""
    if not j:
        return np.zeros(3)
    v = data.v[j]
    return data.oMi[j].rotation @ (v.linear + np.cross(v.angular, point))


def acceleration(data: pin.Data, j: int, point: np.ndarray) -> np.ndarray:
    """Return its acceleration, in axes of the world."""
    if not j:
        return np.zeros(3)
    v, a = data.v[j], data.a[j]
    speed = v.linear + np.cross(v.angular, point)
    own = a.linear + np.cross(a.angular, point) + np.cross(v.angular, speed)
    return data.oMi[j].rotation @ own


def add_to_centers(model: ClusterModel, data: ClusterData, level: int, subtrees: bool) -> None:
    """Add the masses of rods to the centres of mass that Pinocchio found, those of subtrees in joint frames.

    ``level`` 1: positions; 2: velocities too; 3: accelerations too. ``subtrees``: the entries of the joints are filled.
    """
    tree = data.tree
    for p in lumps(model):
        x = p.mean(position, tree)
        dx, ddx = p.mean(velocity, tree) if level > 1 else None, p.mean(acceleration, tree) if level > 2 else None
        for j in p.inside if subtrees else (0,):
            before, tree.mass[j] = tree.mass[j], tree.mass[j] + p.mass
            M = tree.oMi[j] if j else pin.SE3.Identity()
            own = (M.actInv(x), None if dx is None else M.rotation.T @ dx, None if ddx is None else M.rotation.T @ ddx)
            for results, here in zip((tree.com, tree.vcom, tree.acom), own, strict=True):
                if here is not None:
                    results[j] = (before * results[j] + p.mass * here) / tree.mass[j]
