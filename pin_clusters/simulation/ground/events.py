"""Motion on a ground from event to event: order 4 between them, for studies, and as a second opinion.

While contacts stay open, slide or stick, and stops stay, it is a smooth motion, taken by Dormand's and Prince's pair on
the manifold (Munthe-Kaas): in steps as long as the tolerance allows, at most dt. One ends early where something lands,
lets go, slips or stands: found by bisection of its interpolant, to 1e-11 of it. Impacts and what comes after an event
obey the laws of ``stepping``, at velocities and at accelerations.
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
from .modes import OPEN, REST, SLIDES, STICKS, Found, Held, Modes, after_impact, per_row, points_of
from .near import PUTS, World
from .points import corners
from .python_engine import GroundEngine
from .recording import Push
from .solver import NotSolved, missed

_PAIR = np.pad(np.r_[np.pad(RK45.A, ((0, 0), (0, 1))), [RK45.B]], ((0, 0), (0, 1)))
_METHOD = Method(tuple(RK45.C), _PAIR, _PAIR, corrected=True)
_SAFE, _LEAST, _GROWS = 0.9, 0.2, 10.0
"""By how much the next step is shorter than errors allow, and by which factors it may differ from the last."""
_SHORT, _TRIES = 1e-10, 2000
"""Of dt: in steps as short nothing fails because they are too long. How many fit into it."""
_HALVINGS = 37
_MANY = 20
"""Points and stops in one impact. The search for modes takes 12 times as long for four more."""
_MOST = 200
"""Events in one step; more are a storm."""
_TOUCHES = 1e-9
"""[m] or [rad]: what is as near takes part in an impact."""
_ALSO = 1e-6
"""[m/s]: where one point comes to stand, others that are as slow do too; points of one body all do at once."""
_CLOSED, _LEFT = 1e-13, 1e-9
"""[m] or [rad]: what is put back, and what must not be left."""
_DIPS = np.linspace(0.0, 1.0, 10)[1:-1]
"""Where within a step gaps are looked at, by the cubic through both ends."""


@dataclass
class At:
    """A state, its forces, the torque that acts, and what is asked for beyond it."""

    q: np.ndarray
    v: np.ndarray
    held: Held
    found: Found
    tau: np.ndarray
    unmet: np.ndarray
    then: Modes | None = None  # modes from then on, if the solver has found them already


class EventEngine(GroundEngine):
    """Runs steps from event to event."""

    def __init__(self, settings: Settings, recorder: Any, world: World, *, compiled: bool) -> None:
        world = World(settings.model, world.ground, corners(world.points), world.shapes, world.stops)
        super().__init__(settings, recorder, world, compiled=compiled)
        self._length = settings.dt
        n, stops = len(world.points), len(world.stops)
        zeros = np.zeros(n + stops, dtype=np.int64), np.zeros((n, 2)), np.zeros((n, 3)), np.zeros(3 * n + stops)
        self._modes, self._begun = Modes(*zeros), False

    torque = PythonEngine.torque  # at every stage

    def advance(self, on: Coordinates, state: State, end: int) -> None:
        """Run until step ``end``; the state is that of the last good step, also after an exception."""
        s = self.settings
        while state.k < end:
            k = state.k
            t, h = s.time(k), s.step(k)
            modes, pushes = deepcopy(self._modes), list[tuple[float, Push]]()
            at = self._at(on, k, t, state.q, state.v, h, modes)
            if s.switch and (which := on.near_singular()) is not None:
                raise NearSingular(which)
            with np.errstate(over="ignore", invalid="ignore"):
                # torques that are held jump here; at the start nothing is known
                if not self._begun or self._happens(at, modes, h):
                    at, modes = self._event(on, k, t, at, modes, h, pushes, first=not self._begun)
                first = at
                at, modes = self._over(on, k, t, h, at, modes, pushes)
            if self.recorder.wants(k):
                self.recorder.add(t, state.q, first.tau, on.sample(state.q, state.v, first.found.a))
            for when, push in pushes:
                self._notes.push(k, when, push, first.unmet)
            self._modes, self._begun = modes, True
            state.k, state.q, state.v = k + 1, at.q, at.v

    def start(self, on: Coordinates, state: State) -> np.ndarray:
        """Record the end."""
        s = self.settings
        at = self._at(on, state.k, s.time(state.k), state.q, state.v, s.dt, self._modes)
        if self.recorder.wants(state.k):
            self.recorder.add(s.time(state.k), state.q, at.tau, on.sample(state.q, state.v, at.found.a))
        return at.found.a

    def _at(self, on: Coordinates, k: int, t: float, q: np.ndarray, v: np.ndarray, h: float, modes: Modes) -> At:
        """Return what happens at a state in which modes are as they are."""
        asked = self.torque(on, k, t, q, v)
        tau = self._notes.motors.give(q, on.velocity(q, v), asked) if self._notes.motors else asked
        free = on.accelerate(q, v, tau, self.settings.passive)
        held = Held(self._world, on, q, v, free, modes.kinds != OPEN)
        return At(q, v, held, held.forces(modes, h), tau, asked - tau)

    def _over(
        self, on: Coordinates, k: int, t: float, h: float, at: At, modes: Modes, pushes: list[tuple[float, Push]]
    ) -> tuple[At, Modes]:
        """Return the state after a step, from event to event."""
        done, events, tries = 0.0, 0, 0
        while h - done > 1e-12 * h:
            if (tries := tries + 1) > _TRIES:
                raise StepFailed(
                    f"in the step from t = {t:g} s {_TRIES} shorter ones do not keep errors within rtol = "
                    f"{self.settings.rtol:g} and atol = {self.settings.atol:g}. Take larger ones, a smaller dt, or "
                    "torques without noise and jumps. What was computed is in error.result."
                )
            way, now = min(self._length, h - done), t + done
            at.held.renew(modes)
            at.found = at.held.forces(modes, way)
            end, rates, off = self._part(on, k, now, way, at, modes)
            longer = way * min(_GROWS, max(_LEAST, _SAFE * max(off, 1e-9) ** -0.2))
            self._length = longer if off > 1.0 else max(self._length, longer)
            if off > 1.0:
                continue
            inside = partial(self._inside, on, k, now, way, at, modes, end, rates)
            new, push = inside(s := 1.0)
            happens = self._happens(new, modes, h)
            if not happens and (dip := _dip(at.held, new.held, way, modes)) is not None:
                tried = inside(dip)
                if happens := self._happens(tried[0], modes, h):
                    s, (new, push) = dip, tried
            if happens:
                low = 0.0
                for _ in range(_HALVINGS):
                    middle = 0.5 * (low + s)
                    tried = inside(middle)
                    if self._happens(tried[0], modes, h):
                        s, (new, push) = middle, tried
                    else:
                        low = middle
            pushes.append((now, push))
            at, done = new, done + s * way
            if (events := events + happens) > _MOST:
                raise StepFailed(self._storm(t, now, modes))
            if happens:
                at, modes = self._event(on, k, t + done, at, modes, h, pushes)
        return at, modes

    def _part(self, on: Coordinates, k: int, t: float, h: float, at: At, modes: Modes) -> tuple[At, Any, float]:
        """Return where a step ends, rates of increment, velocity, impulses, work, and errors beside what is allowed."""
        stages, s, short = [at], self.settings, h < _SHORT * self.settings.dt

        def f(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
            stages.append(self._at(on, k, t, q, v, h, modes))
            return stages[-1].found.a

        try:
            q, v, ways = step(_METHOD, f, on, t, h, at.q, at.v, at.found.a)
            if not np.abs(v).max(initial=0.0) < FASTEST or not np.isfinite(q).all():
                raise Diverged(v)
            f(t + h, *put_back(self._world, on, q, v, modes))
        except (BranchLost, Diverged, StepFailed) as failed:
            if short or isinstance(failed, FunctionFailed):
                raise
            return at, None, np.inf
        rates = np.array([np.r_[w, (x := y.found).a, x.l, x.l @ y.held.u] for w, y in zip(ways, stages, strict=True)])
        off = np.abs(h * RK45.E @ rates)[: 2 * len(v)].max(initial=0.0) / (s.atol + s.rtol * np.abs(v).max(initial=0.0))
        return stages[-1], rates, float(off)

    def _inside(
        self, on: Coordinates, k: int, t: float, h: float, first: At, modes: Modes, at: At, rates: np.ndarray, s: float
    ) -> tuple[At, Push]:
        """Return the state after a part s of a step, by its interpolant of order 4, and what pushed until then."""
        nv = len(first.v)
        x, v, l, work = np.split(h * (RK45.P @ s ** np.arange(1, 5)) @ rates, [nv, 2 * nv, -1])
        if s < 1.0:
            q, v = put_back(self._world, on, on.move(first.q, x), first.v + v, modes)
            at = self._at(on, k, t + s * h, q, v, h, modes)
        laws = missed(s * h * at.found.l, at.held.u, at.held.mu)
        return at, Push(at.held.near, modes.kinds != OPEN, l, laws, float(work[0]))

    def _happens(self, at: At, modes: Modes, h: float) -> bool:
        """Whether an event has come."""
        near, held = at.held.near, at.held
        lands = (modes.kinds == OPEN) & (near.room < 0.0) & (held.speeds[near.normals] < 0.0)
        slip = held.slip
        turns = np.sum(slip * modes.ways[held.points], axis=1) <= 0.5 * np.hypot(*slip.T)
        if lands.any() or turns[modes.kinds[held.points] == SLIDES].any():
            return True
        if not any(x.any() for x in held.wrong(modes, at.found)):
            return False
        if at.found.unique:
            return True
        try:  # of forces that are not unique others may obey the laws
            new, sure = held.chosen(self._solver, modes, h)
        except NotSolved:
            return True
        if not sure or (new.kinds != modes.kinds).any():
            at.then = new if sure else None
            return True
        modes.forces = new.forces
        at.found = held.forces(modes, h)
        return False

    def _event(
        self,
        on: Coordinates,
        k: int,
        t: float,
        at: At,
        modes: Modes,
        h: float,
        pushes: list[tuple[float, Push]],
        first: bool = False,
    ) -> tuple[At, Modes]:
        """Return the state after an event, and how contacts and stops are from then on."""
        old, near, q, v = modes.kinds, at.held.near, at.q, at.v
        modes = deepcopy(modes)
        lands = (old == OPEN) & (near.room < 0.0) & (at.held.speeds[near.normals] < 0.0)
        held = at.held
        try:
            if first or lands.any():
                touching = (old != OPEN) | lands | (near.room <= _TOUCHES)
                if (count := np.count_nonzero(touching)) > _MANY:
                    raise TooLargeError(
                        f"simulate: {count} points and stops touch at once at t = {t:g} s, and method='events' is "
                        f"limited to {_MANY}, because the time of its search grows exponentially. Take fewer points, "
                        "such as the corners of each sole, or method='moreau'."
                    )
                held = Held(self._world, on, q, v, None, touching)
                modes, found = after_impact(held, self._solver, modes)
                push = Push(near, touching, found.l, missed(found.l, found.rates, held.mu))
                push.work = 0.5 * float(found.l @ (held.speeds[held.rows] + found.rates))
                push.iterations = self._solver.iterations
                pushes.append((t, push))
                v = found.a
            slides, speed = modes.kinds[held.points] == SLIDES, np.hypot(*held.slip.T)
            if (slides & (speed <= REST)).any():
                stands = held.points[slides & (speed <= _ALSO)]
                modes.kinds[stands], modes.anchors[stands] = STICKS, near.places[stands]
                q, v = put_back(self._world, on, q, v, modes)
            held = self._at(on, k, t, q, v, h, modes).held
            held.renew(modes)
            modes = held.resolved(self._solver, modes, h) if at.then is None else at.then
        except NotSolved as error:
            text = self._unsolved(t, error, held.G, near, np.isin(np.arange(len(near.room)), held.which))
            raise StepFailed(f"{text} Or take method='moreau'.") from None
        begins = ((modes.kinds == STICKS) & ((old != STICKS) | first))[: near.contacts]
        modes.anchors[begins] = near.places[begins]
        return self._at(on, k, t, *put_back(self._world, on, q, v, modes), h, modes), modes

    def _storm(self, t: float, now: float, modes: Modes) -> str:
        """Return what is to be said of too many events."""
        names, n = self.settings.model.names, len(self._world.points)
        at = np.flatnonzero(modes.kinds)
        of = {repr(names[j]) for j in self._world.points.joints[at[at < n]].tolist()}
        of |= {self._world.stops.names[i - n] for i in at[at >= n].tolist()}
        return (
            f"in the step from t = {t:g} s more than {_MOST} events happen, the last at t = {now:.9g} s "
            f"({', '.join(sorted(of)) or 'nothing touches'}): contacts land, let go or slip without end. Take "
            "method='moreau', which needs no events, or a smaller step. What was computed is in error.result."
        )


def _dip(start: Held, end: Held, h: float, modes: Modes) -> float | None:
    """Return after which part of a step something that is open at both ends is deepest below, None if nothing is."""
    rooms, normals = [x.near.room for x in (start, end)], start.near.normals
    gaps = CubicHermiteSpline([0.0, h], rooms, [x.speeds[normals] for x in (start, end)])(h * _DIPS)
    gaps[:, (modes.kinds != OPEN) | (np.minimum(*rooms) < 0.0)] = 0.0
    if not gaps.size or not gaps.min() < 0.0:
        return None
    return float(_DIPS[np.argmin(gaps.min(axis=1))])


def put_back(
    world: World, on: Coordinates, q: np.ndarray, v: np.ndarray, modes: Modes
) -> tuple[np.ndarray, np.ndarray]:
    """Return the state with what touches closed again, by the least changes; sticking points are at their anchors.

    Raises:
        StepFailed: It cannot be closed.
    """
    kinds, n = modes.kinds, len(world.points)
    points = (kinds[:n] == STICKS) & (world.points.radii == 0.0)  # balls roll away from where they began
    rows = np.flatnonzero(per_row(kinds != OPEN, n, kinds == STICKS, False))
    if not len(rows):
        return q, v
    for i in range(PUTS):
        near = world.look(q, np.inf)
        off = np.concatenate([np.zeros(3 * n), near.room[n:]])
        three = points_of(off, n)
        three[points] = np.einsum("nij,nj->ni", near.axes[points], near.places[points] - modes.anchors[points])
        three[:, 2] = near.room[:n]
        J = world.rows(on, q, near)[rows]
        response = computeMinverse(on.model, on.data, q) @ J.T
        G = J @ response
        worst = float(np.abs(off[rows]).max())
        if i == PUTS - 1 or not worst > _CLOSED:
            break
        q = on.move(q, -response @ _least(G, off[rows]))
    if not worst < _LEFT:
        raise StepFailed(
            f"what touches the ground or a stop cannot be closed: {worst:.2g} m or rad are left. Take a smaller "
            "step, or method='moreau'. What was computed is in error.result."
        )
    return q, v - response @ _least(G, J @ v)


def _least(G: np.ndarray, x: np.ndarray) -> np.ndarray:
    return np.asarray(np.linalg.lstsq(G, x, rcond=2e-14 * len(x))[0])
