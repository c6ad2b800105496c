"""Event-driven integration of order 4 for motion on a ground; its results serve to check ``"moreau"``.

Contacts stay open, sliding or sticking between events, and stops stay open or closed, so the motion is smooth. The
Dormand-Prince pair integrates the motion on the manifold (Munthe-Kaas) with adaptive steps of at most dt. A step ends
early if a contact lands, lifts off, slips or sticks, or if a stop opens or closes. Bisection of the interpolant locates
this event with an error of 1e-11 of the step. Impacts satisfy the same contact laws as in ``"moreau"``, which relate
impulses and velocities. After an event, forces and accelerations satisfy the corresponding laws.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.integrate import RK45
from scipy.interpolate import CubicHermiteSpline

from ...algorithms.dynamics.minverse import computeMinverse
from ...errors import BranchLost, TooLargeError
from .._coordinates import Coordinates
from .._engine import FASTEST, Diverged, FunctionFailed, NearSingular, PythonEngine, State, StepFailed
from .._methods import Method, step
from .._settings import Settings
from .modes import OPEN, REST, SLIDES, STICKS, ContactState, ModeForces, Modes, after_impact, per_row, points_of
from .near import PUTS, World
from .points import corners
from .python_engine import GroundEngine
from .recording import ContactRecorder, Push
from .solver import NotSolved, violation

_PAIR = np.pad(np.r_[np.pad(RK45.A, ((0, 0), (0, 1))), [RK45.B]], ((0, 0), (0, 1)))
_METHOD = Method(tuple(RK45.C), _PAIR, _PAIR, corrected=True)
_SAFE, _LEAST, _GROWS = 0.9, 0.2, 10.0
"""Safety factor of the step length, and the smallest and the largest ratio of consecutive step lengths."""
_SHORT, _TRIES = 1e-10, 2000
"""Smallest length of a repeated step as a fraction of dt, and maximum number of attempts."""
_HALVINGS = 37
"""Number of bisections for locating an event; 2^-37 is about 1e-11."""
_MANY = 20
"""Maximum number of points and stops in one impact; four additional points multiply the search time by 12."""
_MOST = 200
"""Maximum number of events in one step."""
_TOUCHES = 1e-9
"""Contacts whose gap is below this value, [m] or [rad], take part in an impact."""
_ALSO = 1e-6
"""If one point sticks, all points slower than this [m/s] also stick, because the points of a body stop together."""
_CLOSED, _LEFT = 1e-13, 1e-9
"""Gap of a closed contact above which the gap is corrected, and above which the step fails, [m] or [rad]."""
_DIPS = np.linspace(0.0, 1.0, 10)[1:-1]
"""Fractions of a step at which the cubic interpolant of the gaps is tested for penetration."""


Pushes = list[tuple[float, Push]]
"""Time [s] and impulses of each part of a step."""


@dataclass
class Stage:
    """A state within a step, its forces, the applied torque, and the commanded torque minus the applied torque."""

    q: np.ndarray
    v: np.ndarray
    held: ContactState
    forces: ModeForces
    tau: np.ndarray
    unmet: np.ndarray
    next_modes: Modes | None = None  # modes after an event in this state, if the solver has already found them


class EventEngine(GroundEngine):
    """Runs the time steps; each step is divided at its events."""

    def __init__(self, settings: Settings, recorder: ContactRecorder, world: World, *, compiled: bool) -> None:
        world = World(settings.model, world.ground, corners(world.points), world.shapes, world.stops)
        super().__init__(settings, recorder, world, compiled=compiled)
        self._length = settings.dt
        n, stops = len(world.points), len(world.stops)
        zeros = np.zeros(n + stops, dtype=np.int64), np.zeros((n, 2)), np.zeros((n, 3)), np.zeros(3 * n + stops)
        self._modes, self._begun = Modes(*zeros), False

    torque = PythonEngine.torque  # evaluate the torque at every stage, not once per step

    def advance(self, on: Coordinates, state: State, end: int) -> None:
        s = self.settings
        while state.k < end:
            k = state.k
            t, h = s.time(k), s.step(k)
            modes, pushes = deepcopy(self._modes), Pushes()
            current = self._at(on, k, t, state.q, state.v, h, modes)
            if s.switch and (which := on.near_singular()) is not None:
                raise NearSingular(which)
            with np.errstate(over="ignore", invalid="ignore"):
                # The modes may change here, because piecewise constant torques jump at the start of a step.
                if not self._begun or self._happens(current, modes, h):
                    current, modes = self._event(on, k, t, current, modes, h, pushes, first=not self._begun)
                begin = current
                current, modes = self._over(on, k, t, h, current, modes, pushes)
            if self.recorder.wants(k):
                self.recorder.add(t, state.q, begin.tau, on.sample(state.q, state.v, begin.forces.a))
            for when, push in pushes:
                self._contact_recorder.push(k, when, push, begin.unmet)
            self._modes, self._begun = modes, True
            state.k, state.q, state.v = k + 1, current.q, current.v

    def start(self, on: Coordinates, state: State) -> np.ndarray:
        s = self.settings
        current = self._at(on, state.k, s.time(state.k), state.q, state.v, s.dt, self._modes)
        if self.recorder.wants(state.k):
            self.recorder.add(s.time(state.k), state.q, current.tau, on.sample(state.q, state.v, current.forces.a))
        return current.forces.a

    def _at(self, on: Coordinates, k: int, t: float, q: np.ndarray, v: np.ndarray, h: float, modes: Modes) -> Stage:
        """Evaluate the forces and torques in a state with fixed contact modes."""
        demand = self.torque(on, k, t, q, v)
        motors = self._contact_recorder.motors
        tau = motors.give(q, on.velocity(q, v), demand) if motors else demand
        free = on.accelerate(q, v, tau, self.settings.passive)
        held = ContactState(self._world, on, q, v, free, modes.kinds != OPEN)
        return Stage(q, v, held, held.forces(modes, h), tau, demand - tau)

    def _over(
        self, on: Coordinates, k: int, t: float, h: float, current: Stage, modes: Modes, pushes: Pushes
    ) -> tuple[Stage, Modes]:
        done, events, attempts = 0.0, 0, 0
        while h - done > 1e-12 * h:
            if (attempts := attempts + 1) > _TRIES:
                raise StepFailed(
                    f"in the step from t = {t:g} s, {_TRIES} shorter steps do not keep the error within rtol = "
                    f"{self.settings.rtol:g} and atol = {self.settings.atol:g}. Increase the tolerances, reduce dt, or "
                    "use torques without noise and jumps. error.result contains the motion up to this step."
                )
            length, now = min(self._length, h - done), t + done
            current.held.renew(modes)
            current.forces = current.held.forces(modes, length)
            end, rates, error = self._part(on, k, now, length, current, modes)
            longer = length * min(_GROWS, max(_LEAST, _SAFE * max(error, 1e-9) ** -0.2))
            self._length = longer if error > 1.0 else max(self._length, longer)
            if error > 1.0:
                continue
            inside = partial(self._inside, on, k, now, length, current, modes, end, rates)
            new, push = inside(s := 1.0)
            happens = self._happens(new, modes, h)
            if not happens and (dip := _dip(current.held, new.held, length, modes)) is not None:
                trial = inside(dip)
                if happens := self._happens(trial[0], modes, h):
                    s, (new, push) = dip, trial
            if happens:
                low = 0.0
                for _ in range(_HALVINGS):
                    middle = 0.5 * (low + s)
                    trial = inside(middle)
                    if self._happens(trial[0], modes, h):
                        s, (new, push) = middle, trial
                    else:
                        low = middle
            pushes.append((now, push))
            current, done = new, done + s * length
            if (events := events + happens) > _MOST:
                raise StepFailed(self._storm(t, now, modes))
            if happens:
                current, modes = self._event(on, k, t + done, current, modes, h, pushes)
        return current, modes

    def _part(
        self, on: Coordinates, k: int, t: float, h: float, begin: Stage, modes: Modes
    ) -> tuple[Stage, Any, float]:
        """Compute one step without an event.

        Returns the end state, the rates (of increment, velocity, impulses and work), and the ratio error / tolerance.
        """
        stages, s, shortest = [begin], self.settings, h < _SHORT * self.settings.dt

        def f(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            stages.append(self._at(on, k, t, q, v, h, modes))
            return stages[-1].forces.a

        try:
            q, v, dxdt = step(_METHOD, f, on, t, h, begin.q, begin.v, begin.forces.a)
            if not np.abs(v).max(initial=0.0) < FASTEST or not np.isfinite(q).all():
                raise Diverged(v)
            f(t + h, *put_back(self._world, on, q, v, modes))
        except (BranchLost, Diverged, StepFailed) as failed:
            if shortest or isinstance(failed, FunctionFailed):
                raise
            return begin, None, np.inf
        rates = np.array([np.r_[w, (x := y.forces).a, x.l, x.l @ y.held.u] for w, y in zip(dxdt, stages, strict=True)])
        err = np.abs(h * RK45.E @ rates)[: 2 * len(v)].max(initial=0.0) / (s.atol + s.rtol * np.abs(v).max(initial=0.0))
        return stages[-1], rates, float(err)

    def _inside(
        self, on: Coordinates, k: int, t: float, h: float, a: Stage, modes: Modes, b: Stage, rates: np.ndarray, s: float
    ) -> tuple[Stage, Push]:
        """Interpolate, with order 4, the state and the impulses at a fraction s of the step from stage a to stage b."""
        nv = len(a.v)
        x, v, l, work = np.split(h * (RK45.P @ s ** np.arange(1, 5)) @ rates, [nv, 2 * nv, -1])
        if s < 1.0:
            q, v = put_back(self._world, on, on.move(a.q, x), a.v + v, modes)
            b = self._at(on, k, t + s * h, q, v, h, modes)
        laws = violation(s * h * b.forces.l, b.held.u, b.held.mu)
        return b, Push(b.held.pairs, modes.kinds != OPEN, l, laws, float(work[0]))

    def _happens(self, current: Stage, modes: Modes, h: float) -> bool:
        pairs, held = current.held.pairs, current.held
        lands = (modes.kinds == OPEN) & (pairs.gaps < 0.0) & (held.speeds[pairs.normals] < 0.0)
        slip = held.slip
        turns = np.sum(slip * modes.ways[held.points], axis=1) <= 0.5 * np.hypot(*slip.T)
        if lands.any() or turns[modes.kinds[held.points] == SLIDES].any():
            return True
        if not any(x.any() for x in held.wrong(modes, current.forces)):
            return False
        if current.forces.unique:
            return True
        try:  # if the forces are not unique, other forces may satisfy the laws
            new, sure = held.chosen(self._solver, modes, h)
        except NotSolved:
            return True
        if not sure or (new.kinds != modes.kinds).any():
            current.next_modes = new if sure else None
            return True
        modes.forces = new.forces
        current.forces = held.forces(modes, h)
        return False

    def _event(
        self, on: Coordinates, k: int, t: float, now: Stage, modes: Modes, h: float, pushes: Pushes, first: bool = False
    ) -> tuple[Stage, Modes]:
        old, pairs, q, v = modes.kinds, now.held.pairs, now.q, now.v
        modes = deepcopy(modes)
        lands = (old == OPEN) & (pairs.gaps < 0.0) & (now.held.speeds[pairs.normals] < 0.0)
        held = now.held
        try:
            if first or lands.any():
                touching = (old != OPEN) | lands | (pairs.gaps <= _TOUCHES)
                if (count := np.count_nonzero(touching)) > _MANY:
                    raise TooLargeError(
                        f"simulate: {count} points and stops touch at once at t = {t:g} s, but method='events' is "
                        f"limited to {_MANY}, because its search time grows exponentially. Use fewer points, such as "
                        "the corners of each sole, or method='moreau'."
                    )
                held = ContactState(self._world, on, q, v, None, touching)
                modes, solution = after_impact(held, self._solver, modes)
                push = Push(pairs, touching, solution.l, violation(solution.l, solution.rates, held.mu))
                push.work = 0.5 * float(solution.l @ (held.speeds[held.rows] + solution.rates))
                push.iterations = self._solver.iterations
                pushes.append((t, push))
                v = solution.a
            slides, speed = modes.kinds[held.points] == SLIDES, np.hypot(*held.slip.T)
            if (slides & (speed <= REST)).any():
                sticking = held.points[slides & (speed <= _ALSO)]
                modes.kinds[sticking], modes.anchors[sticking] = STICKS, pairs.places[sticking]
                q, v = put_back(self._world, on, q, v, modes)
            held = self._at(on, k, t, q, v, h, modes).held
            held.renew(modes)
            modes = held.resolved(self._solver, modes, h) if now.next_modes is None else now.next_modes
        except NotSolved as error:
            text = self._unsolved(t, error, held.G, pairs, np.isin(np.arange(len(pairs.gaps)), held.which))
            raise StepFailed(f"{text} Alternatively, use method='moreau'.") from None
        begins = ((modes.kinds == STICKS) & ((old != STICKS) | first))[: pairs.contacts]
        modes.anchors[begins] = pairs.places[begins]
        return self._at(on, k, t, *put_back(self._world, on, q, v, modes), h, modes), modes

    def _storm(self, t: float, now: float, modes: Modes) -> str:
        names, n = self.settings.model.names, len(self._world.points)
        closed = np.flatnonzero(modes.kinds)
        names_there = {repr(names[j]) for j in self._world.points.joints[closed[closed < n]].tolist()}
        names_there |= {self._world.stops.names[i - n] for i in closed[closed >= n].tolist()}
        return (
            f"in the step from t = {t:g} s more than {_MOST} events occur, the last at t = {now:.9g} s "
            f"({', '.join(sorted(names_there)) or 'no contacts'}). Contacts land, lift off or slip endlessly. Use "
            "method='moreau', which needs no events, or a smaller step. error.result contains the motion up to this "
            "step."
        )


def _dip(start: ContactState, end: ContactState, h: float, modes: Modes) -> float | None:
    """Find the deepest penetration of contacts that are open at both ends of a step; return the step fraction."""
    end_gaps, normals = [x.pairs.gaps for x in (start, end)], start.pairs.normals
    gaps = CubicHermiteSpline([0.0, h], end_gaps, [x.speeds[normals] for x in (start, end)])(h * _DIPS)
    gaps[:, (modes.kinds != OPEN) | (np.minimum(*end_gaps) < 0.0)] = 0.0
    if not gaps.size or not gaps.min() < 0.0:
        return None
    return float(_DIPS[np.argmin(gaps.min(axis=1))])


def put_back(
    world: World, on: Coordinates, q: np.ndarray, v: np.ndarray, modes: Modes
) -> tuple[np.ndarray, np.ndarray]:
    """Close the touching contacts with the smallest change of q and v, and move sticking points to their anchors."""
    kinds, n = modes.kinds, len(world.points)
    points = (kinds[:n] == STICKS) & (world.points.radii == 0.0)  # balls roll away from their anchors
    rows = np.flatnonzero(per_row(kinds != OPEN, n, kinds == STICKS, False))
    if not len(rows):
        return q, v
    for i in range(PUTS):
        pairs = world.look(q, np.inf)
        gaps = np.concatenate([np.zeros(3 * n), pairs.gaps[n:]])
        three = points_of(gaps, n)
        three[points] = np.einsum("nij,nj->ni", pairs.axes[points], pairs.places[points] - modes.anchors[points])
        three[:, 2] = pairs.gaps[:n]
        J = world.rows(on, q, pairs)[rows]
        response = computeMinverse(on.model, on.data, q) @ J.T
        G = J @ response
        worst = float(np.abs(gaps[rows]).max())
        if i == PUTS - 1 or not worst > _CLOSED:
            break
        q = on.move(q, -response @ _least(G, gaps[rows]))
    if not worst < _LEFT:
        raise StepFailed(
            f"a contact with the ground or a stop cannot be closed: {worst:.2g} m or rad remain. Use a smaller step, "
            "or method='moreau'. error.result contains the motion up to this step."
        )
    return q, v - response @ _least(G, J @ v)


def _least(G: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.lstsq(G, x, rcond=2e-14 * len(x))[0])
