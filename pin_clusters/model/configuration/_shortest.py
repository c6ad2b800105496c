"""The shortest way onto constant couplings, for given held joints: affine maps, as lists of terms.

The extension and NumPy compute them to the same bits.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..._support.trees import in_v
from ...errors import ConfigurationError
from .. import ClusterModel, Follower, loops_of


@dataclass(frozen=True)
class Affine:
    """``y[at] = constants``, then ``y[to[k]] += coefficients[k] * x[of[k]]``, one term after the other."""

    at: np.ndarray  # places in y, shape (rows,)
    constants: np.ndarray  # shape (rows,)
    to: np.ndarray  # place in y of each term
    of: np.ndarray  # place in x of each term
    coefficients: np.ndarray  # one per term

    @staticmethod
    def of_rows(rows: Iterable[tuple[int, float, Iterable[tuple[int, float]]]]) -> "Affine":
        """Make the map of rows: place in y, constant, (place in x, coefficient) of each term."""
        listed = [(at, constant, list(terms)) for at, constant, terms in rows]
        terms = [(at, of, c) for at, _, own in listed for of, c in own]
        return Affine(
            np.array([at for at, _, _ in listed], dtype=np.int64),
            np.array([constant for _, constant, _ in listed], dtype=np.float64),
            np.array([to for to, _, _ in terms], dtype=np.int64),
            np.array([of for _, of, _ in terms], dtype=np.int64),
            np.array([c for _, _, c in terms], dtype=np.float64),
        )

    def apply(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Write the result to y, which may be x where no term reads what is written; return it."""
        if len(self.at):
            y[self.at] = self.constants
            np.add.at(y, self.to, self.coefficients * x[self.of])
        return y


@dataclass(frozen=True)
class Way:
    """From residuals to the smallest step, in the norm of the tangent space, that takes them away."""

    outside: tuple[Follower, ...]  # the couplings of clusters without closed loops
    residual: Affine  # q -> their residuals, where no joint is continuous
    step: Affine  # residuals -> step, shape (tree.nv,)
    rest: np.ndarray | None  # residuals -> what the held joints leave of them; None if nothing is left

    def shortest(self, q: np.ndarray, linear: bool, nv: int) -> np.ndarray:
        """Return the step from q, shape (nv,); ``ConfigurationError`` if the held joints leave no way."""
        if linear:
            r = self.residual.apply(q, np.zeros(len(self.outside)))
        else:
            r = np.array([f.residual(q) for f in self.outside])
        if self.rest is not None:
            left = np.abs(self.rest @ r)
            worst = np.argmax(left)
            if left[worst] > 1e-9 * max(1.0, np.abs(r).max()):
                raise ConfigurationError(
                    f"project: with the held joints, {self.outside[worst].label} cannot be fulfilled; "
                    f"{left[worst]:.3g} (rad or m) are left. Hold fewer joints of its cluster."
                )
        return self.step.apply(r, np.zeros(nv))


def shortest_way(model: ClusterModel, followers: Iterable[Follower], held: tuple[int, ...]) -> Way:
    """Return the way onto couplings for some held joints (ids)."""
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
    rest = np.eye(len(outside)) + A @ S
    lines = [(i, [(int(k), float(S[i, k])) for k in np.flatnonzero(S[i])]) for i in range(tree.nv)]
    return Way(
        outside,
        Affine.of_rows(
            (k, -f.offset, [(f.iq, 1.0), *((iq, -c) for iq, _, _, c in f.masters)]) for k, f in enumerate(outside)
        ),
        Affine.of_rows((i, 0.0, terms) for i, terms in lines),
        rest if np.abs(rest).max(initial=0.0) > 1e-12 else None,  # else rounding
    )


def _pseudoinverse(A: np.ndarray) -> np.ndarray:
    """Return the pseudoinverse, one group of coupled rows after the other: zero where nothing is coupled."""
    result = np.zeros(A.shape[::-1])
    if not A.size:
        return result
    tolerance = np.finfo(float).eps * max(A.shape)
    left = set(range(len(A)))
    while left:
        group, rows = set[int](), {left.pop()}
        while rows != group:
            group = rows
            columns = np.any(A[sorted(group)] != 0.0, axis=0)
            rows = group | set(np.flatnonzero(np.any(A[:, columns] != 0.0, axis=1)).tolist())
        left -= group
        part = np.ix_(np.array(sorted(group)), np.flatnonzero(columns))
        result.T[part] = np.linalg.pinv(A[part], rcond=tolerance).T
    return result
