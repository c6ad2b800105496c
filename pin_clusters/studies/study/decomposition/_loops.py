"""What approximate loops miss, term by term: the robot with locked rotors, exact and approximate coupling.

With L the tree whose rotors are locked (inverse dynamics ID_L, mass matrix M_L), G and g the exact coupling, and H the
coupling in its place (H = S, the rows of the independent velocities, or H = G0), at velocities v_e = G v and v_r:

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
    """The tree of a model with closed loops, its rotors locked into their carriers at angle 0.

    ``rows`` are the indices of the rotors' speeds in the velocity of the expanded tree.
    """

    def __init__(self, model: ClusterModel, rows: np.ndarray) -> None:
        self.model = model
        self.space, self.still = projection.createData(model), projection.createData(model)
        # without gravity: for what velocities and accelerations do, to full precision
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
        """Return G, shape (N, tree.nv, nv), and g, shape (N, tree.nv), of the expanded tree, by a null space."""
        G, g = np.empty((len(q), *self.space.G.shape)), np.empty((len(q), len(self.zero)))
        for i in range(len(q)):
            self.space.couple(q[i], v[i])
            G[i], g[i] = self.space.G, self.space.g
        return G, g

    def terms(self, q: np.ndarray, exact: Spin, rung: Spin) -> dict[str, np.ndarray]:
        """Return the terms above as independent torques, each of shape (N, nv)."""
        n = len(q)
        v_exact, v_rung = self._still(exact.motion.v), self._still(rung.motion.v)
        driven, bias = self._still(exact.driven), self._still(exact.bias)
        missing = driven - self._still(rung.driven)
        torque, acceleration, turning, velocity = np.zeros((4, *v_exact.shape))
        same = rung.motion is exact.motion
        q_locked = np.tile(pin.neutral(self.model.tree), (n, 1))
        q_locked[:, self.angles] = q[:, self.angles]
        for i in range(n):
            at = np.array(self.space.configuration(q_locked[i]))
            torque[i] = self.space.torque(at, v_exact[i], driven[i] + bias[i], None)
            acceleration[i] = self.still.torque(at, self.zero, missing[i], None)
            turning[i] = self.still.torque(at, self.zero, bias[i], None)
            if not same:
                velocity[i] = self.still.torque(at, v_exact[i], self.zero, None)
                velocity[i] -= self.still.torque(at, v_rung[i], self.zero, None)
        kept, lost = (np.where(self.moves[:, None], G, 0.0) for G in (rung.G, exact.G - rung.G))
        return {
            "dependents' torque": apply(transposed(lost), torque),
            "dependents' acceleration": apply(transposed(kept), acceleration),
            "coupling bias": apply(transposed(kept), turning),
            "dependents' velocity": apply(transposed(kept), velocity),
        }

    def _still(self, x: np.ndarray) -> np.ndarray:
        """Return tree velocities or accelerations with the rotors at rest."""
        return np.where(self.moves, x, 0.0)
