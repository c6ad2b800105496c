"""Steps on a ground in Python: what kernels do not know may move, push or touch.

The formulas are those of ``kernels/steps/phases.py``, whose source runs here on columns, an entry per contact or
velocity. Rows of contacts come from Pinocchio, their products from NumPy. ``docs/ground.md`` has the equations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._support.memory import check_free
from ...algorithms.dynamics.minverse import computeMinverse
from ...compiler.tracing._sources import source
from .._compiled import CompiledMoves
from .._coordinates import Coordinates
from .._engine import FASTEST, Diverged, NearSingular, PythonEngine, State, StepFailed
from .._settings import Settings
from .near import LATE, PUTS, SLACK, SLOP, SPEED, Near, World
from .recording import Push
from .solver import Impulses, NotSolved, missed


class GroundEngine(PythonEngine):
    """Runs steps on a ground."""

    def __init__(self, settings: Settings, recorder: Any, world: World, *, compiled: bool) -> None:
        super().__init__(settings, recorder)
        self._world, self._solver, self._notes = world, Impulses(), recorder
        self._last: dict[Any, np.ndarray] = {}
        self._asked: tuple[int, Any] = -1, None
        if compiled:
            self.coordinates = CompiledMoves

    def advance(self, on: Coordinates, state: State, end: int) -> None:
        """Run until step ``end``; the state is that of the last good step, also after an exception."""
        s, notes = self.settings, self._notes
        while state.k < end:
            k = state.k
            t, h = s.time(k), s.step(k)
            asked = self.torque(on, k, t, state.q, state.v)
            tau = asked
            if notes.motors:
                tau = notes.motors.give(state.q, on.velocity(state.q, state.v), asked)
            with np.errstate(over="ignore", invalid="ignore"):
                q, v, push = self._step(on, t, h, state, tau)
                if not np.abs(v).max(initial=0.0) < FASTEST or not np.isfinite(q).all():
                    raise Diverged(v)
            if self.recorder.wants(k):
                self.recorder.add(t, state.q, tau, on.sample(state.q, state.v, (v - state.v) / h))
            notes.push(k, t, push, asked - tau)
            state.k, state.q, state.v = k + 1, q, v

    def torque(self, on: Coordinates, k: int, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Ask once per step, also if it is done again in other coordinates."""
        if self._asked[0] != k:
            self._asked = k, super().torque(on, k, t, q, v)
        return self._asked[1]

    def start(self, on: Coordinates, state: State) -> np.ndarray:
        """Record the end."""
        return self._notes.end(on, state)

    def _step(
        self, on: Coordinates, t: float, h: float, state: State, tau: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, Push]:
        """Return configuration and velocity after a step, and what pushed.

        Raises:
            StepFailed: No impulses were found that obey the laws.
        """
        world, v, phases = self._world, state.v, source("steps.phases")
        q, near = self._put_back(on, t, h, on.move(state.q, phases.half_way(h, v)))
        free = self._free_velocity(on, h, q, v, tau)
        J = world.rows(on, q, near)
        g = J @ free
        if not np.isfinite(g).all():
            raise Diverged(free)
        normals, new, push, delay = near.normals, free, Push(near), 0.0
        fall = g[normals]
        strikes = phases.strikes(h, fall, near.room) * near.are_points
        g[normals] += phases.room_of(h, strikes, near.room)
        if (g[normals] < 0.0).any():
            new, push = self._push(on, t, q, near, J, g, free)
            lifts = np.zeros(len(normals))
            lifts[: near.contacts][push.chosen[: near.contacts]] = push.normal_impulses
            lifts = strikes * phases.open_by(lifts)
            delay = phases.delay_of(lifts @ phases.open_by(near.room), -lifts @ fall)
        if (passive := self.settings.passive) is not None:
            passive.keep(on.model, (new - v) / h)
        return on.move(q, phases.correction(h, delay, free, new)), new, push

    def _free_velocity(self, on: Coordinates, h: float, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Return the velocity at the end of a step without impulses."""
        s, after = self.settings, source("steps.phases").after
        half = after(0.5 * h, v, on.accelerate(q, v, tau, s.passive))
        if s.switch and (which := on.near_singular()) is not None:
            raise NearSingular(which)
        return np.asarray(after(h, v, on.accelerate(q, half, tau, s.passive)))

    def _push(
        self, on: Coordinates, t: float, q: np.ndarray, near: Near, J: np.ndarray, g: np.ndarray, free: np.ndarray
    ) -> tuple[np.ndarray, Push]:
        """Return the velocity with the impulses of what closes, and these; each round takes more of what is near."""
        normals, inverse = near.normals, computeMinverse(on.model, on.data, q)
        chosen = g[normals] < SLACK
        _check_size(t, int(np.count_nonzero(chosen)))
        while True:
            rows = _rows_of(chosen, near.contacts)
            held = J[rows]
            response = inverse @ held.T
            G = held @ response
            found = self._solve(t, G, g[rows], near, chosen)
            new = free + response @ found
            late = ~chosen & ((J @ new - J @ free + g)[normals] < -LATE)
            if not late.any():
                break
            chosen |= late
        laws = missed(found, G @ found + g[rows], near.friction[chosen[: near.contacts]])
        work = 0.5 * float(found @ (held @ (free + new)))
        return new, Push(near, chosen, found, laws, work, self._solver.iterations)

    def _put_back(self, on: Coordinates, t: float, h: float, q: np.ndarray) -> tuple[np.ndarray, Near]:
        """Return the configuration with nothing below the ground or beyond a stop, and what is near there.

        By the least change in the metric of the mass matrix; no velocity keeps points out whose paths are curved.
        """
        for left in reversed(range(PUTS + 1)):
            near = self._world.look(q, SPEED * h)
            if not (left and (near.room < -SLOP).any()):
                break
            low = near.room < SLACK * h
            J = self._world.rows(on, q, near)[near.normals[low]]
            response = computeMinverse(on.model, on.data, q) @ J.T
            try:  # as velocities, over which the solver's tolerance is
                x = response @ (h * self._solver.solve(J @ response, near.room[low] / h, np.zeros(0)))
            except NotSolved:
                x = np.zeros(len(response))  # nothing moves it out: the step itself will say so
            if not np.abs(x).max(initial=0.0) > 0.0:
                break
            q = on.move(q, x)
        return q, near

    def _solve(self, t: float, G: np.ndarray, g: np.ndarray, near: Near, chosen: np.ndarray) -> np.ndarray:
        """Return the impulses on chosen contacts and stops."""
        n = near.contacts
        names = [near.keys[i] for i in np.flatnonzero(chosen[:n]).tolist()]
        stops = np.flatnonzero(chosen[n:]).tolist()
        three, one = np.zeros(3), np.zeros(1)
        last = self._last
        guess = np.concatenate([*(last.get(x, three) for x in names), *(last.get(("stop", i), one) for i in stops)])
        try:
            found = self._solver.solve(G, g, near.friction[chosen[:n]], guess)
        except FloatingPointError:
            raise Diverged(np.full(self.settings.model.nv, np.nan)) from None
        except NotSolved as error:
            raise StepFailed(self._unsolved(t, error, G, near, chosen)) from None
        points = found[: 3 * len(names)].reshape(-1, 3)
        rest = found[3 * len(names) :, None]
        self._last = dict(zip(names, points, strict=True)) | {("stop", i): x for i, x in zip(stops, rest, strict=True)}
        return found

    def _unsolved(self, t: float, error: NotSolved, G: np.ndarray, near: Near, chosen: np.ndarray) -> str:
        """Return what is to be said of a step without a solution."""
        n, model = near.contacts, self.settings.model
        at = np.flatnonzero(chosen[:n])
        names = sorted({model.names[j] for j in near.joints[at, 0].tolist()})
        where = f"{len(at)} contacts on {', '.join(map(repr, names))}" if names else "stops"
        blocks = G.reshape(len(G), -1)
        stuck = [
            k
            for k in range(len(at))
            if blocks[3 * k + 2, 3 * k + 2] < near.friction[at[k]] * np.hypot(*blocks[3 * k + 2, 3 * k : 3 * k + 2])
        ]
        why = (
            "There the friction is so large that a push along the ground presses it further in (Painleve's paradox): "
            "rigid bodies have no answer then; take a smaller friction."
            if stuck
            else f"Take a smaller step (dt = {self.settings.dt:g} s now), or fewer points on one body."
        )
        return (
            f"in the step from t = {t:g} s no impulses were found that obey the laws of contact ({where}): "
            f"after {error.iterations} iterations they are missed by {error.worst:.2g} m/s. {why} What was computed is "
            "in error.result."
        )


def _check_size(t: float, contacts: int) -> None:
    """Raise ``TooLargeError`` if the system of so many contacts does not fit into memory."""
    needed = 3 * 8 * (3 * contacts) ** 2  # the system, and what the solvers copy and factor of it
    if contacts > 500:
        what = f"simulate: {contacts} points touch at once at t = {t:g} s, and their system takes {needed / 1e9:.3g} GB"
        check_free(needed, what, "Take fewer points, such as the corners of each sole.")


def _rows_of(chosen: np.ndarray, contacts: int) -> np.ndarray:
    """Return the rows of chosen contacts and stops."""
    at = np.flatnonzero(chosen[:contacts])
    return np.concatenate(
        [(3 * at[:, None] + np.arange(3)).ravel(), 3 * contacts + np.flatnonzero(chosen[contacts:])]
    ).astype(np.int64)
