"""Forward dynamics by the cluster articulated-body algorithm."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model import ClusterModel
from ._clusters import Block, above, blocks, cross_force, documented, external, velocities


@documented
def aba(model: ClusterModel, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any = None) -> np.ndarray:
    """Compute the accelerations under joint torques.

    Returns:
        Independent acceleration, shape (nv,).

    References:
        Chignoli et al., arXiv 2311.13732, algorithm 1, equations (49) to (56).
    """
    clusters = blocks(model, q)
    v, tau = np.asarray(v, dtype=float), np.array(tau, dtype=float)
    V, c = velocities(model, clusters, v)
    for block in clusters:
        tau[block.columns] -= block.rotor_bias(v)
    pushed = external(model, clusters, fext)
    p = [cross_force(V[k], b.I @ V[k]) - pushed[k] for k, b in enumerate(clusters)]
    return _articulated(clusters, c, p, tau, -model.gravity.vector)


@documented
def computeMinverse(model: ClusterModel, q: np.ndarray) -> np.ndarray:
    """Compute the inverse mass matrix, shape (nv, nv): a column is the answer to a unit torque, all else zero."""
    clusters = blocks(model, q)
    nothing = external(model, clusters, None)
    columns = [_articulated(clusters, nothing, list(nothing), tau, np.zeros(6)) for tau in np.eye(model.nv)]
    return np.stack(columns, axis=1) if columns else np.zeros((0, 0))


def _articulated(
    clusters: list[Block], c: list[np.ndarray], p: list[np.ndarray], tau: np.ndarray, minus_gravity: np.ndarray
) -> np.ndarray:
    """Inward: articulated inertia IA and bias force pA of every cluster. Outward: accelerations.

    U = IA S,  D = S' IA S + H,  u = tau - S' pA;
    IA_parent += X' (IA - U D^-1 U') X,  pA_parent += X' (pA + Ia c + U D^-1 u);  a = D^-1 (u - U' A).
    """
    IA = [block.I.copy() for block in clusters]
    pA = [force.copy() for force in p]
    solved: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
    for k, block in reversed(list(enumerate(clusters))):
        U = IA[k] @ block.S
        D = block.S.T @ U + block.H
        u = tau[block.columns] - block.S.T @ pA[k]
        solved[k] = U, D, u
        if block.parent >= 0:
            Ia = IA[k] - U @ np.linalg.solve(D, U.T)
            IA[block.parent] += block.X.T @ Ia @ block.X
            pA[block.parent] += block.X.T @ (pA[k] + Ia @ c[k] + U @ np.linalg.solve(D, u))
    ddq = np.zeros(len(tau))
    A: list[np.ndarray] = []
    for k, block in enumerate(clusters):
        U, D, u = solved[k]
        free = block.X @ above(A, block, minus_gravity) + c[k]
        ddq[block.columns] = np.linalg.solve(D, u - U.T @ free)
        A.append(free + block.S @ ddq[block.columns])
    return ddq
