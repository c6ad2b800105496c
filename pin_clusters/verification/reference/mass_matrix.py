"""Mass matrix by the cluster composite-rigid-body algorithm."""

import numpy as np

from ...model import ClusterModel
from ._clusters import blocks, documented


@documented
def crba(model: ClusterModel, q: np.ndarray) -> np.ndarray:
    """Compute the symmetric mass matrix, shape (nv, nv).

    IC_parent += X' IC X;  M_kk = S' IC S + H;  M_jk = S_j' F for all ancestors j, where F = X' ... X' IC S.
    """
    clusters = blocks(model, q)
    IC = [block.I.copy() for block in clusters]
    M = np.zeros((model.nv, model.nv))
    for k, block in reversed(list(enumerate(clusters))):
        if block.parent >= 0:
            IC[block.parent] += block.X.T @ IC[k] @ block.X
        F = IC[k] @ block.S
        M[np.ix_(block.columns, block.columns)] = block.S.T @ F + block.H
        below, j = block, block.parent
        while j >= 0:
            F, below = below.X.T @ F, clusters[j]
            M[np.ix_(below.columns, block.columns)] = below.S.T @ F
            M[np.ix_(block.columns, below.columns)] = F.T @ below.S
            j = below.parent
    return M
