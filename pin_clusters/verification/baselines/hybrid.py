"""Exact hybrid dynamics from the mass matrix M and the bias h of ``projection``.

F denotes the joints with known torques, and P the joints with prescribed accelerations. The steps are:

    1. Compute M and h of the entire robot.
    2. Compute the right-hand side tau_F - h_F - M_FP a_P.
    3. Solve M_FF a_F = right-hand side by Cholesky.
    4. Compute tau_P = M_PF a_F + M_PP a_P + h_P.
"""

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from ...model import ClusterModel
from . import projection
from ._workspace import Workspace, documented_with_loops


def createData(model: ClusterModel) -> Workspace:
    """Create a workspace for the function of this module; use one per thread."""
    return Workspace(model)


@documented_with_loops
def hybrid_dynamics(
    model: ClusterModel, data: Workspace, q: Any, v: Any, tau: Any, a: Any, prescribed: Any, fext: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the torques of joints with prescribed accelerations, and the accelerations of all other joints.

    Args:
        prescribed: Mask of the joints with prescribed accelerations, shape (nv,).

    Returns:
        Torque and acceleration of all independent joints, shape (nv,) each.
    """
    P = np.flatnonzero(prescribed)
    F = np.flatnonzero(~np.asarray(prescribed, dtype=bool))
    tau, a = np.array(tau, dtype=float), np.array(a, dtype=float)
    h = projection.rnea(model, data, q, v, np.zeros(model.nv), fext)
    M = projection.crba(model, data, q)
    if F.size:
        a[F] = cho_solve(cho_factor(M[np.ix_(F, F)]), tau[F] - h[F] - M[np.ix_(F, P)] @ a[P])
    tau[P] = M[P] @ a + h[P]
    return tau, a
