"""Forward dynamics by the cluster articulated-body algorithm."""

from typing import Any

import numpy as np

from ...model import ClusterModel
from ._clusters import Block, above, bias_forces, blocks, documented


@documented
def aba(model: ClusterModel, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any = None) -> np.ndarray:
    """Compute the independent accelerations, shape (nv,), for given torques.

    References:
        Chignoli et al., arXiv 2311.13732, algorithm 1, equations (49) to (56).
    """
    clusters, tau, a = blocks(model, q, v), np.array(tau, dtype=float), np.zeros(model.nv)
    for block in clusters:
        tau[block.columns] -= block.rotor_bias
    c, p = [block.c for block in clusters], bias_forces(model, clusters, fext)
    articulated(clusters, c, p, tau, a, np.zeros(model.nv, dtype=bool), -model.gravity.vector)
    return a


@documented
def computeMinverse(model: ClusterModel, q: np.ndarray) -> np.ndarray:
    """Compute the inverse mass matrix, shape (nv, nv); each column is the response to a unit torque."""
    clusters, Minv, free = blocks(model, q), np.zeros((model.nv, model.nv)), np.zeros(model.nv, dtype=bool)
    nothing = [np.zeros(len(block.I)) for block in clusters]
    for tau, a in zip(np.eye(model.nv), Minv, strict=True):
        articulated(clusters, nothing, nothing, tau, a, free, np.zeros(6))
    return Minv.T


def articulated(
    clusters: list[Block],
    c: list[np.ndarray],
    p: list[np.ndarray],
    tau: np.ndarray,
    a: np.ndarray,
    prescribed: np.ndarray,
    minus_gravity: np.ndarray,
) -> None:
    """Compute inertias IA and bias forces pA from the tips to the base, then accelerations a from the base to the tips.

    F denotes the free columns of a cluster, and P the columns with prescribed accelerations. Columns P do not reduce
    the articulated inertia, and their torques are written to tau.

    U = IA S_F,  D = S_F' U + H_FF,  c += S_P a_P,  u = tau_F - S_F' pA - H_FP a_P,  Ia = IA - U D^-1 U';
    IA_parent += X' Ia X,  pA_parent += X' (pA + Ia c + U D^-1 u);  a_F = D^-1 (u - U' A);
    tau_P = S_P' f + H_P a, where f = IA A + pA are the forces on the bodies.
    """
    IA = [block.I.copy() for block in clusters]
    pA = [force.copy() for force in p]
    solved: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]] = {}
    for k, block in reversed(list(enumerate(clusters))):
        P = prescribed[block.columns]
        prescribed_a, S = a[block.columns[P]], block.S[:, ~P]
        bias_acceleration = c[k] + block.S[:, P] @ prescribed_a
        U = IA[k] @ S
        D = S.T @ U + block.H[np.ix_(~P, ~P)]
        u = tau[block.columns[~P]] - S.T @ pA[k] - block.H[np.ix_(~P, P)] @ prescribed_a
        solved[k] = U, D, u, bias_acceleration
        if block.parent >= 0:
            Ia = IA[k] - U @ np.linalg.solve(D, U.T)
            IA[block.parent] += block.X.T @ Ia @ block.X
            pA[block.parent] += block.X.T @ (pA[k] + Ia @ bias_acceleration + U @ np.linalg.solve(D, u))
    A: list[np.ndarray] = []
    for k, block in enumerate(clusters):
        U, D, u, bias_acceleration = solved[k]
        P = prescribed[block.columns]
        before = block.X @ above(A, block, minus_gravity) + bias_acceleration
        a[block.columns[~P]] = np.linalg.solve(D, u - U.T @ before)
        A.append(before + block.S[:, ~P] @ a[block.columns[~P]])
        needed = block.S.T @ (IA[k] @ A[k] + pA[k]) + block.H @ a[block.columns]
        tau[block.columns[P]] = needed[P]
