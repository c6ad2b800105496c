"""Compiled steps on a ground: one call runs a single step with contact, or many steps without contact."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pinocchio as pin

from ...algorithms._shared.points import Points
from ...compiler import entry_points as kernels
from ...kernels.tables import ground as at
from ...model import ClusterModel, once_per, with_loops
from .._compiled import CompiledMoves
from .._settings import Settings
from .near import LATE, PUTS, SLACK, SLOP, SPEED
from .plane import Ground
from .points import ContactPoints
from .solver import GOOD, Impulses, NotSolved, step_of

_NONE = np.zeros(0)
_SPEED_OF_STOPS = 100.0
"""Speed of a joint [rad/s] or [m/s]; stops of linkages are checked if this speed suffices to reach them in a step."""
_SPEED_OF_GUARDS = 5.0
"""Speed of a body [m/s]; shapes that need coal are checked if this speed suffices to reach the ground in a step."""


class Steps:
    """Moreau's midpoint rule for contacts between a robot's points and a plane; all calls share the same arrays.

    The class requires compiled kernels and a model that ``can_move`` accepts.

    Call ``begin`` once, write to ``torque``, and call ``run(end)``, which returns ``at.DONE`` at step ``end``. If there
    is a torque function, write one row of torques before each call, and set ``end`` to the next step. All other return
    values require an action; ``q`` and ``v`` then contain the state at the start of step ``step``:

    - ``at.TOUCHING`` or, if something penetrates, ``at.BELOW``: a joint is near a stop, or a shape with ``guards`` is
      near the ground. Kernels do not support this. Run the step in Python and pass the next state to ``begin``. After
      ``BELOW`` the caller may instead write a corrected configuration to ``middle`` and call ``run(end, at.GIVEN)``.
    - ``at.SINGULAR``: the independent joints are near a singularity, and other joints may be better.
    - ``at.FAILED``: a value is not finite, or a loop cannot be closed. Python repeats the step and raises the error.

    Attributes:
        q: Configuration, shape (nq,). All array attributes are views of the kernel's arrays.
        v: Velocity, shape (nv,).
        middle: Configuration in the middle of the step, shape (nq,).
        free: Velocity at the end of the step if no impulses act, shape (nv,).
        v_next: Velocity at the end of the step, including the effect of impulses, shape (nv,).
        positions: World positions of the points (lowest points of balls) in the middle of the step, shape (n, 3), [m].
        gaps: Gaps of the points in the middle of the step, shape (n,), [m].
        stop_gaps: Distances between the joint positions and their stops, [rad] or [m].
        velocities: Point velocities J ``free``, where J is the Jacobian of the points, shape (3 n,), in world axes.
        response: M^-1 J', shape (nv, 3 n).
        gram: J M^-1 J', shape (3 n, 3 n).
        impulses: World impulses of the last step, shape (3 n,), [N s].
        laws: Violations of the contact laws in the last step (distance from the friction cone [N s], inward velocity
            [m/s], impulse times velocity [J]), then the work of the impulses [J].
        samples: One row per completed step from ``first`` on: a sample of ``width`` numbers, then gaps, impulses,
            positions and laws. ``keep_sample`` writes the sample only in every ``record``-th row.
        iterations: Number of iterations of the Gauss-Seidel solver in each completed step.
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
        """Allocate the arrays.

        Args:
            on: ``CompiledMoves`` object, which owns the workspace and the tables.
            settings: Settings of a simulation whose world contains only points on a plane, and stops.
            guards: Two guard centres for each shape that Python must handle near the ground: the centres of its two end
                discs, which are normal to the line through both centres, or twice the centre of its bounding ball.
            torque: One row of torques, or one row per step, shape (rows, nv). The array is not copied.
            rows: Capacity of ``samples``.
            slack: Limit of opening speed plus gap / dt, [m/s]. A point above this limit is added to the system only if
                the impulses of other points close its gap.
        """
        s, world = settings, settings.world
        assert world is not None
        ground, n = world.ground or Ground(), len(world.points)
        self._on, self.first = on, 0
        self.reach, self.normal, self._friction = SPEED * s.dt, ground.axes[2], np.full(n, ground.friction)
        robot, state, system = _robot(on, s), _state(on.model), _system(n)
        points = _points(on, world.points, guards, ground, robot.calls)
        stops = at.Stops(world.stops.table, world.stops.bounds, world.stops.rates, stop_gaps=np.zeros(len(world.stops)))
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
        self._points, self._loads = points, on.table(s.passive).loads
        self.stop_gaps, self.laws = stops.stop_gaps, self._numbers[at.CONE : at.WORK + 1]
        self._new_solvers()

    @property
    def step(self) -> int:
        return int(self._clock[at.STEP])

    def begin(self, k: int, q: np.ndarray, v: np.ndarray) -> None:
        """Continue from a state at the start of step k; the first row of ``samples`` then belongs to step k."""
        self._clock[[at.STEP, at.FIRST]] = self.first = k
        self.iterations[:] = 0
        self.q[:], self.v[:] = q, v

    def forget(self) -> None:
        """Clear what the previous step leaves to the next, before another simulation begins."""
        self._points.last[:], self._loads[:] = 0.0, 0.0
        if self._slow:  # Pinocchio's ADMM solver starts from the result of its last problem
            self._new_solvers()

    def run(self, end: int, phase: int = at.BEGIN) -> int:
        """Run until step ``end`` or until the caller must act; return the reason for stopping.

        ``samples`` must have enough rows for all steps before ``end``. If the solvers find no impulses, the method
        raises ``NotSolved``.
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

    def _new_solvers(self) -> None:
        self.solve, self._slow = Impulses(), False
        self._systems = [self._solver_of(m) for m in range(len(self._friction) + 1)]

    def _solver_of(self, m: int) -> tuple[Callable[[], None], np.ndarray, np.ndarray]:
        """Return a function that solves the contact system of m points by PGS, and the matrix and right-hand side."""
        k, numbers = 3 * m, self._numbers
        system = self._system
        A, g, guess, answer = system.A[: k * k].reshape(k, k), system.g[:k], system.guess[:k], system.answer[:k]
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
        """Solve the contact system again with all solvers, because the kernel rejected the quick solution."""
        _, A, g = self._systems[m]
        answer, self._slow = self._system.answer[: 3 * m], True
        answer[:] = self.solve.solve(A, g, self._friction[:m], answer.copy())
        self.iterations[self.step - self.first] += self.solve.iterations

    def _put_back(self, m: int) -> bool:
        """Compute how far each point must move out of the ground; return whether any point must move."""
        system = self._system
        A, gaps, answer = system.A[: m * m].reshape(m, m), system.g[:m], system.answer[:m]
        solver, settings, result = self.solve.quick
        settings.over_relaxation = 1.0
        result.setConstraintImpulseGuess(system.guess[:m])
        solver.solve(pin.DelassusOperatorDense(A), gaps, *self.solve.sets(_NONE, m), settings, result)
        answer[:] = result.retrieveConstraintImpulses()
        if not np.abs(np.minimum(answer, A @ answer + gaps)).max() <= GOOD:
            try:
                answer[:], self._slow = self.solve.solve(A, gaps, _NONE), True
            except NotSolved:
                return False  # the points cannot be moved out of the ground; the step itself raises an error later
        return bool(answer.max() > 0.0)


def _robot(on: CompiledMoves, settings: Settings) -> at.Robot:
    """Collect the tables of the robot's motion; ``calls`` does not yet contain the functions for the points."""
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
    q, middle, scratch_q, spare, held = np.zeros((5, model.nq))
    v, free, v_next, a, x, mapped, still = np.zeros((7, model.nv))
    return at.State(
        q=q, v=v, middle=middle, free=free, v_next=v_next, a=a, x=x, other=scratch_q, spare=spare, held=held,
        mapped=mapped, still=still,
    )  # fmt: skip


def _points(
    on: CompiledMoves, points: ContactPoints, guards: ContactPoints, ground: Ground, calls: np.ndarray
) -> at.Points:
    """Allocate arrays for points and guard centres, and write the addresses of their functions to ``calls``."""
    model, n, normal = on.model, len(points), ground.axes[2]
    ids = points.joints.tolist()
    joints = [*ids, *guards.joints.tolist()]
    query, full = _asked(model, joints, whole=False), _asked(model, ids, whole=True)
    offsets = -points.radii[:, None] * normal
    full.put(points.places, offsets)
    query.put(np.concatenate([points.places, guards.places]), np.concatenate([offsets, np.zeros((len(guards), 3))]))
    q, v, own_functions = np.zeros(model.nq), np.zeros(model.nv), {} if on.functions is None else on.functions.variants
    for slot, request, count in ((at.WHERE, query, len(joints)), (at.WHOLE, full, n)):
        if count:
            special = own_functions.get("points")
            generic = kernels.of("points", with_loops(model))
            calls[slot] = generic.address() if special is None else special.address(q, v, *request.arguments)
    index, numbers, panel, no_gram, no_response, places, no_velocities = query.arguments
    whole_index, whole_numbers, whole_panel, gram, response, positions, velocities = full.arguments
    ends, last, impulses = np.zeros((3, 3 * n))
    return at.Points(
        where=index, where_numbers=numbers, where_panel=panel, places=places, radii=guards.radii[::2].copy(),
        no_gram=no_gram, no_response=no_response, no_velocities=no_velocities, whole=whole_index,
        whole_numbers=whole_numbers, panel=whole_panel, gram=gram, response=response, positions=positions,
        velocities=velocities, ends=ends, gaps=np.zeros(n), last=last, impulses=impulses,
    )  # fmt: skip


def _asked(model: ClusterModel, joints: list[int], *, whole: bool) -> Points:
    """Return the arrays that describe points on joints; the layout is cached for the lifetime of the model's tables."""
    layouts, key = _layouts(model), (tuple(joints), whole)
    if key not in layouts:
        layouts[key] = Points(model, joints, columns=whole, rates=whole)
    return layouts[key].again()


@once_per("tables.params")
def _layouts(_: ClusterModel) -> dict[tuple[tuple[int, ...], bool], Points]:
    return {}


def _system(n: int) -> at.System:
    near_points, selected, stay = np.zeros((3, n), dtype=np.int64)
    A, B = np.zeros((2, 9 * n * n))
    g, guess, answer, trial, solution, change = np.zeros((6, 3 * n))
    return at.System(
        near=near_points, chosen=selected, A=A, g=g, guess=guess, answer=answer, B=B, tried=trial, found=solution,
        change=change, stay=stay,
    )  # fmt: skip


def _numbers(settings: Settings, ground: Ground, slack: float) -> np.ndarray:
    s, numbers = settings, np.zeros(at.NUMBERS)
    for slot, x in (
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
        numbers[slot] = x
    numbers[at.AXES :] = ground.axes.ravel()
    return numbers
