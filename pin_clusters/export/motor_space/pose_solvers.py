"""Computation of a mechanism's pose from the coordinates of some joints.

The solver is a closed-form solution, or Newton's method with a polynomial as the initial guess. Both solvers also
accept symbolic expressions, and their operations do not depend on the input values.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from ..._support.arrays import numbers
from ..._support.trees import coordinate, in_q, slides
from ...algorithms.dynamics.coupling import coupling_jacobian
from ...compiler.tracing._sources import source
from ...compiler.tracing.arctangent import arctan2
from ...compiler.tracing.expressions import Graph, Number, select, square_root
from ...compiler.tracing.moves import correct
from ...compiler.tracing.program import Program, objects
from ...compiler.tracing.run import Run
from ...constraints._closed_form import ClosedForm
from ...errors import BranchLost, ConfigurationError, NotAvailableError, SingularClusterError
from ...model import ClusterModel, loops_of
from ...model.configuration import integrate
from ...model.configuration.branches import form_of
from ...model.configuration.manifold import manifold
from .mechanism import Mechanism

Guess = Callable[[np.ndarray, Sequence[Number]], None]
"""Function that writes an approximate pose to q, given the coordinates of some joints."""
_NODES = {1: 41, 2: 15, 3: 7}
_DEGREE = {1: 8, 2: 6, 3: 4}
_MOST, _CLOSED = 8, 1e-13
_BEYOND, _FAR = 1.25, 0.5
"""Relative size of the region in which polynomials are evaluated, and largest change by Newton's method [rad]."""


class Pose(NamedTuple):
    """A pose q, its largest loop residual, and its margins.

    ``margin`` is 1 at the reference pose and 0 at singularities. ``reach`` is 1 at the initial guess of Newton's method
    and 0 at the largest allowed distance from the guess.
    """

    q: np.ndarray
    residual: Number = 0.0
    margin: Number = 1.0
    reach: Number = 1.0


class PoseSolver:
    """Computes the pose from the coordinates of independent joints, by an initial guess and then Newton's method.

    ``reach`` contains, for each index in q, the largest allowed change by Newton's method.
    """

    def __init__(
        self,
        m: Mechanism,
        model: ClusterModel,
        ids: Sequence[int],
        guess: Guess,
        reach: Mapping[int, float] | None = None,
    ) -> None:
        self.loops, self.model, self.ids, self.guess, self.steps = m.loops, model, ids, guess, 0
        self._reach = reach or {}
        if not m.loops:
            return
        if not manifold(model).linear:
            raise NotAvailableError(
                f"MotorSpace: {model.name!r} cannot be traced, because it has closed loops and a coupling of a "
                "continuous joint (cos, sin). Replace the joint by a revolute joint with limits."
            )
        K, *nearby = (self._close(self._moved(k))[1].astype(float) for k in range(3))
        self._parts = [(*rc, np.linalg.pinv(K[np.ix_(*rc)])) for rc in blocks(abs(K) + sum(abs(x) for x in nearby))]

    def _moved(self, k: int) -> np.ndarray:
        return (self.model.q_reference + 0.03 * k * np.cos(np.arange(self.model.nq) * k)).astype(object)

    def __call__(self, known: Any) -> Pose:
        q = self.model.q_reference.astype(object)
        for j, x in zip(self.ids, known, strict=True):
            place(self.model, q, j, x)
        self.guess(q, known)
        if not self.loops:
            return Pose(q)
        begun = q.copy()
        residual, K = self._close(q, self.steps)
        return Pose(q, residual, self._margin(K), self._left(q, begun, self._reach))

    def margin(self, q: np.ndarray) -> Number:
        return self._margin(self._close(q.copy())[1]) if self.loops else 1.0

    def _margin(self, K: np.ndarray) -> Number:
        determinants = (determinant(back @ K[np.ix_(rows, columns)]) for rows, columns, back in self._parts)
        return -reduce(larger, [-x for x in determinants])

    def reach(self, q: np.ndarray, joints: Sequence[int]) -> Number:
        """Return the margin ``reach`` of some joints in a pose that another solver has computed."""
        begun = q.copy()
        self.guess(begun, [value(self.model, q, j) for j in self.ids])
        return self._left(q, begun, [i for j in joints for i in in_q(self.model.own_tree, j) if i in self._reach])

    def _left(self, q: np.ndarray, begun: np.ndarray, places: Iterable[int]) -> Number:
        return 1.0 - reduce(larger, [((q[i] - begun[i]) * (1.0 / self._reach[i])) ** 2 for i in places], 0.0)

    def _close(self, q: np.ndarray, steps: int = 0) -> tuple[Number, np.ndarray]:
        """Close the loops by changing q; return the largest residual, and the Jacobian columns of dependent joints."""
        views, run, iv = source("tables.views"), Run(self.model, {"q": q}, steps=steps), self.model.own_tree.idx_vs
        for C in run.loops():
            H = views.head(self.model.tables.index, C.head)
            rows = range(H.velocity0, H.velocity1)
            if iv[self.ids[0]] in [views.velocity_row(self.model.tables.index, n).iv for n in rows]:
                break
        source("bodies.placements").start(run.params, run.work)
        source("loops.coupling_of_loops").stand_still(run.work, C)
        residual, L = correct(run, q, [C]), views.block(H, C.nk)
        manifold(self.model).affine.apply(q, q)
        return residual, run.work[L.K : L.K + H.nr * L.width].reshape(H.nr, L.width)[:, : H.nd]


def determinant(M: np.ndarray) -> Number:
    """Return the determinant of a small matrix; a matrix with more than 3 rows must be near the identity."""
    if len(M) > 3:
        return M[0, 0] * determinant(M[1:, 1:] - np.outer(M[1:, 0] / M[0, 0], M[0, 1:]))
    minors = (determinant(np.delete(M[1:], k, axis=1)) for k in range(len(M)))
    return sum((-1.0) ** k * M[0, k] * x for k, x in enumerate(minors)) if len(M) else 1.0


def blocks(M: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    linked, parts = np.abs(M.T) @ np.abs(M) > 1e-12 * np.abs(M).max(initial=0.0) ** 2, list[Any]()
    together = np.linalg.matrix_power(linked + np.eye(len(linked)), max(1, len(linked))) > 0.0
    for columns in np.unique(together, axis=0):
        parts.append((np.flatnonzero(np.abs(M[:, columns]).max(axis=1, initial=0.0) > 0.0), np.flatnonzero(columns)))
    return parts


def larger(x: Number, y: Number) -> Any:
    return select(x, y, y, x)


def angle_about(middle: float, y: Number, x: Number) -> Number:
    """Return the polar angle [rad] of the point (x, y), within half a turn of ``middle``."""
    c, s = math.cos(middle), math.sin(middle)
    return middle + arctan2(y * c - x * s, x * c + y * s)


def place(model: ClusterModel, q: np.ndarray, j: int, x: Number) -> None:
    indices = in_q(model.own_tree, j)
    q[indices.start : indices.stop] = [np.cos(x), np.sin(x)] if len(indices) == 2 else [x]


def value(model: ClusterModel, q: np.ndarray, j: int) -> Number:
    """Return the coordinate of a joint; the angle of a continuous joint is within half a turn of the reference."""
    x = q[in_q(model.own_tree, j)]
    return x[0] if len(x) == 1 else angle_about(coordinate(model.own_tree, j, model.q_reference), x[1], x[0])


def constant_ratios(m: Mechanism, ids: Sequence[int]) -> Guess:
    """Return the initial guess for a mechanism without loops; this guess is exact."""
    q0, tree = m.model.q_reference, m.model.own_tree
    G = coupling_jacobian(m.model, m.model.createData(), q0)
    inside = [j for j in m.ids if tree.nvs[j] == 1]
    M = G[[tree.idx_vs[j] for j in inside]] @ np.linalg.pinv(G[[tree.idx_vs[j] for j in ids]])
    offset = m.values(inside, q0) - M @ m.values(ids, q0)

    def guess(q: np.ndarray, known: Sequence[Number]) -> None:
        for j, x in zip(inside, M @ np.array(known, dtype=object) + offset, strict=True):
            place(m.model, q, j, x)

    return guess


def closed_form(m: Mechanism) -> Guess | None:
    """Return the closed form of the inverse map in the assembly mode of the reference pose, or None."""
    loops = loops_of(m.by_joints).clusters
    form = form_of(m.by_joints, next(x for x in loops if set(x.joints) & set(m.joints)))
    if form is None or form.explicit is None:
        return None
    order, explicit = [m.joints.index(j) for j in form.independent], explicit_guess(m.model, form)
    return lambda q, known: explicit(q, [known[k] for k in order])


def explicit_guess(model: ClusterModel, form: ClosedForm) -> Guess:
    """Return a closed form, in the assembly mode of the reference pose, as a function of its independent joints."""
    q0, sides = model.q_reference, list[tuple[float, float]]()
    start, end = ([float(value(model, q0, j)) for j in ids] for ids in (form.independent, form.dependent))
    assert form.explicit is not None
    for row, x in zip(form.explicit(*start), end, strict=True):
        a, b, c, gear = row if isinstance(row, tuple) else (0.0, 1.0, 1.0, 1.0)
        # angle halfway between the two solutions, including full turns, and the sign that selects the solution
        options = [(x / gear - sign * float(_half(a, b, c)), sign) for sign in (1.0, -1.0)]
        sides.append(min(options, key=lambda x: abs(math.remainder(x[0] - math.atan2(a, b), 2.0 * math.pi))))

    def guess(q: np.ndarray, known: Sequence[Number]) -> None:
        assert form.explicit is not None
        for j, row, (middle, sign) in zip(form.dependent, form.explicit(*known), sides, strict=True):
            if isinstance(row, tuple):
                a, b, c, gear = row
                row = gear * (angle_about(middle, a, b) + sign * _half(a, b, c))
            place(model, q, j, row)

    return guess


def _half(a: Number, b: Number, c: Number) -> Number:
    """Return half the angle between the two solutions of a sin x + b cos x = c; 0 or pi if there is none."""
    size = square_root(a * a + b * b)
    square = (size - c) * (size + c)
    return arctan2(square_root(select(square, 0.0, 0.0, square)), c)


def polynomial(m: Mechanism, ids: Sequence[int], known: np.ndarray, q: np.ndarray) -> tuple[Guess, Mapping[int, float]]:
    """Fit polynomials of the joint coordinates ``known``, shape (N, n), to the poses q, shape (N, nq).

    Outside the region, the polynomials are evaluated at the nearest point. The function returns the polynomials and,
    for each index in q, the largest allowed change by Newton's method.
    """
    n = known.shape[1]
    middle, half = 0.5 * (known.max(axis=0) + known.min(axis=0)), 0.5 * np.ptp(known, axis=0) + 1e-12
    powers = [p for p in itertools.product(range(_DEGREE[n] + 1), repeat=n) if sum(p) <= _DEGREE[n]]
    tree = m.model.own_tree
    places = [i for j in m.ids if j not in ids for i in in_q(tree, j)]
    units = [slice(a, b) for _, a, b in manifold(m.model).units if a in places]

    def basis(x: Any) -> list[Any]:
        z = [(x[k] - float(middle[k])) * (1.0 / float(half[k])) for k in range(n)]
        z = [-larger(-larger(a, -_BEYOND), -_BEYOND) for a in z]
        return [math.prod((z[k] for k in range(n) for _ in range(p[k])), start=1.0) for p in powers]

    terms = np.stack(np.broadcast_arrays(*basis(known.T)), axis=1)
    coefficients = np.linalg.lstsq(terms, q[:, places], rcond=None)[0].T
    sliding = [i for j in m.ids if slides(tree, j) for i in in_q(tree, j)]
    stroke = _FAR * max([1e-3, *np.ptp(q[:, sliding], axis=0)])
    deviations = np.abs(terms @ coefficients.T - q[:, places]).max(axis=0)
    reach = {i: max(stroke if i in sliding else _FAR, 4.0 * float(x)) for i, x in zip(places, deviations, strict=True)}

    def guess(q: np.ndarray, known: Sequence[Number]) -> None:
        q[places] = coefficients @ objects(basis(known))
        for unit in units:
            q[unit] = q[unit] / square_root(sum(x * x for x in q[unit]))

    return guess, reach


def newton(m: Mechanism, model: ClusterModel, ids: Sequence[int], known: np.ndarray, q: np.ndarray) -> PoseSolver:
    """Return a solver with a polynomial as guess, and with enough Newton steps to close the loops in all poses q."""
    solver = PoseSolver(m, model, ids, *polynomial(m, ids, known, q))
    inside = [i for j in m.ids for i in in_q(m.model.own_tree, j)]
    for solver.steps in range(2, _MOST + 1):
        pose = solver(Graph().inputs(0, len(ids)))
        outputs = {"q": pose.q[inside], "status": objects([pose.residual, pose.margin])}
        moved, status = Program.of("way", [("known", len(ids))], outputs)(known)
        if (status[:, 0] <= _CLOSED).all() and (status[:, 1] > 0.0).all() and np.abs(moved - q[:, inside]).max() < 1e-6:
            break
    return solver


def region_of(m: Mechanism, given: Any) -> np.ndarray:
    tree, rows = m.model.own_tree, list[Any]()
    for j, start in zip(m.joints, m.values(m.joints, m.model.q_reference), strict=True):
        low, high = (float(x[tree.idx_qs[j]]) for x in (tree.lowerPositionLimit, tree.upperPositionLimit))
        limited, wide = tree.nqs[j] == 1 and -1e3 < low < high < 1e3, 0.02 if slides(tree, j) else 0.5
        rows.append((min(low, start), max(high, start)) if limited else (start - wide, start + wide))
    region = numbers("MotorSpace: region", rows if given is None else given).astype(float)
    if region.shape != (len(rows), 2) or not (np.isfinite(region).all() and (region[:, 0] < region[:, 1]).all()):
        raise ConfigurationError(
            f"MotorSpace: region must contain (low, high) for each of {len(rows)} joints, got {given!r}."
        )
    return region


def explore(m: Mechanism, region: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return x and q of the grid poses that can be reached from the reference pose by a straight motion in x."""
    model, data, reached, start = m.by_joints, m.by_joints.createData(), list[Any](), m.model.q_reference
    columns, v, x0 = m.columns(model), np.zeros(m.model.nv), m.values(m.joints, start)
    for x in itertools.product(*(np.linspace(low, high, _NODES[len(region)]) for low, high in region)):
        v[columns] = x - x0
        with suppress(BranchLost, SingularClusterError):
            q = integrate(model, start, v)
            J, J0 = (m.of_motors(coupling_jacobian(model, data, pose)[:, columns]) for pose in (q, start))
            if np.linalg.det(J) * np.linalg.det(J0) > 0.0 and np.linalg.cond(J) < 1e6:
                reached.append((x, q))
    if len(reached) < 3 ** len(region):
        text = f"MotorSpace: almost no pose in the region {region.tolist()} can be reached from the reference pose"
        raise ConfigurationError(f"{text}, where {[*m.cluster.joints]} are at {x0.tolist()}. Pass a region= around it.")
    return np.array([x for x, _ in reached]), np.array([q for _, q in reached])
