"""Approximate equations of motion of the independent joints, without constraint forces.

The literature calls these equations unconstrained. The tree has the true configuration q and the true velocity G(q) v.
With its mass matrix M and its bias torques h at zero acceleration, the torques of the independent joints (index i) are:

    tau_i = M_ii a + h_i

Dependent joints neither accelerate nor transmit forces, so all forces that the couplings transmit are missing. If all
dependent joints are rotors, the equations describe a robot whose rotors are fixed to their carriers.
"""

from typing import Any

import numpy as np

from ...model import ClusterModel
from ._workspace import Workspace, check, documented_with_loops, of_accelerations


class UnconstrainedWorkspace(Workspace):
    """Workspace that computes the equations of the independent velocities."""

    def terms(self, q: np.ndarray, v: np.ndarray, fext: Any) -> tuple[np.ndarray, np.ndarray]:
        """Compute M_ii and h_i in a state of the user's model; h_i includes external forces."""
        q = np.asarray(q, dtype=float)
        self.couple(q)
        q = self.configuration(q)
        M = self.mass_matrix(q)[np.ix_(self.independent, self.independent)]
        return M, self.torque(q, self.G @ np.asarray(v, dtype=float), self.zero, fext)[self.independent]


def createData(model: ClusterModel) -> UnconstrainedWorkspace:
    """Create a workspace for the functions of this module; use one per thread."""
    return UnconstrainedWorkspace(model)


@documented_with_loops
def rnea(
    model: ClusterModel, data: UnconstrainedWorkspace, q: np.ndarray, v: np.ndarray, a: np.ndarray, fext: Any = None
) -> np.ndarray:
    """Compute the torques of a motion, M_ii a + h_i, shape (nv,)."""
    check(model, data, UnconstrainedWorkspace, __name__)
    M, h = data.terms(q, v, fext)
    return np.asarray(M @ np.asarray(a, dtype=float) + h)


@of_accelerations
def aba(
    model: ClusterModel, data: UnconstrainedWorkspace, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any = None
) -> np.ndarray:
    """Solve M_ii a = tau - h_i for the accelerations a."""
    check(model, data, UnconstrainedWorkspace, __name__)
    M, h = data.terms(q, v, fext)
    return np.linalg.solve(M, np.asarray(tau, dtype=float) - h)
