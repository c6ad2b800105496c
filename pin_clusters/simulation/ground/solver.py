"""Impulses that obey Signorini's and Coulomb's laws: Pinocchio's solvers, and guards around what they do not look at.

The unknown are impulses l with u = G l + g, the relative velocities after them. Per contact l lies in the cone of
friction, u + mu |u_T| n in its dual, and the two are orthogonal (De Saxce); per stop l >= 0, u >= 0, l u = 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ...errors import SimulationError

TOLERANCE = 1e-7
"""[m/s]: by how much velocities may miss the laws, before another solver goes on."""
GOOD = 3.0 * TOLERANCE
"""[m/s]: by how much an answer may miss them: tolerances of solvers are of residuals of their own."""
ENOUGH = 1e-5
"""[m/s], or of the largest velocity: by how much they may miss them in the end; beyond it a step is not solved."""
_SWEEPS, _STEPS, _MANY = 100, 500, 20000
_POWER = 1e-3
"""Of the tolerance, for ADMM: where impulses are small, larger products hide velocities beyond it."""
_MEMORY = 10
"""Steps that Anderson's acceleration of ADMM looks back: a tenth of the iterations, and most of what failed."""
_ROOM = 1.4
"""Of what PGS may step along a tangent, beside the least of what converges; 2 is the limit of one contact alone."""


class Missed(NamedTuple):
    """By how much the laws are missed; zero is perfect."""

    cone: float  # impulse outside of its cone, or pulling [N s]
    gap: float  # velocity into the ground, or beyond a stop [m/s]
    power: float  # impulse times velocity that should be zero [J]


class NotSolved(Exception):  # noqa: N818 - says what happened
    """No impulses were found that obey the laws."""

    def __init__(self, worst: float, iterations: int) -> None:
        self.worst, self.iterations = worst, iterations


class Impulses:
    """Pinocchio's projected Gauss-Seidel, and its ADMM from where that has come.

    The first is quick. It is slow where points are redundant, and diverges where a contact is over twice as heavy along
    one tangent as along the other unless it takes smaller steps.

    Attributes:
        iterations: Of the last solve.
        quick: Projected Gauss-Seidel: solver, settings, result.
    """

    def __init__(self) -> None:
        """Make the solvers.

        Raises:
            SimulationError: This Pinocchio has no such solvers.
        """
        if not hasattr(pin, "PGSConstraintSolver"):
            raise SimulationError(
                f"simulate: ground and limits need the solvers of Pinocchio 4.1, and this is {pin.__version__}. "
                "Install it: pip install 'pin>=4.1'."
            )
        self.iterations = 0
        self._known: dict[Any, Any] = {}
        self._any = pin.Model()
        self._body = self._any.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "any")
        self.quick = pin.PGSConstraintSolver(), pin.PGSSolverSettings(), pin.PGSSolverResult()
        admm, again = [(pin.ADMMConstraintSolver(), pin.ADMMSolverSettings(), pin.ADMMSolverResult()) for _ in range(2)]
        for (_, s, _), most, power in ((self.quick, _SWEEPS, 0.01), (admm, _STEPS, _POWER), (again, _MANY, _POWER)):
            s.absolute_feasibility_tol, s.absolute_complementarity_tol = TOLERANCE, power * TOLERANCE
            s.relative_feasibility_tol = s.relative_complementarity_tol = 1e-12  # little progress is no convergence
            s.max_iterations = most
        for _, s, _ in (admm, again):
            s.mu_prox, s.warmstart_rho_with_previous_result = 1e-10, s is admm[1]
        admm[1].anderson_capacity = _MEMORY
        # a cold start at last: a guess can lead astray, and so can acceleration
        self._stages = (self.quick, False), (admm, False), (admm, True), (again, True)

    def solve(self, G: np.ndarray, g: np.ndarray, friction: np.ndarray, guess: np.ndarray | None = None) -> np.ndarray:
        """Return impulses.

        Args:
            G: Delassus matrix, shape (n, n): three rows per contact, normal last, then one per stop.
            g: Velocities without impulses, shape (n,).
            friction: Of each contact, shape (contacts,).
            guess: Impulses near the solution, shape (n,).

        Raises:
            NotSolved: None were found.
            FloatingPointError: The motion is not finite.
        """
        n = len(g)
        if not (np.isfinite(G).all() and np.isfinite(g).all()):  # PGS calls NaN converged
            raise FloatingPointError("simulate: the motion at a contact is not finite")
        self.iterations = 0
        found = np.zeros(n) if guess is None else guess
        trace = float(G.trace())
        if n == 0 or not trace > 0.0:  # ADMM on no rows crashes; what cannot move takes no impulse
            return np.zeros(n)
        scale = n / trace  # tolerances are absolute: so all of them are velocities [m/s]
        scaled, found = scale * G, found / scale
        sets = self.sets(friction, n - 3 * len(friction))
        self.quick[1].over_relaxation = _relaxation(scaled, len(friction))
        worst, best = np.inf, found
        for (solver, settings, result), cold in self._stages:
            result.setConstraintImpulseGuess(np.zeros(n) if cold else best)  # is forgotten by each call
            # an operator of its own: ADMM leaves its damping there
            solver.solve(pin.DelassusOperatorDense(scaled), g, *sets, settings, result)
            found, self.iterations = result.retrieveConstraintImpulses(), self.iterations + result.iterations
            missed = distance(found, scaled @ found + g, friction)  # residuals of solvers are of other things
            if missed < worst:
                worst, best = missed, found
            if worst <= GOOD:
                break
        if not worst <= ENOUGH * max(1.0, float(np.abs(g).max())):
            raise NotSolved(worst, self.iterations)
        return scale * best

    def sets(self, friction: np.ndarray, stops: int) -> Any:
        """Return the sets of contacts and stops: nothing of these objects counts but their sets."""
        key = friction.tobytes(), stops
        if key not in self._known:
            if len(self._known) > 1000:
                self._known.clear()
            models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
            for mu in friction.tolist():
                cone = pin.PointContactConstraintModel(self._any, self._body)
                cone.setFriction(mu)  # before it is copied
                models.append(cone)
            if stops:
                one, at, other, ids = np.ones(1), pin.SE3.Identity(), pin.Model(), pin.StdVec_Index()
                for i in range(stops):
                    ids.append(other.addJoint(0, pin.JointModelPX(), at, f"stop {i}", one, one, 0 * one, np.inf * one))
                models.append(pin.JointLimitConstraintModel(other, ids))
            datas.extend([model.createData() for model in models])
            assert sum(m.residualSize() for m in models) == 3 * len(friction) + stops  # Pinocchio does not look
            self._known[key] = models, datas
        return self._known[key]


def _relaxation(G: np.ndarray, contacts: int) -> float:
    """Return how far PGS may go: it steps tangents by 1 / min(Gxx, Gyy), which is too far where one is heavy."""
    if not contacts:
        return 1.0
    at = np.arange(0, 3 * contacts, 3)
    x, y, xy = G[at, at], G[at + 1, at + 1], G[at, at + 1]
    largest = 0.5 * (x + y) + np.hypot(0.5 * (x - y), xy)
    with np.errstate(divide="ignore", invalid="ignore"):
        least = float(np.nanmin(np.where(largest > 0.0, np.minimum(x, y) / largest, 1.0)))
    return step_of(least)


def step_of(least: float) -> float:
    """Return the same from the least ratio of what a contact weighs along a tangent to the most it weighs."""
    return min(1.0, max(_ROOM * least, 1e-2))


def distance(impulses: np.ndarray, end: np.ndarray, friction: np.ndarray) -> float:
    """Return how far scaled impulses are from their own projection: |l - P(l - u - mu |u_T| n)|, 0 if all laws hold.

    Args:
        impulses: Over the scale that makes them velocities, shape (n,), [m/s].
        end: Velocities with them, shape (n,), [m/s].
        friction: Of each contact.
    """
    if not np.isfinite(impulses).all():  # what is NaN is not larger than anything
        return np.inf
    k = 3 * len(friction)
    l, u = impulses[:k].reshape(-1, 3), end[:k].reshape(-1, 3)
    worst = float(np.abs(np.minimum(impulses[k:], end[k:])).max(initial=0.0))
    if not k:
        return worst
    to = l - u
    to[:, 2] -= friction * np.hypot(u[:, 0], u[:, 1])
    return max(worst, float(np.abs(l - in_cones(to, friction)).max()))


def in_cones(x: np.ndarray, friction: np.ndarray) -> np.ndarray:
    """Return the nearest points of the cones |x_T| <= mu x_n, shape (contacts, 3)."""
    side, n = np.hypot(x[:, 0], x[:, 1]), x[:, 2]
    inside, below = side <= friction * n, friction * side <= -n
    up = np.where(below, 0.0, (n + friction * side) / (1.0 + friction**2))
    with np.errstate(divide="ignore", invalid="ignore"):
        turn = np.where(side > 0.0, friction * up / side, 0.0)
    return np.where(inside[:, None], x, np.stack([turn * x[:, 0], turn * x[:, 1], up], axis=1))


def missed(impulses: np.ndarray, end: np.ndarray, friction: np.ndarray) -> Missed:
    """Return by how much the laws are missed, of impulses [N s] and velocities with them [m/s]."""
    k = 3 * len(friction)
    l, u, one, gone = impulses[:k].reshape(-1, 3), end[:k].reshape(-1, 3), impulses[k:], end[k:]
    push, slide = np.hypot(l[:, 0], l[:, 1]), np.hypot(u[:, 0], u[:, 1])
    lost = np.abs(np.sum(l * u, axis=1) + friction * slide * l[:, 2])
    return Missed(
        max(float(np.max(push - friction * l[:, 2], initial=0.0)), float(np.max(-one, initial=0.0))),
        max(float(np.max(-u[:, 2], initial=0.0)), float(np.max(-gone, initial=0.0))),
        max(float(np.max(lost, initial=0.0)), float(np.max(np.abs(one * gone), initial=0.0))),
    )
