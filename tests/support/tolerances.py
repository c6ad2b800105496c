"""The gates of the tests, and how errors are measured.

All couplings here are linear with constant coefficients, so the algorithms are finite sums of products: the result of
two routes differs by rounding alone. 1e-12 leaves four digits for the growth of rounding errors with the depth of the
tree and for cancellation; a wrong term is of order one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from pin_clusters.model.expansion import SpanningTree

# Two routes to the same quantity, relative to its largest entry: rnea, crba, nonlinear effects, kinematics, energies.
EXACT = 1e-12
# Numbers of another library, written to 17 digits, with the trees rebuilt from its rounded description.
GOLDEN = 1e-11
# Forward dynamics and inverses amplify by the condition number of M, so what is judged is the residual: a few units of
# rounding (2.2e-16) per joint on a path, relative to the terms that are added up.
BACKWARD = 1e-14
# Where Pinocchio's own residual on the spanning tree is larger than that, twice it.
AGAINST_PINOCCHIO = 2.0
# RK4 with 0.2 ms over 0.2 s; its error is of order dt^4, and a wrong gyroscopic sign gives 1e-3 or more.
ENERGY_DRIFT = 1e-8
# The same for the momentum of a robot in flight.
MOMENTUM_DRIFT = 1e-9


def relative(x: Any, y: Any, *terms: Any) -> float:
    """Largest difference over the largest entry of y, or of the terms of which y is the sum if those may cancel."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    assert x.shape == y.shape, (x.shape, y.shape)
    if not y.size:
        return 0.0
    scale = max(float(np.abs(z).max()) for z in (y, *terms))
    worst = float(np.abs(x - y).max())
    assert np.isfinite(worst)
    return worst / scale if scale else worst


def backward(M: np.ndarray, a: np.ndarray, h: np.ndarray, tau: np.ndarray) -> float:
    """Residual of forward dynamics over the size of its terms."""
    norm = np.linalg.norm
    return float(norm(M @ a + h - tau) / (norm(M, 2) * norm(a) + norm(h) + norm(tau)))


def inverse_residual(Minv: np.ndarray, M: np.ndarray) -> float:
    """|Minv M - 1| / cond(M)."""
    return float(np.linalg.norm(Minv @ M - np.eye(len(M)), 2) / np.linalg.cond(M))


def pinocchio_backward(
    span: SpanningTree, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any = None
) -> tuple[float, float]:
    """Pinocchio's own residuals of aba and computeMinverse on the expanded tree without its couplings."""
    tree, data = span.tree, span.tree.createData()
    forces = span.fext(np.zeros((len(span.from_tree_id), 6)) if fext is None else fext)
    full_q, full_v, full_tau = span.configuration(q), span.G @ v, np.linalg.pinv(span.G.T) @ tau
    a = np.array(pin.aba(tree, data, full_q, full_v, full_tau, forces))
    h = np.array(pin.rnea(tree, data, full_q, full_v, np.zeros(tree.nv), forces))
    M = np.array(pin.crba(tree, data, full_q))
    M = np.triu(M) + np.triu(M, 1).T
    Minv = np.array(pin.computeMinverse(tree, data, full_q))
    Minv = np.triu(Minv) + np.triu(Minv, 1).T
    return backward(M, a, h, full_tau), inverse_residual(Minv, M)
