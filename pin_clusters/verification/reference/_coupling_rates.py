"""Compute G of the user's tree, and the full tensor dG/dq, which the kernels never compute."""

from dataclasses import dataclass

import numpy as np

from ..._support.docstrings import STATE, stock
from ..._support.trees import coordinates_of
from ...constraints.closures import BodyClosure, JointClosure
from ...errors import SingularClusterError
from ...model import ClusterModel
from ..null_space import coupling_rows
from ._closure_rates import of_bodies, of_joints, placed
from ._ends import Along, Motion
from ._simple_tree import simple_tree

documented = stock(STATE)
WORST = 1e8
"""Largest accepted condition number of the constraint Jacobian."""


@dataclass(frozen=True, eq=False)
class Rates:
    """Velocity and acceleration of the user's tree for independent v and a, and the derivatives of both."""

    v: np.ndarray  # tree velocity G v, shape (tree.nv,)
    a: np.ndarray  # tree acceleration G a + g, shape (tree.nv,)
    v_q: np.ndarray  # d v_tree / dq (dq is a tangent vector, as in ``pc.integrate``), shape (tree.nv, nv)
    a_q: np.ndarray  # d a_tree / dq, shape (tree.nv, nv)
    a_v: np.ndarray  # d a_tree / dv, shape (tree.nv, nv)


class CouplingRates:
    """G and dG/dq at a configuration.

    Attributes:
        G: Coupling matrix (tree velocity = G times independent velocity), shape (tree.nv, nv).
        H: Derivatives of G, shape (tree.nv, nv, nv). H[:, k, m] is the derivative of column k of G if q changes
            along e_m, as in ``pc.integrate``. Velocities of joints with several degrees of freedom are in body axes.
        units: ``Motion`` of the ``SimpleTree`` at velocity 0 and acceleration G e_k, for each k; empty without loops.
    """

    def __init__(self, model: ClusterModel, q: np.ndarray) -> None:
        self.model, self.q = model, np.asarray(q, dtype=float)
        self.simple = simple_tree(model)
        self.map = self.simple.span.from_tree
        self.full_q = self.simple.span.configuration(self.q)
        n, nv = model.tree.nv, model.nv
        self.nothing = np.zeros((n, nv))
        self.H = np.zeros((n, nv, nv))
        self.units: list[Motion] = []
        if not model.closures:
            self.G = np.asarray(self.simple.span.G[self.simple.span.from_tree_v])
            return
        self.G = np.zeros((n, nv))
        self.G[model.idx_v_independent, np.arange(nv)] = 1.0
        self.dependent = np.setdiff1d(np.arange(n), model.idx_v_independent)
        zero = np.zeros(n)
        _, K = self._rows(zero, zero, Along(np.zeros((n, n)), np.zeros((n, n)), np.eye(n)))
        K = np.vstack([coupling_rows(model), K])
        self.scale = 1.0 / np.maximum(np.abs(K).max(axis=1), 1e-3)
        self.inverse = self._solver(self.scale[:, None] * K[:, self.dependent])
        self._solve(self.G, K @ self.G)
        for k in range(nv):
            self.units.append(self._motion(zero, self.G[:, k]))
            _, change = self._rows(zero, self.G[:, k], Along(self.G, self.nothing, self.nothing), self.units[k])
            self._solve(self.H[:, k], change)

    def rates(self, v: np.ndarray, a: np.ndarray) -> Rates:
        """Compute the velocity and acceleration of the tree, and their derivatives.

        The second time derivatives r of the closures remain zero. Therefore, K times the derivative of the tree
        acceleration must cancel the change of r caused by q and by the tree velocity.
        """
        v_tree, a_tree = self.G @ v, self.G @ a
        v_q, a_q, a_v = self.H.transpose(0, 2, 1) @ v, np.zeros_like(self.G), np.zeros_like(self.G)
        if self.model.closures:
            g = np.zeros((len(a_tree), 1))
            value, _ = self._rows(v_tree, a_tree, Along(*[self.nothing[:, :0]] * 3))
            self._solve(g, value[:, None])
            a_tree = a_tree + g[:, 0]
            motion = self._motion(v_tree, a_tree)
            self._solve(a_q, self._rows(v_tree, a_tree, Along(self.G, v_q, self.nothing), motion)[1])
            self._solve(a_v, self._rows(v_tree, a_tree, Along(self.nothing, self.G, self.nothing), motion)[1])
        return Rates(v_tree, a_tree, v_q, a_q, a_v)

    def whole(self, directions: Along) -> Along:
        return Along(self.map @ directions.q, self.map @ directions.v, self.map @ directions.a)

    def _motion(self, v: np.ndarray, a: np.ndarray) -> Motion:
        return Motion(self.simple.tree, self.full_q, self.map @ v, self.map @ a)

    def _rows(
        self, v: np.ndarray, a: np.ndarray, along: Along, motion: Motion | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Compute r = K a + Kdot v for all closures, shape (rows,), and its derivatives, shape (rows, n)."""
        tree, values, changes = self.model.tree, [], []
        motion, directions = motion or self._motion(v, a), self.whole(along)
        for closure in self.model.closures:
            if isinstance(closure, JointClosure):
                dofs = [tree.idx_vs[j] for j in closure.joints]
                x = coordinates_of(tree, closure.joints, self.q)
                value, change = of_joints(closure, (x, v[dofs], a[dofs]), (along.q[dofs], along.v[dofs], along.a[dofs]))
            else:
                assert isinstance(closure, BodyClosure)
                a_end, b_end = (motion.end(int(self.simple.ids[j]), placed(x), directions) for j, x in closure.ends)
                value, change = of_bodies(closure, a_end, b_end)  # type: ignore[arg-type]
            values.append(value)
            changes.append(change)
        return np.concatenate(values), np.vstack(changes)

    def _solve(self, out: np.ndarray, rows: np.ndarray) -> None:
        """Set the dependent rows of ``out`` such that K @ out cancels ``rows``."""
        all_rows = np.zeros((len(self.scale), rows.shape[1]))
        all_rows[len(all_rows) - len(rows) :] = rows
        out[self.dependent] = -self.inverse @ (self.scale[:, None] * all_rows)

    def _solver(self, K: np.ndarray) -> np.ndarray:
        """Compute the pseudo-inverse of K, whose rows may be redundant."""
        U, s, Vt = np.linalg.svd(K, full_matrices=False)
        if len(s) and (len(s) < K.shape[1] or not s[0] < WORST * s[-1]):
            raise SingularClusterError(
                "The closures do not determine the dependent joints at this q: the extreme singular values of their "
                f"Jacobian are {s[0]:.3g} and {s[-1]:.3g}. Choose other independent joints, or another pose."
            )
        return np.asarray((Vt.T / s) @ U.T)


@documented
def coupling_derivatives(
    model: ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Differentiate the velocity and acceleration of the tree with respect to q and v.

    Returns:
        d v_tree/dq, d a_tree/dq and d a_tree/dv, shape (tree.nv, nv) each. dq is a tangent vector, as in
        ``pc.integrate``. The independent v and a are constant in derivatives with respect to q.

    Raises:
        SingularClusterError: The independent velocities do not determine the dependent velocities at this q.
    """
    rates = CouplingRates(model, q).rates(np.asarray(v, dtype=float), np.asarray(a, dtype=float))
    return rates.v_q, rates.a_q, rates.a_v


@documented
def coupling_jacobian(model: ClusterModel, q: np.ndarray) -> np.ndarray:
    """Compute G (tree velocity = G times independent velocity) from the closures at q, shape (tree.nv, nv).

    Raises:
        SingularClusterError: The independent velocities do not determine the dependent velocities at this q.
    """
    return np.array(CouplingRates(model, q).G)
