"""Steps on a ground in compiled code: one call per step that touches, one for as many as one likes in flight."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from ...algorithms._shared.points import Points
from ...compiler import entry_points as kernels
from ...kernels.tables import ground as at
from .._compiled import CompiledMoves
from .._forces import Forces
from .plane import Ground
from .points import ContactPoints
from .solver import GOOD, Impulses, NotSolved, step_of
from .stops import Stops

_NONE = np.zeros(0)


class Steps:
    """Moreau's midpoint rule for points of a robot on a plane, with arrays that are kept between calls.

    For models that ``can_move`` by kernels, which are compiled.

    ``begin`` somewhere, write to ``torque``, call ``run(end)``: it returns ``at.DONE`` there. A function of the user
    gives one row of torques, is asked between calls, and ``end`` is the next step. Other answers of ``run`` are for the
    caller, with the state that of the start of step ``step``:

    - ``at.TOUCHING``, ``at.BELOW``: stops (``rooms``) are reached, or guarded shapes near, whose rows this does not
      know. Do the step in Python, and set the state after it; or, after ``BELOW``, write a configuration that was put
      back to ``middle``, and call ``run(end, at.GIVEN)``.
    - ``at.SINGULAR``: independent joints are near a dead centre, others may be better.
    - ``at.FAILED``: something is not finite, or a loop cannot follow. Python says what.

    Attributes:
        q: Configuration, shape (nq,), a view; so are all below.
        v: Velocity, shape (nv,).
        middle: Configuration in the middle of the step, shape (nq,).
        free: Velocity at its end without impulses, shape (nv,); ``v_next``: with them.
        positions: Of the points in the middle, in the world, shape (n, 3), [m]; of balls, where they touch.
        gaps: How far they are open there, shape (n,), [m]; rooms: of the stops, [rad] or [m].
        velocities: J free, shape (3 n,), axes of the world.
        response: M^-1 J', shape (nv, 3 n).
        gram: J M^-1 J', shape (3 n, 3 n).
        impulses: Of the last step in the world, shape (3 n,), [N s].
        laws: By how much they are missed in it: cone [N s], velocity inwards [m/s], power [J]; work of impulses [J].
        samples: A row per step from ``first`` on, filled when it is done: of every ``record``-th one a sample as of
            ``keep_sample``, ``width`` numbers; then gaps, impulses, positions, laws.
        iterations: Of the quick solver in each of these steps.
    """

    def __init__(
        self, on: CompiledMoves, ground: Ground, points: ContactPoints, stops: Stops, guards: ContactPoints, *,
        forces: Forces | None = None, dt: float, steps: int, last: float, torque: np.ndarray, rows: int,
        reach: float, reach_of_stops: float, reach_of_guards: float, slack: float, puts: int = 4, slop: float = 1e-9,
        late: float = 1e-7, switch: bool = True, record: int = 1,
    ) -> None:  # fmt: skip
        """Lay out.

        Args:
            on: Coordinates, whose workspace and tables are used.
            ground: The plane.
            points: What touches it.
            stops: Ends of the ranges of joints.
            guards: Two centres of each shape that is for Python where it is near, and its radius twice: of a disc
                around each of them across their line, or of a ball if they are one.
            forces: What acts by itself, if it is compiled.
            dt: Length of a step, [s].
            steps: How many there are in all.
            last: Length of the last one, [s].
            torque: One row, or one per step, shape (rows, nv); it is read where it is.
            rows: How many samples there is room for.
            reach: Points that are closer in the middle of a step are looked at, [m].
            reach_of_stops: Stops moved by several velocities that are closer end the run, [rad] or [m].
            reach_of_guards: Guarded shapes that are closer end it, [m].
            slack: Points that open faster, the gap over dt counted, are pushed only if others make them close, [m/s].
            puts: How often points are put back in a step.
            slop: How much deeper a point may be, [m].
            late: What closes faster is pushed, [m/s].
            switch: Whether conditions of loops are looked at.
            record: Every so many steps a sample is taken.
        """
        model, data, n, m = on.model, on.data, len(points), 3 * len(points)
        nq, nv = model.nq, model.nv
        self._on, self.first, self.solve = on, 0, Impulses()
        self.reach, self.normal = reach, ground.axes[2]
        self._friction = np.full(n, ground.friction)
        ids = points.joints.tolist()
        every = [*ids, *guards.joints.tolist()]
        where, whole = Points(model, every, columns=False, rates=False), Points(model, ids)
        offsets = -points.radii[:, None] * ground.axes[2]
        whole.put(points.places, offsets)
        centres = np.zeros((len(guards), 3))
        where.put(np.concatenate([points.places, guards.places]), np.concatenate([offsets, centres]))
        radii = guards.radii[::2].copy()
        self.gram, self.response, self.positions, self.velocities = whole.arguments[3:]
        no_gram, no_response, places, no_velocities = where.arguments[3:]
        self.q, self.middle, other, spare, held = (np.zeros(nq) for _ in range(5))
        self.v, self.free, self.v_next, x, a, mapped, still = (np.zeros(nv) for _ in range(7))
        self.gaps, last_impulses, self.impulses, ends = np.zeros(n), np.zeros(m), np.zeros(m), np.zeros(m)
        self._near, chosen, stay = np.zeros((3, n), dtype=np.int64)
        self._clock, self._numbers = np.zeros(at.CLOCK, dtype=np.int64), np.zeros(at.NUMBERS)
        self._A, B = np.zeros((2, m * m))
        self._g, self._guess, self._answer, tried, found, change = np.zeros((6, m))
        self.rooms, self.laws = np.zeros(len(stops)), self._numbers[at.CONE : at.CONE + 4]
        self.width = 4 + nq + 3 * nv + (2 * model.own_tree.nv if on.at.size else 0)
        self.samples = np.zeros((rows, self.width + 7 * n + 4))
        self.iterations = np.zeros(rows, dtype=np.int64)
        self._clock[[at.STEPS, at.MOST_PUTS, at.RECORD, at.WIDTH]] = steps, puts, record, self.width
        self._numbers[: at.SCALE] = (
            dt, last, ground.height, reach, reach_of_stops, slop, slack, late, ground.friction, GOOD
        )  # fmt: skip
        self._numbers[at.REACH_OF_GUARDS] = reach_of_guards
        self._numbers[at.AXES :] = ground.axes.ravel()
        calls = np.concatenate([on.calls, np.zeros(at.GROUND_CALLS - at.WHERE, dtype=np.int64)])
        if every:
            calls[at.WHERE] = data._ready("points", self.q, self.v, *where.arguments)
        if n:
            calls[at.WHOLE] = data._ready("points", self.q, self.v, *whole.arguments)
        conditions = np.array([c.at for c in model.tables.conditions], dtype=np.int64)
        limits = on.limits**2 if switch else np.full(len(on.limits), np.inf)
        block = kernels.Block([
            data._pointers["ddq"].address, data._work, calls, on.plan, *on.table(forces), self._clock, on.ratios,
            conditions, limits, on.coupling, on.energies, self._numbers, torque, self.samples.reshape(-1), self.q,
            self.v, self.middle, self.free, self.v_next, other, spare, held, x, a, mapped, still,
            *where.arguments[:2], places, radii, *whole.arguments[:3], no_gram, no_response, no_velocities,
            *whole.arguments[3:], ends, self.gaps, last_impulses, self.impulses, self._near, chosen, stay, self._A, B,
            self._g, self._guess, self._answer, tried, found, change, stops.table, stops.bounds, stops.rates,
            self.rooms,
        ])  # fmt: skip
        self._block, self._call = block, kernels.ground.function()
        self._systems = [self._system(k) for k in range(n + 1)]

    @property
    def step(self) -> int:
        """The present step."""
        return int(self._clock[at.STEP])

    def begin(self, k: int, q: np.ndarray, v: np.ndarray) -> None:
        """Go on from a state at the start of step k, which the first row of samples is for from now on."""
        self._clock[[at.STEP, at.FIRST]] = self.first = k
        self.iterations[:] = 0
        self.q[:], self.v[:] = q, v

    def run(self, end: int, phase: int = at.BEGIN) -> int:
        """Run until step ``end``, for which there must be samples, or until the caller is needed; return why it ended.

        Raises:
            NotSolved: No impulses were found in step ``step``.
        """
        clock, call, address = self._clock, self._call, self._block.address
        clock[at.END] = end
        while True:
            clock[at.PHASE] = phase
            code = call(address)
            if code == at.TOUCHING and not clock[at.STOPS]:
                self._systems[clock[at.NEAR]][0]()
                phase = at.SOLVED
            elif code == at.MISSED:
                self._solve_well(int(clock[at.NEAR]))
                phase = at.BEST
            elif code == at.BELOW and not clock[at.STOPS]:
                phase = at.SHIFTED if self._put_back(int(clock[at.NEAR])) else at.GIVEN
            else:
                return int(code)

    def _system(self, m: int) -> tuple[Callable[[], None], np.ndarray, np.ndarray]:
        """Return what solves the system of m points quickly, and its matrix and right side."""
        k, numbers = 3 * m, self._numbers
        A, g, guess, answer = self._A[: k * k].reshape(k, k), self._g[:k], self._guess[:k], self._answer[:k]
        solver, settings, result = self.solve.quick
        sets, operator = self.solve.sets(self._friction[:m], 0), pin.DelassusOperatorDense

        def solve() -> None:
            settings.over_relaxation = step_of(numbers[at.RELAXATION])
            result.setConstraintImpulseGuess(guess)
            solver.solve(operator(A), g, *sets, settings, result)
            answer[:] = result.retrieveConstraintImpulses()
            self.iterations[self.step - self.first] = result.iterations

        return solve, A, g

    def _solve_well(self, m: int) -> None:
        """Solve a system again, with all that there is; what was found, the kernel has found too bad."""
        _, A, g = self._systems[m]
        self._answer[: 3 * m] = self.solve.solve(A, g, self._friction[:m], self._answer[: 3 * m].copy())
        self.iterations[self.step - self.first] += self.solve.iterations

    def _put_back(self, m: int) -> bool:
        """Find by how much points are pushed out of the ground; whether they are."""
        A, gaps, answer = self._A[: m * m].reshape(m, m), self._g[:m], self._answer[:m]
        solver, settings, result = self.solve.quick
        settings.over_relaxation = 1.0
        result.setConstraintImpulseGuess(self._guess[:m])
        solver.solve(pin.DelassusOperatorDense(A), gaps, *self.solve.sets(_NONE, m), settings, result)
        answer[:] = result.retrieveConstraintImpulses()
        if not np.abs(np.minimum(answer, A @ answer + gaps)).max() <= GOOD:
            try:
                answer[:] = self.solve.solve(A, gaps, _NONE)
            except NotSolved:
                return False  # nothing moves it out: the step itself will say so
        return bool(answer.max() > 0.0)
