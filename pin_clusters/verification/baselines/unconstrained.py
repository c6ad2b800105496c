"""Unconstrained: the tree's own rows of the independent joints, the dependents' rows dropped. Approximate.

What the cluster literature compares with under this name. At the true configuration q and the true velocity G(q) v of
the tree, with M the tree's mass matrix, h its bias torques at zero acceleration, and i the independent velocities:

    tau_i = M_ii a + h_i

so the dependent joints neither accelerate nor pass on force: all that G transmits is missing. With rotors alone this is
the robot whose rotors are locked into their carriers.
"""

from typing import Any

import numpy as np

from ...model import ClusterModel
from ._workspace import Workspace, check, documented_with_loops, of_accelerations


class UnconstrainedWorkspace(Workspace):
    """Workspace with the rows of the independent velocities."""

    def terms(self, q: np.ndarray, v: np.ndarray, fext: Any) -> tuple[np.ndarray, np.ndarray]:
        """Return M_ii and h_i, external forces included, at a state of the user's model."""
        q = np.asarray(q, dtype=float)
        self.couple(q)
        q = self.configuration(q)
        M = self.mass_matrix(q)[np.ix_(self.independent, self.independent)]
        return M, self.torque(q, self.G @ np.asarray(v, dtype=float), self.zero, fext)[self.independent]


def createData(model: ClusterModel) -> UnconstrainedWorkspace:
    """Return a workspace for the functions of this module; one per thread."""
    return UnconstrainedWorkspace(model)


@documented_with_loops
def rnea(
    model: ClusterModel, data: UnconstrainedWorkspace, q: np.ndarray, v: np.ndarray, a: np.ndarray, fext: Any = None
) -> np.ndarray:
    """Compute the torques of a motion, M_ii a + h_i.

    Returns:
        Torque, shape (nv,).
    """
    check(model, data, UnconstrainedWorkspace, __name__)
    M, h = data.terms(q, v, fext)
    return np.asarray(M @ np.asarray(a, dtype=float) + h)


@of_accelerations
def aba(
    model: ClusterModel, data: UnconstrainedWorkspace, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any = None
) -> np.ndarray:
    """Compute the accelerations under torques: M_ii a = tau - h_i."""
    check(model, data, UnconstrainedWorkspace, __name__)
    M, h = data.terms(q, v, fext)
    return np.linalg.solve(M, np.asarray(tau, dtype=float) - h)
