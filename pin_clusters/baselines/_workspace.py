"""What projection and Lagrange multipliers share: Pinocchio on the expanded tree."""

from __future__ import annotations

from typing import Any

import eigenpy  # type: ignore[import-not-found, import-untyped, unused-ignore]
import numpy as np
import pinocchio as pin

from ..errors import DataMismatchError
from ..expansion import expand
from ..model import ClusterModel


class Workspace:
    """Pinocchio's model and data of the expanded tree, with room for all intermediate results.

    Attributes:
        model: The cluster model.
        tree: The expanded tree (every rotor a body, depth-first).
        data: Pinocchio's data of it.
        G: Coupling matrix, shape (tree.nv, nv).
        GT: Its transpose, contiguous.
    """

    def __init__(self, model: ClusterModel) -> None:
        self.model = model
        self.span = expand(model)
        self.tree = self.span.tree
        self.data = self.tree.createData()
        self.G = np.ascontiguousarray(self.span.G)
        self.GT = np.ascontiguousarray(self.G.T)
        self.llt = eigenpy.LLT(model.nv)
        nv = self.tree.nv
        self.v, self.a, self.zero = np.zeros(nv), np.zeros(nv), np.zeros(nv)
        self.MG, self.M = np.zeros((nv, model.nv)), np.zeros((model.nv, model.nv))
        self._q = np.zeros(self.tree.nq)
        identity = np.arange(model.nq)
        self._same_q = self.tree.nq == model.nq and np.array_equal(self.span.from_tree_q, identity)
        # some versions fill the upper triangle only
        M = np.array(pin.crba(self.tree, self.data, pin.neutral(self.tree)))
        self._mirror = not np.allclose(M, M.T)

    def configuration(self, q: np.ndarray) -> np.ndarray:
        """Return q in the order of the expanded tree; not copied where the orders are the same."""
        if self._same_q:
            return q
        self._q[self.span.from_tree_q] = q
        return self._q

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Return the mass matrix of the expanded tree at its configuration q, shape (tree.nv, tree.nv)."""
        M = pin.crba(self.tree, self.data, q)
        if self._mirror:
            M = np.triu(M) + np.triu(M, 1).T
        return M

    def bias(self, q: np.ndarray, fext: Any) -> np.ndarray:
        """Return the torques on the expanded tree at its q, at the velocity ``self.v`` and zero acceleration."""
        if fext is None:
            return pin.nonLinearEffects(self.tree, self.data, q, self.v)
        return pin.rnea(self.tree, self.data, q, self.v, self.zero, self.span.fext(fext))


def check(model: ClusterModel, data: Any, kind: Any, module: str) -> None:
    """Check that data was made by the module's ``createData`` for this model.

    Raises:
        DataMismatchError: It was not.
    """
    if not isinstance(data, kind) or data.model is not model:
        raise DataMismatchError(
            f"data ({type(data).__name__}) is not a workspace of this model. "
            f"Use data = pin_clusters.baselines.{module}.createData(model)."
        )
