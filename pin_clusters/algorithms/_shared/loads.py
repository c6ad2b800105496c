"""What the bodies of the tree need to move as they do: with rotors and rods that are no bodies."""

import numpy as np
import pinocchio as pin

from ...constraints.closures import RodClosure, massive
from ...model import ClusterModel, joint_forces
from .rods import acceleration, position


class Loads:
    """A tree in motion, and wrenches on its bodies from outside.

    Attributes:
        outer: Wrenches on the bodies from outside the tree: the user's, and the reactions of rotors and of the middles
            of rods; shape (njoints, 6), [linear; angular] in joint frames.
        spin: Torque about the axis of each rotor that is no body, by its place in ``model.rotors``, [N m].
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
            # the middle moves like the mean of the ends, so its force goes to both by halves
            mean = 0.5 * sum(acceleration(data, *end) for end in rod.ends)
            force = -0.5 * rod.point_masses[1] * (mean - self.gravity)
            for j, p in rod.ends:
                if j:
                    own = data.oMi[j].rotation.T @ force
                    self.outer[j] += np.concatenate([own, np.cross(p, own)])

    def torque(self, more: np.ndarray | None = None) -> np.ndarray:
        """Return the torques that the joints of the tree need, shape (tree.nv,); their wrenches are in ``data.f``.

        Those that spin up rotors are included, and armature. ``more`` are further wrenches on the bodies.
        """
        forces = joint_forces(self.tree, range(self.tree.njoints), self.outer if more is None else self.outer + more)
        return pin.rnea(self.tree, self.data, *self.motion, forces) + self.reflected

    def at_ends(self, rod: RodClosure) -> tuple[np.ndarray, np.ndarray]:
        """Return the forces that move and bear the mass of a rod at its ends, in the world: by its consistent mass."""
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
    """Return the unit vector from end a of a rod to end b, in the world."""
    a, b = (position(data, *end) for end in rod.ends)
    return (b - a) / np.linalg.norm(b - a)
