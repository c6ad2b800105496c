"""What derivatives need of a data object: records of the kernels, results with their pattern of zeros, a tree."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._support.arrays import on_a_page


class DerivativeMemory:
    """Where the kernels of derivatives write.

    Kernels never write entries between clusters on different branches, so these stay zero.

    Attributes:
        rates: Records of the kernels.
        dtau_dq: Shape (nv, nv).
        dtau_dv: Shape (nv, nv).
        C: Coriolis matrix, shape (nv, nv).
        scratch: Shape (nv, nv).
        ddq: Derivatives of forward dynamics by q and v, shape (2, nv, nv).
        total: Shape (24, nv): derivatives of momentum and rate about the centre of mass.
        tau: Torques that nobody asked for, shape (nv,).
        state: q, v and a of the last derivatives of inverse dynamics; NaN if there were none.
        after_aba: q, v and tau of the last forward dynamics; NaN if there was none.
        after_contacts: The same of forward dynamics with contacts, then their damping, which is 0.0 if the forces were
            iterated.
        after_impact: q, v, restitution and damping of the last impact at contacts; NaN if there was none.
        ddq_dtau: Derivative by tau of the accelerations with contacts, shape (nv, nv).
        dlambda: Room for the derivatives by q, v and tau of their forces, one behind the other.
        tree: Tree of velocities, see ``tree_solve``.
        sides: Room for right sides.
        factors: Room for L.
        rows: How many rows of forces were differentiated, one number.
    """

    __slots__ = (
        "C", "after_aba", "after_contacts", "after_impact", "ddq", "ddq_dtau", "dlambda", "dtau_dq", "dtau_dv",
        "factors", "rates", "rows", "scratch", "sides", "state", "tau", "total", "tree",
    )  # fmt: skip

    def __init__(self, nq: int, nv: int, tree: np.ndarray, rates: np.ndarray) -> None:
        """Allocate; ``tree`` is that of the velocities, ``rates`` the records."""
        self.tree, self.rates = tree, rates
        self.dtau_dq, self.dtau_dv, self.C, self.scratch = np.zeros((4, nv, nv))
        self.ddq, self.total, self.tau = np.zeros((2, nv, nv)), np.zeros((24, nv)), np.zeros(nv)
        self.state, self.after_aba = np.full((2, nq + 2 * nv), np.nan)
        self.after_contacts, self.after_impact = np.full(nq + 2 * nv + 1, np.nan), np.full(nq + nv + 2, np.nan)
        self.ddq_dtau, self.dlambda, self.rows = np.zeros((nv, nv)), np.zeros(0), np.zeros(1, dtype=np.int64)
        (self.sides,) = on_a_page(np.zeros(3 * nv * nv))
        (self.factors,) = on_a_page(np.zeros(nv * nv + max(1, tree.size - 4 * nv)))

    def keep_contacts(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, damping: float) -> None:
        """Keep the state of forward dynamics with contacts."""
        self.after_contacts[:] = np.concatenate([q, v, tau, [damping]])

    def keep_impact(self, q: np.ndarray, v: np.ndarray, bounce: float, damping: float, known: bool) -> None:
        """Keep the state of an impact; ``known``: at contacts, not at rows that were given."""
        self.after_impact[:] = np.concatenate([q, v, [bounce, damping]]) if known else np.nan

    def room_for(self, rows: int) -> bool:
        """Make room for the derivatives of so many rows of forces; returns whether there was less."""
        moves = self.dlambda.size < 3 * rows * self.tau.size
        if moves:
            self.dlambda = np.zeros(3 * rows * self.tau.size)
            self.rows[0] = 0
        return moves

    def keep_forces(self, forces: Sequence[np.ndarray]) -> None:
        """Keep derivatives of forces by q, v and, if there are any, tau; there must be room."""
        rows = len(forces[0])
        size = rows * self.tau.size
        for i in range(3):
            self.dlambda[i * size : (i + 1) * size] = forces[i].ravel() if i < len(forces) else np.nan
        self.rows[0] = rows

    def rates_of_forces(self, i: int) -> np.ndarray:
        """Return those by q, v or tau, shape (rows, nv), a copy."""
        rows, nv = int(self.rows[0]), self.tau.size
        return self.dlambda[i * rows * nv : (i + 1) * rows * nv].reshape(rows, nv).copy()


class Result:
    """A vector of any length at a place that calls of the extension write to.

    Attributes:
        numbers: Room for the vector, at whose beginning it stands.
        size: Its length, one number.
    """

    __slots__ = ("numbers", "size")

    def __init__(self, size: int) -> None:
        self.numbers, self.size = np.zeros(max(size, 64)), np.array([size])

    def get(self) -> np.ndarray:
        """Return the vector, as a view."""
        return self.numbers[: self.size[0]]

    def put(self, x: Any) -> bool:
        """Copy a vector; returns whether the room was too small, so that there is another one."""
        x = np.asarray(x, dtype=float).ravel()
        moves = x.size > self.numbers.size
        if moves:
            self.numbers = np.zeros(2 * x.size)
        self.numbers[: x.size], self.size[0] = x, x.size
        return moves
