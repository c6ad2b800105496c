"""Exact forward dynamics with Lagrange multipliers for all constraints; every rotor is a body of the tree.

The loops are cut, and constraint forces close them. In generalized coordinates, the constraint matrix K gives

    [M  -K'] [   a  ]   [tau - h]
    [K   0 ] [lambda] = [ -Kdot v]

K' lambda are the torques of the constraints. Redundant rows have minimum-norm multipliers.

References:
    Yamane and Nakamura, equations (1) to (7), where K is called H and the right-hand side is the acceleration of the
    cut joints.
"""

from typing import Any

import numpy as np

from ..._support.docstrings import STATE, stock
from ...model import ClusterModel
from ..null_space import coupling_rows
from ._workspace import ACCELERATION, DATA, FLOAT64, LOOPS, Workspace, check


class LagrangeWorkspace(Workspace):
    """Workspace with the constraint matrix K.

    Attributes:
        K: Constraint matrix of the expanded tree at the last q, shape (rows, tree.nv). Couplings come first, then loop
            closures, then rotors that are not bodies of the user's tree.
        multipliers: Multipliers of the last ``aba``, one per row. ``K' multipliers`` are the constraint torques.
    """

    def __init__(self, model: ClusterModel) -> None:
        super().__init__(model)
        span, tree = self.span, self.tree
        rotors = [tree.joints[j].idx_v for j in span.rotors]
        n_tied = len(model.coupling_rows) if self.loops is None else len(self.loops.K)
        self.K = np.zeros((n_tied + len(rotors), tree.nv))
        if self.loops is None:
            self.K[:n_tied, span.from_tree_v] = coupling_rows(model)
        # The rows of ``from_tree`` contain the gear ratios of the rotors.
        self.K[n_tied:, span.from_tree_v] = span.from_tree[rotors]
        self.K[np.arange(n_tied, len(self.K)), rotors] = -1.0
        self.multipliers = np.zeros(len(self.K))
        self._combine: np.ndarray | None = None
        rank = tree.nv - model.nv
        n = tree.nv
        self.kkt, self.right = np.zeros((n + rank, n + rank)), np.zeros(n + rank)
        if self.loops is None:
            self._fill(self.K)

    def _fill(self, K: np.ndarray) -> None:
        n = self.tree.nv
        self.kkt[n:, :n], self.kkt[:n, n:] = K, -K.T

    def close(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Compute the constraint rows in a state; return the matrix from solved multipliers to multipliers of all rows.

        The solved system consists of orthogonal combinations of rows, one per independent row, so that the multipliers
        have minimum norm. If ``hold`` is set, the combinations of the last state are reused.
        """
        assert self.loops is not None
        if self.hold and self._combine is not None:
            return self._combine
        self.couple(q, v)
        n, n_tied = self.tree.nv, len(self.loops.K)
        self.K[:n_tied, self.span.from_tree_v] = self.loops.K
        bias = np.zeros(len(self.K))
        bias[:n_tied] = self.loops.bias
        U, _, _ = np.linalg.svd(self.K)
        combine = U[:, : len(self.kkt) - n]
        self._fill(combine.T @ self.K)
        self.right[n:] = -combine.T @ bias
        self._combine = combine
        return combine


def createData(model: ClusterModel) -> LagrangeWorkspace:
    """Create a workspace for the functions of this module; use one per thread."""
    return LagrangeWorkspace(model)


@stock(STATE, DATA, LOOPS, FLOAT64, ACCELERATION)
def aba(
    model: ClusterModel, data: LagrangeWorkspace, q: np.ndarray, v: np.ndarray, tau: np.ndarray, fext: Any = None
) -> np.ndarray:
    """Solve [M -K'; K 0] [a; lambda] = [tau - h; -Kdot v] of the tree; return the independent accelerations."""
    check(model, data, LagrangeWorkspace, __name__)
    combine = None if data.loops is None else data.close(q, v)
    q, n = data.configuration(q), data.tree.nv
    np.dot(data.G, v, out=data.v)
    data.kkt[:n, :n] = data.mass_matrix(q)
    np.negative(data.torque(q, data.v, data.zero, fext), out=data.right[:n])
    data.right[data.independent] += tau
    solution = np.linalg.solve(data.kkt, data.right)
    data.multipliers[:] = solution[n:] if combine is None else combine @ solution[n:]
    return solution[data.independent]
