"""Inverse dynamics by the cluster recursive Newton-Euler algorithm."""

from typing import Any

import numpy as np

from ...model import ClusterModel
from ._clusters import above, bias_forces, blocks, documented


@documented
def rnea(model: ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray, fext: Any = None) -> np.ndarray:
    """Compute the torques of a motion, shape (nv,).

    The outward pass computes the velocity V and the acceleration A of every cluster. The inward pass computes the force
    F = I A + V x* I V - F_ext and the torque S' F, and adds X' F to the parent cluster.

    References:
        Chignoli et al., arXiv 2311.13732, equations (33) to (35) and (31).
    """
    a, clusters = np.asarray(a, dtype=float), blocks(model, q, v)
    A: list[np.ndarray] = []
    F = bias_forces(model, clusters, fext)
    for k, block in enumerate(clusters):
        A.append(block.X @ above(A, block, -model.gravity.vector) + block.S @ a[block.columns] + block.c)
        F[k] += block.I @ A[k]
    tau = np.zeros(model.nv)
    for k, block in reversed(list(enumerate(clusters))):
        tau[block.columns] = block.S.T @ F[k] + block.H @ a[block.columns] + block.rotor_bias
        if block.parent >= 0:
            F[block.parent] += block.X.T @ F[k]
    return tau


def nonLinearEffects(model: ClusterModel, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Compute the torques at zero acceleration, shape (nv,); arguments as in :func:`rnea`."""
    return rnea(model, q, v, np.zeros(model.nv))


def computeGeneralizedGravity(model: ClusterModel, q: np.ndarray) -> np.ndarray:
    """Compute the torques at rest, shape (nv,); arguments as in :func:`rnea`."""
    return rnea(model, q, np.zeros(model.nv), np.zeros(model.nv))
