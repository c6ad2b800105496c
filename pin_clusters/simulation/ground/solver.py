"""Impulses that satisfy Signorini's condition and Coulomb's law, computed by Pinocchio's solvers and checked here.

The unknowns are the impulses l. The relative velocities after the impulses are u = G l + g. For each contact, l lies in
the friction cone, u + mu |u_T| n lies in the dual cone, and the two vectors are orthogonal (De Saxce). Stops require
l >= 0, u >= 0 and l u = 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ...errors import SimulationError

TOLERANCE = 1e-7
"""Target violation of the contact laws for each solver, [m/s]."""
GOOD = 3.0 * TOLERANCE
"""Violation [m/s] above which the next solver runs; larger than the target, because solvers use other residuals."""
ENOUGH = 1e-5
"""Violation above which a step fails after all solvers, [m/s] or relative to the largest velocity."""
_SWEEPS, _STEPS, _MANY = 100, 500, 20000
_POWER = 1e-3
"""Ratio of ADMM's complementarity tolerance to ``TOLERANCE``; larger ratios allow large errors of small impulses."""
_MEMORY = 10
"""Memory of ADMM's Anderson acceleration, which divides the number of iterations by ten and solves more steps."""
_MARGIN = 1.4
"""PGS relaxation factor / smallest ratio of tangential apparent masses; for a single contact, PGS converges below 2."""


class Violation(NamedTuple):
    """Violations of the contact laws; all zero for an exact solution."""

    cone: float  # distance of an impulse from its cone, or pulling impulse of a stop [N s]
    gap: float  # velocity into the ground or a stop [m/s]
    power: float  # product of impulse and velocity, which should be zero [J]


class NotSolved(Exception):  # noqa: N818 - internal, named after the event
    """The solvers found no impulses that satisfy the contact laws."""

    def __init__(self, worst: float, iterations: int) -> None:
        self.worst, self.iterations = worst, iterations


class Impulses:
    """Pinocchio's projected Gauss-Seidel solver (PGS), followed by its ADMM solver, which starts from the PGS result.

    PGS is fast, except for redundant points. If the apparent mass of a contact along one tangent is more than twice the
    mass along the other tangent, PGS needs a smaller relaxation factor; otherwise, it diverges.

    Attributes:
        iterations: Number of iterations of the last solve.
        quick: Solver, settings and result of projected Gauss-Seidel.
    """

    def __init__(self) -> None:
        """Create the solvers; raise ``SimulationError`` if this version of Pinocchio does not contain them."""
        if not hasattr(pin, "PGSConstraintSolver"):
            raise SimulationError(
                f"simulate: ground and limits need Pinocchio 4.1 or later, but version {pin.__version__} is installed. "
                "Upgrade: pip install 'pin>=4.1'."
            )
        self.iterations = 0
        self._known: dict[Any, Any] = {}
        self._any = pin.Model()
        self._body = self._any.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "any")
        self.quick = pin.PGSConstraintSolver(), pin.PGSSolverSettings(), pin.PGSSolverResult()
        admm, final = [(pin.ADMMConstraintSolver(), pin.ADMMSolverSettings(), pin.ADMMSolverResult()) for _ in range(2)]
        for (_, s, _), limit, power in ((self.quick, _SWEEPS, 0.01), (admm, _STEPS, _POWER), (final, _MANY, _POWER)):
            s.absolute_feasibility_tol, s.absolute_complementarity_tol = TOLERANCE, power * TOLERANCE
            # The relative tolerances are tiny because slow progress must not count as convergence.
            s.relative_feasibility_tol = s.relative_complementarity_tol = 1e-12
            s.max_iterations = limit
        for _, s, _ in (admm, final):
            s.mu_prox, s.warmstart_rho_with_previous_result = 1e-10, s is admm[1]
        admm[1].anderson_capacity = _MEMORY
        # True: start without a guess. A guess or Anderson acceleration can prevent convergence; ``final`` uses neither.
        self._stages = (self.quick, False), (admm, False), (admm, True), (final, True)

    def solve(self, G: np.ndarray, g: np.ndarray, friction: np.ndarray, guess: np.ndarray | None = None) -> np.ndarray:
        """Compute the impulses.

        Args:
            G: Delassus matrix, shape (n, n): three rows per contact, normal last, then one row per stop.
            g: Relative velocities if no impulses act, shape (n,), [m/s] or [rad/s].
            friction: Friction coefficient of each contact, shape (contacts,).
            guess: Initial guess of the impulses, shape (n,).

        Raises:
            NotSolved: The solvers found no impulses that satisfy the laws.
            FloatingPointError: The motion is not finite.
        """
        n = len(g)
        if not (np.isfinite(G).all() and np.isfinite(g).all()):  # PGS reports convergence for NaN
            raise FloatingPointError("simulate: the motion at a contact is not finite")
        self.iterations = 0
        impulses = np.zeros(n) if guess is None else guess
        trace = float(G.trace())
        if n == 0 or not trace > 0.0:  # ADMM crashes without rows; immovable contacts need no impulse
            return np.zeros(n)
        scale = n / trace  # the scaled unknowns are velocities [m/s], because tolerances are absolute
        scaled, impulses = scale * G, impulses / scale
        sets = self.sets(friction, n - 3 * len(friction))
        self.quick[1].over_relaxation = _relaxation(scaled, len(friction))
        worst, best = np.inf, impulses
        for (solver, settings, result), cold in self._stages:
            result.setConstraintImpulseGuess(
                np.zeros(n) if cold else best
            )  # set the guess again, because each call discards it
            # Each call needs a new operator, because ADMM stores its damping in the operator.
            solver.solve(pin.DelassusOperatorDense(scaled), g, *sets, settings, result)
            impulses, self.iterations = result.retrieveConstraintImpulses(), self.iterations + result.iterations
            # The laws are checked here, because the solvers' own residuals measure other quantities.
            error = distance(impulses, scaled @ impulses + g, friction)
            if error < worst:
                worst, best = error, impulses
            if worst <= GOOD:
                break
        if not worst <= ENOUGH * max(1.0, float(np.abs(g).max())):
            raise NotSolved(worst, self.iterations)
        return scale * best

    def sets(self, friction: np.ndarray, stops: int) -> Any:
        """Return Pinocchio's constraint sets for contacts and stops; the joints in them are placeholders."""
        key = friction.tobytes(), stops
        if key not in self._known:
            if len(self._known) > 1000:
                self._known.clear()
            models, datas = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
            for mu in friction.tolist():
                cone = pin.PointContactConstraintModel(self._any, self._body)
                cone.setFriction(mu)  # set the friction before append, which copies the model
                models.append(cone)
            if stops:
                u, origin, tree, ids = np.ones(1), pin.SE3.Identity(), pin.Model(), pin.StdVec_Index()
                for i in range(stops):
                    ids.append(tree.addJoint(0, pin.JointModelPX(), origin, f"stop {i}", u, u, 0 * u, np.inf * u))
                models.append(pin.JointLimitConstraintModel(tree, ids))
            datas.extend([model.createData() for model in models])
            # This check is necessary because Pinocchio does not check the sizes.
            assert sum(m.residualSize() for m in models) == 3 * len(friction) + stops
            self._known[key] = models, datas
        return self._known[key]


def _relaxation(G: np.ndarray, contacts: int) -> float:
    """Compute the relaxation factor; PGS steps of 1 / min(Gxx, Gyy) are too long if the apparent masses differ."""
    if not contacts:
        return 1.0
    first_rows = np.arange(0, 3 * contacts, 3)
    x, y, xy = G[first_rows, first_rows], G[first_rows + 1, first_rows + 1], G[first_rows, first_rows + 1]
    largest = 0.5 * (x + y) + np.hypot(0.5 * (x - y), xy)
    with np.errstate(divide="ignore", invalid="ignore"):
        least = float(np.nanmin(np.where(largest > 0.0, np.minimum(x, y) / largest, 1.0)))
    return step_of(least)


def step_of(least: float) -> float:
    """Compute the relaxation factor of PGS from the smallest ratio of tangential apparent masses."""
    return min(1.0, max(_MARGIN * least, 1e-2))


def distance(impulses: np.ndarray, end: np.ndarray, friction: np.ndarray) -> float:
    """Compute |l - P(l - u - mu |u_T| n)|, where P projects onto the cones; 0 if all laws hold. The unit is [m/s]."""
    if not np.isfinite(impulses).all():  # the comparisons below do not detect NaN
        return np.inf
    k = 3 * len(friction)
    l, u = impulses[:k].reshape(-1, 3), end[:k].reshape(-1, 3)
    worst = float(np.abs(np.minimum(impulses[k:], end[k:])).max(initial=0.0))
    if not k:
        return worst
    projected = l - u
    projected[:, 2] -= friction * np.hypot(u[:, 0], u[:, 1])
    return max(worst, float(np.abs(l - in_cones(projected, friction)).max()))


def in_cones(x: np.ndarray, friction: np.ndarray) -> np.ndarray:
    """Project x onto the cones |x_T| <= mu x_n, shape (contacts, 3)."""
    tangential, n = np.hypot(x[:, 0], x[:, 1]), x[:, 2]
    inside, below = tangential <= friction * n, friction * tangential <= -n
    normal = np.where(below, 0.0, (n + friction * tangential) / (1.0 + friction**2))
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(tangential > 0.0, friction * normal / tangential, 0.0)
    return np.where(inside[:, None], x, np.stack([scale * x[:, 0], scale * x[:, 1], normal], axis=1))


def violation(impulses: np.ndarray, end: np.ndarray, friction: np.ndarray) -> Violation:
    """Compute how much the impulses [N s] and the velocities after the impulses [m/s] violate the contact laws."""
    k = 3 * len(friction)
    l, u, stop_impulses, stop_velocities = impulses[:k].reshape(-1, 3), end[:k].reshape(-1, 3), impulses[k:], end[k:]
    push, slide = np.hypot(l[:, 0], l[:, 1]), np.hypot(u[:, 0], u[:, 1])
    products = np.abs(np.sum(l * u, axis=1) + friction * slide * l[:, 2])
    return Violation(
        max(float(np.max(push - friction * l[:, 2], initial=0.0)), float(np.max(-stop_impulses, initial=0.0))),
        max(float(np.max(-u[:, 2], initial=0.0)), float(np.max(-stop_velocities, initial=0.0))),
        max(float(np.max(products, initial=0.0)), float(np.max(np.abs(stop_impulses * stop_velocities), initial=0.0))),
    )
