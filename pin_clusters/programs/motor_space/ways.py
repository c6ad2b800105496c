"""From coordinates of some joints to the whole mechanism: its closed form, or Newton's method from a polynomial.

Both take the same time whatever the numbers are, and run on expressions.
"""

import itertools
import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.trees import coordinate, in_q
from ...algorithms.dynamics.coupling import coupling_jacobian
from ...constraints._closed_form import ClosedForm
from ...errors import BranchLost, ConfigurationError, NotAvailableError, SingularClusterError
from ...model import ClusterModel
from ...model.configuration import integrate
from ...model.configuration.manifold import manifold
from ..tracing._sources import source
from ..tracing.arctangent import arctan2
from ..tracing.expressions import Graph, Number, select, square_root
from ..tracing.moves import correct
from ..tracing.program import Program, objects
from ..tracing.run import Run
from .mechanism import Mechanism

Entries = Sequence[Number]
_NODES = {1: 41, 2: 15, 3: 7}
_DEGREE = {1: 8, 2: 6, 3: 4}
_WIDE = {"rad": 0.5, "m": 0.02}
_MOST, _CLOSED = 8, 1e-13


def determinant(rows: np.ndarray) -> Number:
    """Return the determinant of a square matrix of expressions or numbers; larger ones with pivots."""
    n = len(rows)
    if n == 1:
        return rows[0, 0]
    if n <= 3:
        minors = (np.delete(rows[1:], k, axis=1) for k in range(n))
        return sum((-1.0) ** k * rows[0, k] * determinant(x) for k, x in enumerate(minors))
    rows, total = rows.copy(), 1.0
    for k in range(n):
        for i in range(k + 1, n):  # the larger of both rows goes up
            (x, y), sign = (rows[k], rows[i]), total
            a, b = x[k] * x[k], y[k] * y[k]
            rows[k] = [select(a, b, w, z) for z, w in zip(x, y, strict=True)]
            rows[i] = [select(a, b, z, w) for z, w in zip(x, y, strict=True)]
            total = select(a, b, -sign, sign)
        total = total * rows[k, k]
        for i in range(k + 1, n):
            rows[i, k + 1 :] = rows[i, k + 1 :] - rows[k, k + 1 :] * (rows[i, k] / rows[k, k])
    return total


def angle_about(middle: float, y: Number, x: Number) -> Number:
    """Return the angle of (x, y) within a half turn of another one."""
    c, s = math.cos(middle), math.sin(middle)
    return middle + arctan2(y * c - x * s, x * c + y * s)


@dataclass(frozen=True, eq=False)
class Pose:
    """A mechanism, as expressions of what is known.

    Attributes:
        q: Configuration of the robot, the other joints at the reference pose.
        residual: The largest value of the equations of the loops.
        margin: 1 at the reference pose, 0 where the dependent joints are not determined, negative on another branch.
    """

    q: np.ndarray
    residual: Number
    margin: Number


class Way:
    """From the coordinates of joints that are independent in a model to the pose.

    Args:
        mechanism: The mechanism.
        model: In which they are independent.
        ids: The joints.
        guess: Where the dependent joints are, by the coordinates: writes into q.
        steps: How often Newton's method corrects it.
    """

    def __init__(
        self, mechanism: Mechanism, model: ClusterModel, ids: Sequence[int],
        guess: Callable[[np.ndarray, Entries], None], steps: int = 0,
    ) -> None:  # fmt: skip
        self.mechanism, self.model, self.ids, self.guess, self.steps = mechanism, model, ids, guess, steps
        self._back: np.ndarray | None = None
        if mechanism.loops and not manifold(model).linear:
            raise NotAvailableError(
                f"MotorSpace: a continuous joint (cos, sin) of {model.name!r} takes part in a coupling beside loops; "
                "such loops are not traced. Use a revolute joint with limits."
            )
        if mechanism.loops:
            self._back = np.linalg.pinv(self._close(np.array(model.q_reference).astype(object), 0)[1].astype(float))

    def __call__(self, known: Entries) -> Pose:
        """Return the pose."""
        q, tree = np.array(self.model.q_reference).astype(object), self.model.own_tree
        for j, x in zip(self.ids, known, strict=True):
            place(tree, q, j, x)
        self.guess(q, known)
        if self._back is None:
            return Pose(q, 0.0, 1.0)
        residual, K = self._close(q, self.steps)
        return Pose(q, residual, determinant(self._back @ K))

    def _close(self, q: np.ndarray, steps: int) -> tuple[Number, np.ndarray]:
        """Close the loops, in place; return the largest value, and the dependent columns of K."""
        run = Run(self.model, {"q": q}, steps=steps)
        iv = self.model.own_tree.idx_vs[self.ids[0]]
        C, L, H = next(x for x in map(self._rooms, run.loops()) if iv in x[3])[:3]
        source("bodies.placements").start(run.params, run.work)
        source("loops.coupling_of_loops").stand_still(run.work, C)
        residual = correct(run, q, [C])
        manifold(self.model).affine.apply(q, q)
        rows = [[run.work[L.K + i * L.width + k] for k in range(H.nd)] for i in range(H.nr)]
        return residual, np.array(rows, dtype=object)

    def _rooms(self, C: Any) -> tuple[Any, Any, Any, set[int]]:
        views, index = source("tables.views"), self.model._index
        H = views.head(index, C.head)
        own = {views.velocity_row(index, n).iv for n in range(H.velocity0, H.velocity1)}
        return C, views.block(H, C.nk), H, own


def place(tree: pin.Model, q: np.ndarray, j: int, x: Number) -> None:
    """Write the coordinate of a joint."""
    i = tree.idx_qs[j]
    q[i : i + tree.nqs[j]] = [np.cos(x), np.sin(x)] if tree.nqs[j] == 2 else [x]


def value(model: ClusterModel, q: np.ndarray, j: int) -> Number:
    """Return the coordinate of a joint; a continuous one is within a half turn of the reference pose."""
    tree, i = model.own_tree, model.own_tree.idx_qs[j]
    if tree.nqs[j] == 1:
        return q[i]
    return angle_about(coordinate(tree, j, model.q_reference), q[i + 1], q[i])


# --- guesses
def constant_ratios(m: Mechanism, ids: Sequence[int]) -> Callable[[np.ndarray, Entries], None]:
    """Return what places a mechanism without loops."""
    model, tree = m.model, m.model.own_tree
    G = coupling_jacobian(model, model.createData(), model.q_reference)
    inside = [j for j in m.ids if tree.nvs[j] == 1]
    rows = np.array([G[tree.idx_vs[j]] for j in inside])
    own = np.array([G[tree.idx_vs[j]] for j in ids])
    M, before, start = rows @ np.linalg.pinv(own), m.values(inside, model.q_reference), m.values(ids, model.q_reference)

    def guess(q: np.ndarray, known: Entries) -> None:
        for j, x0, row in zip(inside, before, M, strict=True):
            place(tree, q, j, sum((float(r) * (x - s) for r, x, s in zip(row, known, start, strict=True)), float(x0)))

    return guess


def closed_form(m: Mechanism) -> Callable[[np.ndarray, Entries], None] | None:
    """Return the closed form of the motors by the joints, on the branch of the reference pose, if there is one."""
    tree, loop = m.model.own_tree, next(x for x in m.by_joints._topology.analyses if set(x.joints) & set(m.joints))
    sources = [c for c in m.cluster.constraints if hasattr(c, "closures")]
    form: ClosedForm | None = getattr(sources[0], "closed_form", lambda _: None)(tree) if len(sources) == 1 else None
    if form is None or form.explicit is None or set(form.independent) != set(m.joints):
        return None
    if {tree.idx_vs[j] for j in form.dependent} != set(loop.dependents):
        return None
    explicit, dependent = form.explicit, form.dependent
    order = [m.joints.index(j) for j in form.independent]
    chosen = [
        _branch(*row, x) if isinstance(row, tuple) else None
        for row, x in zip(
            explicit(*m.values(form.independent, m.model.q_reference)), m.values(dependent, m.model.q_reference),
            strict=True,
        )
    ]  # fmt: skip

    def guess(q: np.ndarray, known: Entries) -> None:
        for j, row, one in zip(dependent, explicit(*(known[k] for k in order)), chosen, strict=True):
            place(tree, q, j, row if one is None else _solved(*row, *one))

    return guess


def _half(a: Number, b: Number, c: Number) -> Number:
    """Return the angle between both solutions of a sin x + b cos x = c, halved; 0 where there is none."""
    size = square_root(a * a + b * b)
    square = (size - c) * (size + c)
    return arctan2(square_root(select(square, 0.0, 0.0, square)), c)


def _branch(a: float, b: float, c: float, gear: float, x: float) -> tuple[float, float]:
    """Return what lies between both solutions, turns included, and on which side of it x is."""
    half = float(_half(a, b, c))
    ways = [(x / gear - sign * half, sign) for sign in (1.0, -1.0)]
    return min(ways, key=lambda way: abs(math.remainder(way[0] - math.atan2(a, b), 2.0 * math.pi)))


def _solved(a: Number, b: Number, c: Number, gear: float, middle: float, sign: float) -> Number:
    return gear * (angle_about(middle, a, b) + sign * _half(a, b, c))


class Polynomial:
    """Least squares through known poses: the coordinates of all joints of a mechanism by those of some.

    Args:
        m: The mechanism.
        known: Of the joints that are given, shape (N, n).
        q: The poses, shape (N, nq).
    """

    def __init__(self, m: Mechanism, ids: Sequence[int], known: np.ndarray, q: np.ndarray) -> None:
        n, tree = known.shape[1], m.model.own_tree
        self._middle = 0.5 * (known.max(axis=0) + known.min(axis=0))
        self._half = np.maximum(0.5 * np.ptp(known, axis=0), 1e-12)
        self._powers = [p for p in itertools.product(range(_DEGREE[n] + 1), repeat=n) if sum(p) <= _DEGREE[n]]
        self._places = [i for j in m.ids if j not in ids for i in in_q(tree, j)]
        self._units = [(a, b) for _, a, b in manifold(m.model).units if a in self._places]
        z = (known - self._middle) / self._half
        basis = np.stack([np.prod(z ** np.array(p), axis=1) for p in self._powers], axis=1)
        self._coefficients = np.linalg.lstsq(basis, q[:, self._places], rcond=None)[0].T

    def __call__(self, q: np.ndarray, known: Entries) -> None:
        """Write the coordinates."""
        z = [(x - float(a)) * (1.0 / float(h)) for x, a, h in zip(known, self._middle, self._half, strict=True)]
        terms: list[Number] = []
        for p in self._powers:
            term: Number = 1.0
            for x, power in zip(z, p, strict=True):
                for _ in range(power):
                    term = term * x
            terms.append(term)
        for i, row in zip(self._places, self._coefficients, strict=True):
            q[i] = sum(float(c) * t for c, t in zip(row, terms, strict=True))
        for a, b in self._units:
            norm = square_root(sum(x * x for x in q[a:b]))
            q[a:b] = [x / norm for x in q[a:b]]


def newton(m: Mechanism, model: ClusterModel, ids: Sequence[int], known: np.ndarray, q: np.ndarray) -> Way:
    """Return Newton's method from a polynomial, with as many steps as close the loops at all known poses."""
    way = Way(m, model, ids, Polynomial(m, ids, known, q))
    inside = [i for j in m.ids for i in in_q(m.model.own_tree, j)]
    for way.steps in range(2, _MOST + 1):
        pose = way(Graph().inputs(0, len(ids)))
        outputs = {"q": objects(pose.q[inside]), "told": objects([pose.residual, pose.margin])}
        found, told = Program.of("way", [("known", len(ids))], outputs)(known)
        if (told[:, 0] <= _CLOSED).all() and (told[:, 1] > 0.0).all() and np.abs(found - q[:, inside]).max() < 1e-6:
            break
    return way


# --- poses
def region_of(m: Mechanism, given: Any) -> np.ndarray:
    """Return lower and upper end of each joint, shape (n, 2)."""
    tree = m.model.own_tree
    if given is not None:
        found = np.asarray(given, dtype=float)
        if found.shape != (len(m.joints), 2) or not (found[:, 0] < found[:, 1]).all():
            raise ConfigurationError(
                f"MotorSpace: region must be (low, high) of each of {len(m.joints)} joints, got {given!r}."
            )
        return found
    rows = []
    for j in m.joints:
        start, i = coordinate(tree, j, m.model.q_reference), tree.idx_qs[j]
        low, high = (
            float(x[i]) if tree.nqs[j] == 1 else math.inf for x in (tree.lowerPositionLimit, tree.upperPositionLimit)
        )
        wide = _WIDE[m.place(j)[1]]
        limited = low < high and max(abs(low), abs(high)) < 1e3
        rows.append((min(low, start), max(high, start)) if limited else (start - wide, start + wide))
    return np.array(rows)


def explore(m: Mechanism, region: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return poses on a grid over the region, reached from the reference pose on its branch.

    Returns:
        Positions of the joints, shape (N, n), and configurations, shape (N, nq).
    """
    model, data, n = m.by_joints, m.by_joints.createData(), len(m.joints)
    columns = m.columns(model)
    axes = [np.linspace(low, high, _NODES[n]) for low, high in region]
    start = m.values(m.joints, model.q_reference)

    def jacobian(q: np.ndarray) -> np.ndarray:
        return m.of_motors(coupling_jacobian(model, data, q)[:, columns])

    sign = np.sign(np.linalg.det(jacobian(model.q_reference)))

    def go(q: np.ndarray, change: np.ndarray) -> np.ndarray | None:
        v = np.zeros(model.nv)
        v[columns] = change
        try:
            moved = integrate(model, q, v)
            J = jacobian(moved)
        except (BranchLost, SingularClusterError):
            return None
        return moved if np.sign(np.linalg.det(J)) == sign and np.linalg.cond(J) < 1e6 else None

    first = tuple(int(np.argmin(np.abs(axis - x))) for axis, x in zip(axes, start, strict=True))
    at = {first: go(model.q_reference, [axis[k] - x for axis, k, x in zip(axes, first, start, strict=True)])}
    waiting = deque([first] if at[first] is not None else [])
    while waiting:
        node = waiting.popleft()
        for k, way in itertools.product(range(n), (-1, 1)):
            other = (*node[:k], node[k] + way, *node[k + 1 :])
            if other in at or not 0 <= other[k] < len(axes[k]):
                continue
            change = np.zeros(n)
            change[k] = axes[k][other[k]] - axes[k][node[k]]
            at[other] = go(at[node], change)
            if at[other] is not None:
                waiting.append(other)
            else:
                del at[other]  # another neighbour may lead there
    reached = {node: q for node, q in at.items() if q is not None}
    if len(reached) < 3**n:
        raise ConfigurationError(
            f"MotorSpace: of the region {region.tolist()} of {', '.join(model.own_tree.names[j] for j in m.joints)} "
            f"almost nothing can be reached from the reference pose, at {start.tolist()}. Give a region= about it."
        )
    x = np.array([[axis[k] for axis, k in zip(axes, node, strict=True)] for node in reached])
    return x, np.array(list(reached.values()))
