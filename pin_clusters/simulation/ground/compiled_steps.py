"""Steps on a ground in compiled code: one call per step that touches, one for as many as one likes in flight."""

from __future__ import annotations

import weakref
from collections.abc import Callable

import numpy as np
import pinocchio as pin

from ...algorithms._shared.points import Points
from ...compiler import entry_points as kernels
from ...kernels.tables import ground as at
from ...model import ClusterModel, with_loops
from .._compiled import CompiledMoves
from .._settings import Settings
from .near import LATE, PUTS, SLACK, SLOP, SPEED
from .plane import Ground
from .points import ContactPoints
from .solver import GOOD, Impulses, NotSolved, step_of

_NONE = np.zeros(0)
_SPEED_OF_STOPS = 100.0
"""[rad/s] or [m/s]: stops of linkages that a joint of this speed does not reach in a step are not looked at."""
_SPEED_OF_GUARDS = 5.0
"""[m/s]: the same of shapes for which coal is asked."""


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
        self,
        on: CompiledMoves,
        settings: Settings,
        guards: ContactPoints,
        torque: np.ndarray,
        rows: int,
        *,
        slack: float = SLACK,
    ) -> None:
        """Lay out.

        Args:
            on: Coordinates, whose workspace and tables are used.
            settings: What is to be run, with a world of points on a plane and stops.
            guards: Two centres of each shape that is for Python where it is near, and its radius twice: of a disc
                around each of them across their line, or of a ball if they are one.
            torque: One row, or one per step, shape (rows, nv); it is read where it is.
            rows: How many samples there is room for.
            slack: Points that open faster, the gap over dt counted, are pushed only if others make them close, [m/s].
        """
        s, world = settings, settings.world
        assert world is not None
        ground, n = world.ground or Ground(), len(world.points)
        self._on, self.first, self.solve = on, 0, Impulses()
        self.reach, self.normal, self._friction = SPEED * s.dt, ground.axes[2], np.full(n, ground.friction)
        robot, state, system = _robot(on, s), _state(on.model), _system(n)
        points = _points(on, world.points, guards, ground, robot.calls)
        stops = at.Stops(world.stops.table, world.stops.bounds, world.stops.rates, rooms=np.zeros(len(world.stops)))
        self.width = 4 + on.model.nq + 3 * on.model.nv + (2 * on.model.own_tree.nv if on.at.size else 0)
        self.samples = np.zeros((rows, self.width + 7 * n + 4))
        self.iterations = np.zeros(rows, dtype=np.int64)
        self._clock, self._numbers = np.zeros(at.CLOCK, dtype=np.int64), _numbers(s, ground, slack)
        self._clock[[at.STEPS, at.MOST_PUTS, at.RECORD, at.WIDTH]] = s.steps, PUTS, s.record, self.width
        run = at.Run(self._clock, self._numbers, torque, self.samples.reshape(-1))
        self._block = kernels.Block([x for part in (robot, state, points, system, stops, run) for x in part])
        self._call, self._system = kernels.ground.function(), system
        self.q, self.v, self.middle, self.free, self.v_next = state.q, state.v, state.middle, state.free, state.v_next
        self.gram, self.response, self.velocities = points.gram, points.response, points.velocities
        self.positions, self.gaps, self.impulses = points.positions, points.gaps, points.impulses
        self.rooms, self.laws = stops.rooms, self._numbers[at.CONE : at.WORK + 1]
        self._systems = [self._solver_of(m) for m in range(n + 1)]

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

    def _solver_of(self, m: int) -> tuple[Callable[[], None], np.ndarray, np.ndarray]:
        """Return what solves the system of m points quickly, and its matrix and right side."""
        k, numbers = 3 * m, self._numbers
        own = self._system
        A, g, guess, answer = own.A[: k * k].reshape(k, k), own.g[:k], own.guess[:k], own.answer[:k]
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
        answer = self._system.answer[: 3 * m]
        answer[:] = self.solve.solve(A, g, self._friction[:m], answer.copy())
        self.iterations[self.step - self.first] += self.solve.iterations

    def _put_back(self, m: int) -> bool:
        """Find by how much points are pushed out of the ground; whether they are."""
        own = self._system
        A, gaps, answer = own.A[: m * m].reshape(m, m), own.g[:m], own.answer[:m]
        solver, settings, result = self.solve.quick
        settings.over_relaxation = 1.0
        result.setConstraintImpulseGuess(own.guess[:m])
        solver.solve(pin.DelassusOperatorDense(A), gaps, *self.solve.sets(_NONE, m), settings, result)
        answer[:] = result.retrieveConstraintImpulses()
        if not np.abs(np.minimum(answer, A @ answer + gaps)).max() <= GOOD:
            try:
                answer[:] = self.solve.solve(A, gaps, _NONE)
            except NotSolved:
                return False  # nothing moves it out: the step itself will say so
        return bool(answer.max() > 0.0)


def _robot(on: CompiledMoves, settings: Settings) -> at.Robot:
    """Return what moves and accelerates a robot; ``calls`` has no points yet."""
    space, table = on.space, on.table(settings.passive)
    return at.Robot(
        work=space.work,
        calls=np.concatenate([space.calls, np.zeros(at.GROUND_CALLS - at.WHERE, dtype=np.int64)]),
        plan=on.plan,
        ratios=on.ratios,
        terms=table.terms,
        factors=table.factors,
        rows=table.rows,
        coupling=space.coupling,
        energies=space.energies,
        conditions=on.at,
        limits=on.limits**2 if settings.switch else np.full(len(on.limits), np.inf),
    )


def _state(model: ClusterModel) -> at.State:
    q, middle, other, spare, held = np.zeros((5, model.nq))
    v, free, v_next, a, x, mapped, still = np.zeros((7, model.nv))
    return at.State(
        q=q,
        v=v,
        middle=middle,
        free=free,
        v_next=v_next,
        a=a,
        x=x,
        other=other,
        spare=spare,
        held=held,
        mapped=mapped,
        still=still,
    )


def _points(
    on: CompiledMoves, points: ContactPoints, guards: ContactPoints, ground: Ground, calls: np.ndarray
) -> at.Points:
    """Return what is asked of points and of centres of guards, and make what answers ready in ``calls``."""
    model, n, normal = on.model, len(points), ground.axes[2]
    ids = points.joints.tolist()
    every = [*ids, *guards.joints.tolist()]
    where, whole = _asked(model, every, whole=False), _asked(model, ids, whole=True)
    offsets = -points.radii[:, None] * normal
    whole.put(points.places, offsets)
    where.put(np.concatenate([points.places, guards.places]), np.concatenate([offsets, np.zeros((len(guards), 3))]))
    q, v, wishes = np.zeros(model.nq), np.zeros(model.nv), {} if on.functions is None else on.functions.wishes
    for place, asked, count in ((at.WHERE, where, len(every)), (at.WHOLE, whole, n)):
        if count:
            special = wishes.get("points")
            generic = kernels.of("points", with_loops(model))
            calls[place] = generic.address() if special is None else special.address(q, v, *asked.arguments)
    index, numbers, panel, no_gram, no_response, places, no_velocities = where.arguments
    whole_index, whole_numbers, whole_panel, gram, response, positions, velocities = whole.arguments
    ends, last, impulses = np.zeros((3, 3 * n))
    return at.Points(
        where=index, where_numbers=numbers, where_panel=panel, places=places, radii=guards.radii[::2].copy(),
        no_gram=no_gram, no_response=no_response, no_velocities=no_velocities, whole=whole_index,
        whole_numbers=whole_numbers, panel=whole_panel, gram=gram, response=response, positions=positions,
        velocities=velocities, ends=ends, gaps=np.zeros(n), last=last, impulses=impulses,
    )  # fmt: skip


def _asked(model: ClusterModel, joints: list[int], *, whole: bool) -> Points:
    """Return points of joints; how they are laid out is kept as long as the model."""
    key = id(model.tables.params)
    if key not in _layouts:
        _layouts[key] = {}
        weakref.finalize(model.tables.params, _layouts.pop, key, None)
    known, name = _layouts[key], (tuple(joints), whole)
    if name not in known:
        known[name] = Points(model, joints, columns=whole, rates=whole)
    return known[name].again()


_layouts: dict[int, dict[tuple[tuple[int, ...], bool], Points]] = {}


def _system(n: int) -> at.System:
    near, chosen, stay = np.zeros((3, n), dtype=np.int64)
    A, B = np.zeros((2, 9 * n * n))
    g, guess, answer, tried, found, change = np.zeros((6, 3 * n))
    return at.System(
        near=near,
        chosen=chosen,
        A=A,
        g=g,
        guess=guess,
        answer=answer,
        B=B,
        tried=tried,
        found=found,
        change=change,
        stay=stay,
    )


def _numbers(settings: Settings, ground: Ground, slack: float) -> np.ndarray:
    s, found = settings, np.zeros(at.NUMBERS)
    for place, x in (
        (at.LENGTH, s.dt),
        (at.LAST, s.step(s.steps - 1)),
        (at.HEIGHT, ground.height),
        (at.REACH, SPEED * s.dt),
        (at.REACH_OF_STOPS, _SPEED_OF_STOPS * s.dt),
        (at.REACH_OF_GUARDS, _SPEED_OF_GUARDS * s.dt),
        (at.SLOP, SLOP),
        (at.SLACK, slack),
        (at.LATE, LATE),
        (at.FRICTION, ground.friction),
        (at.MOST_MISSED, GOOD),
    ):
        found[place] = x
    found[at.AXES :] = ground.axes.ravel()
    return found
