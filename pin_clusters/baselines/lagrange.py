"""Lagrange multipliers: Pinocchio on the tree with every rotor a body, couplings as constraints. Exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..expansion import driver_id
from ..model import ClusterModel
from ._workspace import Workspace, check

_NAME = "lagrange"


class LagrangeWorkspace(Workspace):
    """Workspace with the constraint matrix.

    Attributes:
        K: Shape (constraints, tree.nv): K times the velocity of the expanded tree is zero.
        independent: Indices of the independent velocities in the velocity of the expanded tree, shape (nv,).
    """

    def __init__(self, model: ClusterModel) -> None:
        super().__init__(model)
        span, tree = self.span, self.tree
        self.independent = span.from_tree_v[model.idx_v_independent]
        massless = [r for r in model.rotors if r.source is not None]

        def at(j: int) -> int:
            return int(tree.joints[int(span.from_tree_id[j])].idx_v)

        self.K = np.zeros((len(model.coupling_rows) + len(massless), tree.nv))
        for i, row in enumerate(model.coupling_rows):
            self.K[i, at(row.dependent)] = -1.0
            for master, coefficient in zip(row.masters, row.coefficients, strict=True):
                self.K[i, at(master)] += coefficient
        rows = self.K[len(model.coupling_rows) :]
        for k_row, j, rotor in zip(rows, span.rotors, massless, strict=True):
            k_row[tree.joints[j].idx_v] = -1.0
            for name, ratio in zip(rotor.source.joints, rotor.source.ratios, strict=True):
                k_row[at(driver_id(model.tree, name))] += ratio
        n, m = tree.nv, len(self.K)
        self.kkt, self.right = np.zeros((n + m, n + m)), np.zeros(n + m)
        self.kkt[n:, :n], self.kkt[:n, n:] = self.K, self.K.T


def createData(model: ClusterModel) -> LagrangeWorkspace:
    """Return a workspace for the functions of this module; one per thread."""
    return LagrangeWorkspace(model)


def aba(model: ClusterModel, data: LagrangeWorkspace, q: Any, v: Any, tau: Any, fext: Any = None) -> np.ndarray:
    """Compute the accelerations under torques: [M K'; K 0] [a; lambda] = [tau - h; 0] on the expanded tree.

    Args:
        model: Cluster model.
        data: What ``createData`` of this module returned.
        q: Configuration, shape (nq,), float64.
        v: Independent velocity, shape (nv,), float64.
        tau: Torque on the independent joints, shape (nv,), float64.
        fext: External forces in joint frames, [linear; angular]: ``pin.Force`` or rows, one per joint of the tree.

    Returns:
        Independent acceleration, shape (nv,).

    Raises:
        DataMismatchError: ``data`` belongs to another model or module.
    """
    check(model, data, LagrangeWorkspace, _NAME)
    q, n = data.configuration(q), data.tree.nv
    np.dot(data.G, v, out=data.v)
    data.kkt[:n, :n] = data.mass_matrix(q)
    np.negative(data.bias(q, fext), out=data.right[:n])
    data.right[data.independent] += tau
    return np.linalg.solve(data.kkt, data.right)[data.independent]
