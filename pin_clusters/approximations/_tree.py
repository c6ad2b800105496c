"""Pinocchio on the spanning tree with every rotor a body, and the rods, which no body of that tree carries."""

import numpy as np
import pinocchio as pin

from ..constraints.closures import massive
from ..model import ClusterModel, expand
from .armature import symmetric


class Tree:
    """The spanning tree of a robot, to be changed by whoever made it.

    The velocity of a rod is linear along it, so its kinetic energy is that of the masses at its ends and of the one in
    its middle, which moves with the mean of both.

    Attributes:
        span: The maps from the user's tree.
        tree: Pinocchio's model: depth-first, a joint for every rotor.
        data: Its data.
        rods: For both ends of each rod, mass, half the mass in the middle, joint id and place (a frame, not turned).
    """

    def __init__(self, model: ClusterModel) -> None:
        self.span = expand(model)
        self.tree = self.span.tree
        self.data = self.tree.createData()
        self.rods = [
            [(mass, 0.5 * c.point_masses[1], self._end(j, point)) for j, point, mass in c.masses_of_ends]
            for c in massive(model.closures)
        ]

    def torque(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return the torques of a motion, shape (tree.nv,): q of the user's tree, v and a of this one."""
        q = self.span.configuration(q)
        if not self.rods:
            return pin.rnea(self.tree, self.data, q, v, a)
        pin.forwardKinematics(self.tree, self.data, q, v, a)
        pin.computeJointJacobians(self.tree, self.data, q)
        tau = np.zeros(self.tree.nv)
        for rod in self.rods:
            felt = [
                pin.getFrameClassicalAcceleration(self.tree, self.data, *end, pin.LOCAL_WORLD_ALIGNED).linear
                - self.tree.gravity.linear
                for _, _, end in rod
            ]
            mean = 0.5 * (felt[0] + felt[1])
            for (mass, half, end), near in zip(rod, felt, strict=True):
                tau += self._jacobian(*end).T @ (mass * near + half * mean)
        return tau + pin.rnea(self.tree, self.data, q, v, a)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Return the mass matrix at a configuration of the user's tree, shape (tree.nv, tree.nv)."""
        q = self.span.configuration(q)
        M = symmetric(pin.crba(self.tree, self.data, q))
        if self.rods:
            pin.computeJointJacobians(self.tree, self.data, q)
        for (at_a, half, a), (at_b, _, b) in self.rods:
            A, B = self._jacobian(*a), self._jacobian(*b)
            M += at_a * A.T @ A + at_b * B.T @ B + 0.5 * half * (A + B).T @ (A + B)
        return M

    def _end(self, j: int, point: np.ndarray) -> tuple[int, pin.SE3]:
        return int(self.span.from_tree_id[j]), pin.SE3(np.eye(3), np.asarray(point, dtype=float))

    def _jacobian(self, j: int, place: pin.SE3) -> np.ndarray:
        """Return the Jacobian of an end in axes of the world, shape (3, tree.nv)."""
        J = pin.getFrameJacobian(self.tree, self.data, j, place, pin.LOCAL_WORLD_ALIGNED)
        return J[:3].reshape(3, -1)
