"""Slender rods between two points of the expanded tree: three point masses, which is Simpson's rule.

The velocity of a rod is linear along it, so its kinetic energy is the integral of a square, for which Simpson's rule is
exact: m/6 at each end and 2 m/3 in the middle, moving with the mean of the ends.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from ..constraints.closures import RodClosure
from ..model import ClusterModel, SpanningTree
from ..null_space import point_jacobian

_SIMPSON = ((1.0 / 6.0, 1.0), (4.0 / 6.0, 0.5), (1.0 / 6.0, 0.0))  # share of the mass, weight of end a


class Rods:
    """The rods of a model that have mass.

    Attributes:
        closures: What says where their ends are.
    """

    def __init__(self, model: ClusterModel, span: SpanningTree) -> None:
        self.closures = [c for c in model.closures if isinstance(c, RodClosure) and c.mass > 0.0]
        self.tree, self.data = span.tree, span.tree.createData()
        self.gravity = np.array(model.gravity.linear)
        ends = [((c.joint_a, c.point_a), (c.joint_b, c.point_b)) for c in self.closures]
        self.ends = [[(int(span.from_tree_id[j]), np.asarray(x, dtype=float)) for j, x in pair] for pair in ends]

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Return their share in the mass matrix of the expanded tree, shape (tree.nv, tree.nv)."""
        pin.computeJointJacobians(self.tree, self.data, q)
        M = np.zeros((self.tree.nv, self.tree.nv))
        for rod, (a, b) in zip(self.closures, self.ends, strict=True):
            Ja, Jb = self.jacobian(*a), self.jacobian(*b)
            for share, weight in _SIMPSON:
                J = weight * Ja + (1.0 - weight) * Jb
                M += share * rod.mass * J.T @ J
        return M

    def torque(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return the torques on the expanded tree that move them, gravity included, shape (tree.nv,)."""
        pin.computeJointJacobians(self.tree, self.data, q)
        jacobians = [[self.jacobian(*end) for end in ends] for ends in self.ends]
        pin.forwardKinematics(self.tree, self.data, q, v, a)
        tau = np.zeros(self.tree.nv)
        for rod, (Ja, Jb), (a_end, b_end) in zip(self.closures, jacobians, self.ends, strict=True):
            at_a, at_b = self.acceleration(*a_end), self.acceleration(*b_end)
            for share, weight in _SIMPSON:
                force = share * rod.mass * (weight * at_a + (1.0 - weight) * at_b - self.gravity)
                tau += (weight * Ja + (1.0 - weight) * Jb).T @ force
        return tau

    def potential_energy(self, q: np.ndarray) -> float:
        """Return -m g' c over the rods, at the expanded tree's q, [J]."""
        pin.forwardKinematics(self.tree, self.data, q)
        middles = [0.5 * sum(self.data.oMi[j].act(x) for j, x in ends) for ends in self.ends]
        return float(-sum(rod.mass * self.gravity @ m for rod, m in zip(self.closures, middles, strict=True)))

    def jacobian(self, j: int, point: np.ndarray) -> np.ndarray:
        """Return the Jacobian of a point of a body, after ``pin.computeJointJacobians``, world axes, (3, tree.nv)."""
        return point_jacobian(self.tree, self.data, j, point)

    def acceleration(self, j: int, point: np.ndarray) -> np.ndarray:
        """Return the acceleration of a point of a body, after ``pin.forwardKinematics``, world axes, (3,)."""
        v, a = self.data.v[j], self.data.a[j]
        spin = pin.skew(v.angular)  # np.cross takes ten times as long
        local = a.linear + pin.skew(a.angular) @ point + spin @ (v.linear + spin @ point)
        return self.data.oMi[j].rotation @ local
