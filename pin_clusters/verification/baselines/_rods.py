"""Rods between two points of the expanded tree: two point masses, of the same centre and moment of inertia.

The velocity of a rod is linear along it, so that nothing else of its mass counts.
"""

import numpy as np
import pinocchio as pin

from ...constraints.closures import massive
from ...model import ClusterModel, SpanningTree
from ..null_space import point_jacobian, rod_points


class Rods:
    """The rods of a model that have mass.

    Attributes:
        closures: What says where their ends are.
    """

    def __init__(self, model: ClusterModel, span: SpanningTree) -> None:
        self.closures = massive(model.closures)
        self.tree, self.data = span.tree, span.tree.createData()
        self.gravity = np.array(model.gravity.linear)
        self.ends = [
            [(int(span.from_tree_id[j]), np.asarray(x, dtype=float)) for j, x in c.ends] for c in self.closures
        ]

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Return their share in the mass matrix of the expanded tree, shape (tree.nv, tree.nv)."""
        pin.computeJointJacobians(self.tree, self.data, q)
        M = np.zeros((self.tree.nv, self.tree.nv))
        for rod, (a, b) in zip(self.closures, self.ends, strict=True):
            Ja, Jb = self.jacobian(*a), self.jacobian(*b)
            for mass, weight in rod_points(rod):
                J = weight * Ja + (1.0 - weight) * Jb
                M += mass * J.T @ J
        return M

    def torque(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return the torques on the expanded tree that move them, gravity included, shape (tree.nv,)."""
        pin.computeJointJacobians(self.tree, self.data, q)
        jacobians = [[self.jacobian(*end) for end in ends] for ends in self.ends]
        pin.forwardKinematics(self.tree, self.data, q, v, a)
        tau = np.zeros(self.tree.nv)
        for rod, (Ja, Jb), (a_end, b_end) in zip(self.closures, jacobians, self.ends, strict=True):
            at_a, at_b = self.acceleration(*a_end), self.acceleration(*b_end)
            for mass, weight in rod_points(rod):
                force = mass * (weight * at_a + (1.0 - weight) * at_b - self.gravity)
                tau += (weight * Ja + (1.0 - weight) * Jb).T @ force
        return tau

    def potential_energy(self, q: np.ndarray) -> float:
        """Return -m g' c over the rods, at the expanded tree's q, [J]."""
        pin.forwardKinematics(self.tree, self.data, q)
        moment = np.zeros(3)
        for rod, ends in zip(self.closures, self.ends, strict=True):
            a, b = (self.data.oMi[j].act(x) for j, x in ends)
            moment += sum(mass * (weight * a + (1.0 - weight) * b) for mass, weight in rod_points(rod))
        return -float(self.gravity @ moment)

    def jacobian(self, j: int, point: np.ndarray) -> np.ndarray:
        """Return the Jacobian of a point of a body, after ``pin.computeJointJacobians``, world axes, (3, tree.nv)."""
        return point_jacobian(self.tree, self.data, j, point)

    def acceleration(self, j: int, point: np.ndarray) -> np.ndarray:
        """Return the acceleration of a point of a body, after ``pin.forwardKinematics``, world axes, (3,)."""
        frame = j, pin.SE3(np.eye(3), point), pin.LOCAL_WORLD_ALIGNED
        return pin.getFrameClassicalAcceleration(self.tree, self.data, *frame).linear
