"""Computes the smallest correction of q that satisfies the couplings; the C code of fast calls gives equal values."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..._support.trees import in_v
from ...errors import ConfigurationError
from .. import ClusterModel, Follower, loops_of


@dataclass(frozen=True)
class Affine:
    """Affine map: sets ``y[at] = constants``; for each k, adds ``coefficients[k] * x[of[k]]`` to ``y[to[k]]``."""

    at: np.ndarray  # indices in y, shape (rows,)
    constants: np.ndarray  # shape (rows,)
    to: np.ndarray  # index in y of each term, shape (terms,)
    of: np.ndarray  # index in x of each term, shape (terms,)
    coefficients: np.ndarray  # shape (terms,)

    @staticmethod
    def of_rows(rows: Iterable[tuple[int, float, Iterable[tuple[int, float]]]]) -> "Affine":
        """Create the map from rows ``(index in y, constant, terms)``; a term is ``(index in x, coefficient)``."""
        listed = [(target, constant, list(terms)) for target, constant, terms in rows]
        terms = [(target, of, c) for target, _, row_terms in listed for of, c in row_terms]
        return Affine(
            np.array([target for target, _, _ in listed], dtype=np.int64),
            np.array([constant for _, constant, _ in listed], dtype=np.float64),
            np.array([to for to, _, _ in terms], dtype=np.int64),
            np.array([of for _, of, _ in terms], dtype=np.int64),
            np.array([c for _, _, c in terms], dtype=np.float64),
        )

    def apply(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Write the result to y and return y. The array y may be x if no term reads an entry that is written."""
        if len(self.at):
            y[self.at] = self.constants
            np.add.at(y, self.to, self.coefficients * x[self.of])
        return y


@dataclass(frozen=True)
class Way:
    """Map from residuals to the smallest velocity step that removes the residuals."""

    outside: tuple[Follower, ...]  # couplings of clusters without closed loops
    residual: Affine  # maps q to the residuals of ``outside``, if no joint is continuous
    step: Affine  # maps residuals to the step, shape (tree.nv,)
    rest: np.ndarray | None  # matrix from the residuals to the residuals after the step; None if it is zero

    def shortest(self, q: np.ndarray, linear: bool, nv: int) -> np.ndarray:
        """Return the step that removes the residuals at q; raise ``ConfigurationError`` if held joints prevent this."""
        if linear:
            r = self.residual.apply(q, np.zeros(len(self.outside)))
        else:
            r = np.array([f.residual(q) for f in self.outside])
        if self.rest is not None:
            remaining = np.abs(self.rest @ r)
            worst = np.argmax(remaining)
            if remaining[worst] > 1e-9 * max(1.0, np.abs(r).max()):
                raise ConfigurationError(
                    f"project: the held joints prevent a solution; {self.outside[worst].label} keeps a residual of "
                    f"{remaining[worst]:.3g} (rad or m). Hold fewer joints of its cluster."
                )
        return self.step.apply(r, np.zeros(nv))


def shortest_way(model: ClusterModel, followers: Iterable[Follower], held: tuple[int, ...]) -> Way:
    tree = model.own_tree
    inside = {tree.idx_vs[j] for loop in loops_of(model).clusters for j in loop.joints} if model.closures else set()
    outside = tuple(f for f in followers if f.iv not in inside)
    A = np.zeros((len(outside), tree.nv))
    for line, f in zip(A, outside, strict=True):
        line[f.iv] += 1.0
        for _, _, iv, coefficient in f.masters:
            line[iv] -= coefficient
    A[:, [iv for j in held for iv in in_v(tree, j)]] = 0.0
    S = -_pseudoinverse(A)
    remainder = np.eye(len(outside)) + A @ S
    lines = [(i, [(int(k), float(S[i, k])) for k in np.flatnonzero(S[i])]) for i in range(tree.nv)]
    return Way(
        outside,
        Affine.of_rows(
            (k, -f.offset, [(f.iq, 1.0), *((iq, -c) for iq, _, _, c in f.masters)]) for k, f in enumerate(outside)
        ),
        Affine.of_rows((i, 0.0, terms) for i, terms in lines),
        remainder if np.abs(remainder).max(initial=0.0) > 1e-12 else None,  # Smaller values are rounding errors.
    )


def _pseudoinverse(A: np.ndarray) -> np.ndarray:
    """Compute the pseudoinverse separately for each group of coupled rows; entries between groups are exactly zero."""
    result = np.zeros(A.shape[::-1])
    if not A.size:
        return result
    tolerance = np.finfo(float).eps * max(A.shape)
    pending = set(range(len(A)))
    while pending:
        group, rows = set[int](), {pending.pop()}
        while rows != group:
            group = rows
            columns = np.any(A[sorted(group)] != 0.0, axis=0)
            rows = group | set(np.flatnonzero(np.any(A[:, columns] != 0.0, axis=1)).tolist())
        pending -= group
        part = np.ix_(np.array(sorted(group)), np.flatnonzero(columns))
        result.T[part] = np.linalg.pinv(A[part], rcond=tolerance).T
    return result
