"""Converts gears and other constant couplings between the joints of a loop to equations of the loop."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from ..._support.arrays import in_order
from ..._support.trees import set_coordinate, slides, value_at
from ...constraints.closures import Closure, JointClosure, touched
from ...constraints.rows import Row


@dataclass(frozen=True, eq=False)
class LinearClosure(JointClosure):
    """Equations ``coefficients @ x - offsets = 0``; x contains the joint angles, in (-pi, pi] for continuous joints."""

    coefficients: np.ndarray  # shape (size, joints)
    offsets: np.ndarray  # shape (size,)
    # Period of each residual, shape (size,): q of continuous joints contains no full turns. 0 means not periodic.
    periods: np.ndarray

    def value(self, x: np.ndarray) -> np.ndarray:
        r = self.coefficients @ x - self.offsets
        periodic = self.periods > 0.0
        r[periodic] -= self.periods[periodic] * np.round(r[periodic] / self.periods[periodic])
        return r

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        return self.coefficients

    def hessian(self, x: np.ndarray) -> np.ndarray:
        return np.zeros((self.size, len(self.joints), len(self.joints)))


@dataclass(frozen=True)
class Follower:
    """A constant coupling, expressed in indices of q and of the tree's v."""

    label: str  # names of the dependent joint and the constraint, for messages
    iq: int  # first index in q of the dependent joint
    nq: int  # 1, or 2 for (cos, sin)
    iv: int  # index in the tree's v of the dependent joint
    masters: tuple[tuple[int, int, int, float], ...]  # (iq, nq, iv, coefficient) of each driving joint
    offset: float  # [rad] or [m]
    # The coupling determines the joint up to multiples of this period, [rad] or [m]; if 0, it does so uniquely.
    period: float

    @staticmethod
    def of(tree: pin.Model, row: Row) -> "Follower":
        nq, iv = tree.nqs[row.dependent], tree.idx_vs[row.dependent]
        masters = tuple((tree.idx_qs[m], tree.nqs[m], tree.idx_vs[m], c) for m, c in row.terms)
        # Full turns of continuous driving joints change the target by multiples of 2 pi gcd(c); these c are integers.
        turns = math.gcd(*(round(abs(c)) for _, n, _, c in masters if n == 2))
        period = 2.0 * math.pi * (1 if nq == 2 else turns)
        label = f"joint {tree.names[row.dependent]!r} ({row.source.label})"
        return Follower(label, tree.idx_qs[row.dependent], nq, iv, masters, row.offset, period)

    def target(self, q: np.ndarray) -> float:
        """Return the value that the coupling prescribes for the dependent joint, up to multiples of ``period``."""
        return in_order(c * value_at(q, iq, nq) for iq, nq, _, c in self.masters) + self.offset

    def residual(self, q: np.ndarray) -> float:
        r = value_at(q, self.iq, self.nq) - self.target(q)
        return r - self.period * rounded(r / self.period) if self.period else r


def rounded(x: float) -> float:
    """Round to the nearest whole number; unlike Python's ``round``, accept inf and NaN."""
    return float(np.round(x))


def linear_closure(tree: pin.Model, row: Row) -> LinearClosure:
    return LinearClosure(
        source=row.source,
        labels=(f"joint {tree.names[row.dependent]!r} minus its prescribed value",),
        units=("m" if slides(tree, row.dependent) else "rad",),
        joints=(row.dependent, *row.masters),
        coefficients=np.array([[1.0, *(-c for c in row.coefficients)]]),
        offsets=np.array([row.offset]),
        periods=np.array([Follower.of(tree, row).period]),
    )


def split_rows(
    tree: pin.Model, closures: Sequence[Closure], rows: Sequence[Row]
) -> tuple[tuple[LinearClosure, ...], tuple[Row, ...]]:
    """Return the couplings whose dependent joint is in a loop, as loop equations, and the other couplings as rows."""
    needed = touched(tree, closures)
    implicit: list[int] = []
    while True:
        new = [i for i, row in enumerate(rows) if i not in implicit and row.dependent in needed]
        if not new:
            break
        implicit += new
        needed.update(m for i in new for m in rows[i].masters)
    return (
        tuple(linear_closure(tree, rows[i]) for i in sorted(implicit)),
        tuple(row for i, row in enumerate(rows) if i not in implicit),
    )


def follow(tree: pin.Model, rows: Iterable[Row], q: np.ndarray) -> None:
    """Set the dependent joints of couplings in q, in place; add full turns so that these joints move the least."""
    for row in rows:
        f = Follower.of(tree, row)
        value = f.target(q)
        if f.period and f.nq == 1:
            value += f.period * rounded((q[f.iq] - value) / f.period)
        set_coordinate(tree, row.dependent, q, value)
