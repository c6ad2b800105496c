"""Compute the error terms caused by approximate loop-closure constraints, for the tree with locked rotors.

L is the tree with locked rotors: inverse dynamics ID_L, mass matrix M_L, velocity-dependent torques c_L. The exact
tree acceleration is G a + g. The approximate tree acceleration is H a, where H is G0 (G at the reference pose) or
selects the independent velocities. The exact tree velocity is v_e = G v, and the approximate one is v_r:

    G' ID_L(v_e, G a + g) - H' ID_L(v_r, H a)
        = (G - H)' ID_L(v_e, G a + g) + H' M_L (G - H) a + H' M_L g + H' (c_L(v_e) - c_L(v_r))
"""

import numpy as np
import pinocchio as pin

from ....model import ClusterModel
from ....verification.baselines import projection
from ._motion import apply, transposed
from ._rotors import Spin


class Locked:
    """The tree with its rotors locked at angle 0; ``rows`` contains the rotor indices in the tree velocity."""

    def __init__(self, model: ClusterModel, rows: np.ndarray) -> None:
        self.model = model
        self.space, self.still = projection.createData(model), projection.createData(model)
        # Gravity is zero because it would reduce the precision of the other terms.
        self.still.tree.gravity = pin.Motion.Zero()
        if self.still.rods is not None:
            self.still.rods.gravity[:] = 0.0
        self.angles = np.ones(model.nq, dtype=bool)
        for r in model.rotors:
            if r.joint_id is not None:
                joint = model.tree.joints[r.joint_id]
                self.angles[joint.idx_q : joint.idx_q + joint.nq] = False
        self.zero = np.zeros(self.space.tree.nv)
        self.moves = np.ones(len(self.zero), dtype=bool)
        self.moves[rows] = False

    def coupling(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Compute G, (N, tree.nv, nv), and g, (N, tree.nv), from the null space of the constraint Jacobian."""
        G, g = np.empty((len(q), *self.space.G.shape)), np.empty((len(q), len(self.zero)))
        for i in range(len(q)):
            self.space.couple(q[i], v[i])
            G[i], g[i] = self.space.G, self.space.g
        return G, g

    def terms(self, q: np.ndarray, exact: Spin, approximate: Spin) -> dict[str, np.ndarray]:
        n = len(q)
        v_exact, v_approximate = self._still(exact.motion.v), self._still(approximate.motion.v)
        driven, bias = self._still(exact.driven), self._still(exact.bias)
        missing = driven - self._still(approximate.driven)
        torque, acceleration, bias_torque, velocity = np.zeros((4, *v_exact.shape))
        same_velocity = approximate.motion is exact.motion
        q_locked = np.tile(pin.neutral(self.model.tree), (n, 1))
        q_locked[:, self.angles] = q[:, self.angles]
        for i in range(n):
            expanded_q = np.array(self.space.configuration(q_locked[i]))
            torque[i] = self.space.torque(expanded_q, v_exact[i], driven[i] + bias[i], None)
            acceleration[i] = self.still.torque(expanded_q, self.zero, missing[i], None)
            bias_torque[i] = self.still.torque(expanded_q, self.zero, bias[i], None)
            if not same_velocity:
                velocity[i] = self.still.torque(expanded_q, v_exact[i], self.zero, None)
                velocity[i] -= self.still.torque(expanded_q, v_approximate[i], self.zero, None)
        couplings = approximate.G, exact.G - approximate.G
        G_approximate, G_error = (np.where(self.moves[:, None], G, 0.0) for G in couplings)
        return {
            "dependents' torque": apply(transposed(G_error), torque),
            "dependents' acceleration": apply(transposed(G_approximate), acceleration),
            "coupling bias": apply(transposed(G_approximate), bias_torque),
            "dependents' velocity": apply(transposed(G_approximate), velocity),
        }

    def _still(self, x: np.ndarray) -> np.ndarray:
        return np.where(self.moves, x, 0.0)
