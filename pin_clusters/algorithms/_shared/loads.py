"""Wrenches and torques that cause a given motion of the tree, its lumped rotors and its rods with mass."""

import numpy as np
import pinocchio as pin

from ...constraints.closures import RodClosure, massive
from ...model import ClusterModel, joint_forces
from .rods import acceleration, position


class Loads:
    """Motion of a tree, and the external wrenches on its bodies.

    Attributes:
        outer: External wrenches from the user, plus the reactions of lumped rotors and of the middle masses of rods,
            shape (njoints, 6), [linear; angular] in joint frames, [N] and [N m].
        spin: Torque about the axis of each lumped rotor, by its index in ``model.rotors``, [N m].
    """

    def __init__(
        self,
        model: ClusterModel,
        data: pin.Data,
        q: np.ndarray,
        v_tree: np.ndarray,
        a_tree: np.ndarray,
        outer: np.ndarray,
    ) -> None:
        self.tree, self.data, self.motion = model.inertia_tree, data, (q, v_tree, a_tree)
        self.gravity = np.array(model.gravity.linear)
        self.outer = outer.copy()
        self.spin: dict[int, float] = {}
        self.reflected = np.zeros(len(v_tree))
        pin.forwardKinematics(self.tree, data, *self.motion)
        self._add_rotors(model, v_tree, a_tree)
        for rod in massive(model.closures):
            # The middle mass has the mean acceleration of both ends, so each end takes half of its inertial force.
            mean = 0.5 * sum(acceleration(data, *end) for end in rod.ends)
            force = -0.5 * rod.point_masses[1] * (mean - self.gravity)
            for j, p in rod.ends:
                if j:
                    local_force = data.oMi[j].rotation.T @ force
                    self.outer[j] += np.concatenate([local_force, np.cross(p, local_force)])

    def torque(self, further: np.ndarray | None = None) -> np.ndarray:
        """Compute the joint torques of the tree, including armature and rotors; ``further``: additional wrenches."""
        forces = joint_forces(
            self.tree, range(self.tree.njoints), self.outer if further is None else self.outer + further
        )
        return pin.rnea(self.tree, self.data, *self.motion, forces) + self.reflected

    def at_ends(self, rod: RodClosure) -> tuple[np.ndarray, np.ndarray]:
        """Compute the forces at the ends of a rod, in world axes, that accelerate and support the mass of the rod."""
        a, b = (acceleration(self.data, *end) for end in rod.ends)
        at_a, middle, at_b = rod.point_masses
        half = 0.5 * middle * (0.5 * (a + b) - self.gravity)
        return at_a * (a - self.gravity) + half, at_b * (b - self.gravity) + half

    def _add_rotors(self, model: ClusterModel, v_tree: np.ndarray, a_tree: np.ndarray) -> None:
        for k, r in enumerate(model.rotors):
            if r.source is None:
                continue
            speed, change = (sum(ratio * x[i] for i, ratio in r.drivers) for x in (v_tree, a_tree))
            omega, alpha = np.zeros(3), np.zeros(3)
            if r.carrier_id:
                omega, alpha = self.data.v[r.carrier_id].angular, self.data.a[r.carrier_id].angular
                self.outer[r.carrier_id, 3:] -= r.axial_inertia * (r.axis * change + np.cross(omega, r.axis) * speed)
            self.spin[k] = r.axial_inertia * (change + r.axis @ alpha)
            for i, ratio in r.drivers:
                self.reflected[i] += ratio * self.spin[k]


def pull(data: pin.Data, rod: RodClosure) -> np.ndarray:
    """Compute the unit vector from end a to end b of a rod, in world axes."""
    a, b = (position(data, *end) for end in rod.ends)
    return (b - a) / np.linalg.norm(b - a)
