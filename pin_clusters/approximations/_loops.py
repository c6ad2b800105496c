"""Approximations of robots with closed loops: the tree's dynamics, projected with an approximate coupling Jacobian."""

from abc import abstractmethod

import numpy as np
import pinocchio as pin

from .._support.trees import in_q
from ..algorithms.dynamics.coupling import coupling_bias, coupling_jacobian
from ..constraints.closures import massive
from ..model import ClusterModel, RotorElement, expand, rotor_ids
from ._base import Approximation
from .armature import axial_inertia, symmetric


class Tree:
    """A copy of a robot's spanning tree in which every rotor is a body; approximations may change the copy.

    Each rod is replaced by masses at its two ends and its midpoint. These masses have the kinetic energy of the rod,
    because the velocity varies linearly along the rod. The midpoint has the mean velocity of the two ends.
    """

    def __init__(self, model: ClusterModel) -> None:
        self.span = expand(model)  # maps quantities from the user's tree to the expanded tree
        self.tree = self.span.tree  # depth-first, with a joint for every rotor
        self.data = self.tree.createData()
        # for each end of each rod: end mass, half the midpoint mass, and the joint id and the placement of the end
        self.rods = [
            [(mass, 0.5 * c.point_masses[1], self._end(j, point)) for j, point, mass in c.masses_of_ends]
            for c in massive(model.closures)
        ]

    def torque(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Compute the torques for a motion, shape (tree.nv,); q belongs to the user's tree, v and a to this tree."""
        q = self.span.configuration(q)
        if not self.rods:
            return pin.rnea(self.tree, self.data, q, v, a)
        pin.forwardKinematics(self.tree, self.data, q, v, a)
        pin.computeJointJacobians(self.tree, self.data, q)
        tau = np.zeros(self.tree.nv)
        for rod in self.rods:
            accelerations = [
                pin.getFrameClassicalAcceleration(self.tree, self.data, *end, pin.LOCAL_WORLD_ALIGNED).linear
                - self.tree.gravity.linear
                for _, _, end in rod
            ]
            mean = 0.5 * (accelerations[0] + accelerations[1])
            for (mass, half, end), acceleration in zip(rod, accelerations, strict=True):
                tau += self._jacobian(*end).T @ (mass * acceleration + half * mean)
        return tau + pin.rnea(self.tree, self.data, q, v, a)

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
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
        """Compute the translational Jacobian of a rod end in world axes, shape (3, tree.nv)."""
        J = pin.getFrameJacobian(self.tree, self.data, j, place, pin.LOCAL_WORLD_ALIGNED)
        return J[:3].reshape(3, -1)


class OnTree(Approximation):
    """Approximations ``tau = H' ID(q, v_tree, H a + bias)``; ID is the tree's inverse dynamics, H approximates G."""

    def _begin(self) -> None:
        super()._begin()
        self.on, self.data = Tree(self.model), self.model.createData()  # ``data`` is a workspace of the exact model
        # H maps the independent accelerations to accelerations of the tree.
        self.H = np.zeros((self.on.tree.nv, self.model.nv))

    @abstractmethod
    def _motion(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray | float]:
        """Return the velocity of the tree, and the acceleration of the tree for a = 0."""

    def _rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        v_tree, bias = self._motion(q, v)
        return self.H.T @ self.on.torque(q, v_tree, self.H @ a + bias)

    def _crba(self, q: np.ndarray) -> np.ndarray:
        return self.H.T @ (self.on.mass_matrix(q) @ self.H)

    def _coupling(self, q: np.ndarray) -> np.ndarray:
        """Return the exact coupling Jacobian of this tree, shape (tree.nv, nv)."""
        return self.on.span.from_tree @ coupling_jacobian(self.model, self.data, q)


class Unconstrained(OnTree):
    """The tree's equations of motion of the independent joints, at exact velocities and zero dependent accelerations.

    Example:
        >>> import pin_clusters as pc
        >>> pc.approximations.of(pc.load("four_bar"))["unconstrained"].label
        'unconstrained'
    """

    def _begin(self) -> None:
        super()._begin()
        self.H[self.on.span.from_tree_v[self.model.idx_v_independent], np.arange(self.model.nv)] = 1.0

    def _motion(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, float]:
        return self._coupling(q) @ v, 0.0


class Frozen(OnTree):
    """The approximation ``frozen``: at every pose, G is replaced by G0 of the reference pose, and the bias is zero.

    Example:
        >>> import pin_clusters as pc
        >>> pc.approximations.of(pc.load("four_bar"))["frozen"].label
        'frozen loops'
    """

    def _begin(self) -> None:
        super()._begin()
        self.H[:] = self._coupling(self.model.q_reference)

    def _motion(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, float]:
        return self.H @ v, 0.0


class Locked(OnTree):
    """The approximations ``no rotor`` and ``armature``: loops are exact, and rotors are fixed to carriers at angle 0.

    Example:
        >>> import pin_clusters as pc
        >>> pc.approximations.of(pc.load("tello"))["no rotor"].label
        'exact loops, no rotor'
    """

    def _begin(self) -> None:
        super()._begin()
        model, span, tree = self.model, self.on.span, self.on.tree
        ids = rotor_ids(model.rotors, span)
        self.rows = np.array([tree.joints[j].idx_v for j in ids])
        # The rotors must stay at angle 0, because the centre of mass of an unbalanced rotor moves if the rotor turns.
        self.q = np.array(pin.neutral(model.tree))
        self.moving = np.ones(model.nq, dtype=bool)
        for r in model.rotors:
            if r.joint_id is not None:
                self.moving[in_q(model.tree, r.joint_id)] = False
        self.armature = np.zeros(model.tree.nv)
        if self.name == "armature":
            for r in model.rotors:
                for iv, ratio in r.drivers:
                    self.armature[iv] += axial_inertia(model, r) * ratio**2
        if self.drop_rotors:
            for j, r in zip(ids, model.rotors, strict=True):
                _drop(tree, j, r, int(span.from_tree_id[r.carrier_id]))

        self.bias = np.zeros(tree.nv)

    def _rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        G = self._couple(q)
        g = coupling_bias(self.model, self.data, q, v)
        self.bias[:] = self.on.span.from_tree @ g
        self.bias[self.rows] = 0.0
        return super()._rnea(self.q, v, a) + G.T @ (self.armature * (G @ a + g))

    def _crba(self, q: np.ndarray) -> np.ndarray:
        G = self._couple(q)
        return super()._crba(self.q) + G.T @ (self.armature[:, None] * G)

    def _motion(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.H @ v, self.bias

    def _couple(self, q: np.ndarray) -> np.ndarray:
        """Update H, and ``self.q``, which is q with the rotors at angle 0; return G of the user's tree."""
        G = coupling_jacobian(self.model, self.data, q)
        np.dot(self.on.span.from_tree, G, out=self.H)
        self.H[self.rows] = 0.0
        self.q[self.moving] = q[self.moving]
        return G


def _drop(tree: pin.Model, rotor_id: int, rotor: RotorElement, carrier: int) -> None:
    """Remove the inertia of a rotor's body; if ``expand`` subtracted axial inertia from the carrier, add it again."""
    if rotor.joint_id is None and rotor.inertia is None and carrier:
        link = pin.Inertia(tree.inertias[carrier])
        link.inertia = link.inertia + rotor.axial_inertia * np.outer(rotor.axis, rotor.axis)
        tree.inertias[carrier] = link
    tree.inertias[rotor_id] = pin.Inertia.Zero()
