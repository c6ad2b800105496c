"""Allocates the memory for derivatives in a ``ClusterData``: intermediate values of the kernels, and results."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._support.arrays import on_a_page


class DerivativeMemory:
    """Arrays that the kernels for derivatives write.

    Matrix entries for two clusters, neither of which supports the other, are always zero; kernels never write them.

    Attributes:
        rates: Intermediate values of the kernels.
        dtau_dq, dtau_dv, C, scratch, ddq_dtau: Arrays of shape (nv, nv); C is the Coriolis matrix.
        ddq: Derivatives of forward dynamics with respect to q and v, shape (2, nv, nv).
        total: Derivatives of the centroidal momentum and of its rate, shape (24, nv).
        tau: Torques that the kernels compute but the user did not request, shape (nv,).
        state: q, v and a of the last call of the derivatives of inverse dynamics; NaN before the first call.
        after_aba: q, v and tau of the last call of forward dynamics; NaN before the first call.
        after_contacts: q, v, tau and damping of the last ``constraintDynamics``; damping is 0.0 for iterative methods.
        after_impact: q, v, restitution and damping of the last impact at contacts; NaN before the first impact.
        dlambda: Derivatives of the contact forces with respect to q, then v, then tau, as one flat array.
        tree: Tree of the independent velocities; see ``tree.solve``.
        sides, factors: Flat arrays with right-hand sides and with the factor L of the mass matrix, respectively.
        rows: Number of contact force components whose derivatives are stored, shape (1,).
    """

    __slots__ = (
        "C", "after_aba", "after_contacts", "after_impact", "ddq", "ddq_dtau", "dlambda", "dtau_dq", "dtau_dv",
        "factors", "rates", "rows", "scratch", "sides", "state", "tau", "total", "tree",
    )  # fmt: skip

    def __init__(self, nq: int, nv: int, tree: np.ndarray, rates: np.ndarray) -> None:
        self.tree, self.rates = tree, rates
        self.dtau_dq, self.dtau_dv, self.C, self.scratch = np.zeros((4, nv, nv))
        self.ddq, self.total, self.tau = np.zeros((2, nv, nv)), np.zeros((24, nv)), np.zeros(nv)
        self.state, self.after_aba = np.full((2, nq + 2 * nv), np.nan)
        self.after_contacts, self.after_impact = np.full(nq + 2 * nv + 1, np.nan), np.full(nq + nv + 2, np.nan)
        self.ddq_dtau, self.dlambda, self.rows = np.zeros((nv, nv)), np.zeros(0), np.zeros(1, dtype=np.int64)
        (self.sides,) = on_a_page(np.zeros(3 * nv * nv))
        (self.factors,) = on_a_page(np.zeros(nv * nv + max(1, tree.size - 4 * nv)))

    def keep_contacts(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, damping: float) -> None:
        self.after_contacts[:] = np.concatenate([q, v, tau, [damping]])

    def keep_impact(self, q: np.ndarray, v: np.ndarray, bounce: float, damping: float, known: bool) -> None:
        """Store the state of an impact at contacts; store NaN if only a Jacobian was passed (``known`` is False)."""
        self.after_impact[:] = np.concatenate([q, v, [bounce, damping]]) if known else np.nan

    def fits(self, rows: int) -> bool:
        """Reserve memory for the derivatives of ``rows`` force components; return whether the array was replaced."""
        moves = self.dlambda.size < 3 * rows * self.tau.size
        if moves:
            self.dlambda = np.zeros(3 * rows * self.tau.size)
            self.rows[0] = 0
        return moves

    def keep_forces(self, forces: Sequence[np.ndarray]) -> None:
        rows = len(forces[0])
        size = rows * self.tau.size
        for i in range(3):
            self.dlambda[i * size : (i + 1) * size] = forces[i].ravel() if i < len(forces) else np.nan
        self.rows[0] = rows

    def rates_of_forces(self, i: int) -> np.ndarray:
        """Return a copy of the force derivatives with respect to q (i = 0), v (1) or tau (2), shape (rows, nv)."""
        rows, nv = int(self.rows[0]), self.tau.size
        return self.dlambda[i * rows * nv : (i + 1) * rows * nv].reshape(rows, nv).copy()


class Result:
    """A vector of variable length that fast calls write: the first ``size[0]`` entries of ``numbers``."""

    __slots__ = ("numbers", "size")

    def __init__(self, size: int) -> None:
        self.numbers, self.size = np.zeros(max(size, 64)), np.array([size])

    def get(self) -> np.ndarray:
        return self.numbers[: self.size[0]]

    def put(self, x: Any) -> bool:
        x = np.asarray(x, dtype=float).ravel()
        moves = x.size > self.numbers.size
        if moves:
            self.numbers = np.zeros(2 * x.size)
        self.numbers[: x.size], self.size[0] = x, x.size
        return moves
