"""Hybrid dynamics (some accelerations are prescribed) by the cluster articulated-body algorithm."""

from typing import Any

import numpy as np

from ...model import ClusterModel
from ._clusters import bias_forces, blocks, documented
from .forward import articulated


@documented
def hybrid_dynamics(
    model: ClusterModel,
    q: np.ndarray,
    v: np.ndarray,
    tau: np.ndarray,
    a: np.ndarray,
    prescribed: np.ndarray,
    fext: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Compute the torques of joints with prescribed accelerations, and the accelerations of all other joints.

    Args:
        prescribed: Mask of the joints with prescribed accelerations, shape (nv,).

    Returns:
        Torque and acceleration of all independent joints, shape (nv,) each.

    References:
        R. Featherstone, Rigid Body Dynamics Algorithms, section 9.1, applied to the clusters of Chignoli et al., arXiv
        2311.13732.
    """
    clusters, mask = blocks(model, q, v), np.asarray(prescribed, dtype=bool)
    tau, a, bias = np.array(tau, dtype=float), np.array(a, dtype=float), np.zeros(model.nv)
    for block in clusters:
        bias[block.columns] = block.rotor_bias
    torque, c, p = tau - bias, [block.c for block in clusters], bias_forces(model, clusters, fext)
    articulated(clusters, c, p, torque, a, mask, -model.gravity.vector)
    tau[mask] = (torque + bias)[mask]
    return tau, a
