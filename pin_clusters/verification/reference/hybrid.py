"""Hybrid dynamics by the cluster articulated-body algorithm: prescribed joints hand their inertia on as it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...model import ClusterModel
from ._clusters import above, blocks, cross_force, documented, external, velocities


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
    """Compute the torques of joints whose accelerations are prescribed, and the accelerations of the others.

    With F the free columns of a cluster, P the prescribed ones, inward

    U = IA S_F,  D = S_F' U + H_FF,  c += S_P a_P,  u = tau_F - S_F' pA - H_FP a_P;
    IA_parent += X' (IA - U D^-1 U') X,  pA_parent += X' (pA + Ia c + U D^-1 u);

    and outward a_F = D^-1 (u - U' (X A_parent + c)). Torques are read off the forces f = IA A + pA on the bodies:
    tau_P = S_P' f + H_P a.

    Args:
        prescribed: Boolean mask, shape (nv,).

    Returns:
        Torque and acceleration of all independent joints, shape (nv,) each.

    References:
        R. Featherstone, Rigid Body Dynamics Algorithms, section 9.1, on the clusters of Chignoli et al., arXiv
        2311.13732.
    """
    clusters, mask = blocks(model, q), np.asarray(prescribed, dtype=bool)
    v, tau, a = np.asarray(v, dtype=float), np.array(tau, dtype=float), np.array(a, dtype=float)
    V, c = velocities(model, clusters, v)
    pushed = external(model, clusters, fext)
    IA = [block.I.copy() for block in clusters]
    pA = [cross_force(V[k], block.I @ V[k]) - pushed[k] for k, block in enumerate(clusters)]
    solved: dict[int, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
    for k, block in reversed(list(enumerate(clusters))):
        P = mask[block.columns]
        F, given = ~P, a[block.columns[P]]
        S = block.S[:, F]
        c[k] += block.S[:, P] @ given
        U = IA[k] @ S
        D = S.T @ U + block.H[np.ix_(F, F)]
        u = tau[block.columns[F]] - S.T @ pA[k] - block.H[np.ix_(F, P)] @ given - block.rotor_bias(v)[F]
        solved[k] = U, D, u
        if block.parent >= 0:
            Ia = IA[k] - U @ np.linalg.solve(D, U.T)
            IA[block.parent] += block.X.T @ Ia @ block.X
            pA[block.parent] += block.X.T @ (pA[k] + Ia @ c[k] + U @ np.linalg.solve(D, u))
    A: list[np.ndarray] = []
    for k, block in enumerate(clusters):
        U, D, u = solved[k]
        P = mask[block.columns]
        before = block.X @ above(A, block, -model.gravity.vector) + c[k]
        a[block.columns[~P]] = np.linalg.solve(D, u - U.T @ before)
        A.append(before + block.S[:, ~P] @ a[block.columns[~P]])
        needed = block.S.T @ (IA[k] @ A[k] + pA[k]) + block.H @ a[block.columns] + block.rotor_bias(v)
        tau[block.columns[P]] = needed[P]
    return tau, a
