"""Steps on a ground in Python, for joints, forces and contacts that kernels do not support.

The steps evaluate the formulas in ``kernels/steps/phases.py`` for arrays with one entry per contact or velocity.
Pinocchio computes the contact Jacobians. ``docs/ground.md`` contains the equations.
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
from .near import LATE, PUTS, SLACK, SLOP, SPEED, Pairs, World
from .recording import ContactRecorder, Push
from .solver import Impulses, NotSolved, violation


class GroundEngine(PythonEngine):
    """Runs steps on a ground with Moreau's midpoint rule."""

    def __init__(self, settings: Settings, recorder: ContactRecorder, world: World, *, compiled: bool) -> None:
        super().__init__(settings, recorder)
        self._world, self._solver, self._contact_recorder = world, Impulses(), recorder
        self._last: dict[Any, np.ndarray] = {}
        self._asked: tuple[int, Any] = -1, None
        if compiled:
            self.coordinates = CompiledMoves

    def advance(self, on: Coordinates, state: State, end: int) -> None:
        s, recorder = self.settings, self._contact_recorder
        while state.k < end:
            k = state.k
            t, h = s.time(k), s.step(k)
            demand = self.torque(on, k, t, state.q, state.v)
            tau = demand
            if recorder.motors:
                tau = recorder.motors.give(state.q, on.velocity(state.q, state.v), demand)
            with np.errstate(over="ignore", invalid="ignore"):
                q, v, push = self._step(on, t, h, state, tau)
                if not np.abs(v).max(initial=0.0) < FASTEST or not np.isfinite(q).all():
                    raise Diverged(v)
            if self.recorder.wants(k):
                self.recorder.add(t, state.q, tau, on.sample(state.q, state.v, (v - state.v) / h))
            recorder.push(k, t, push, demand - tau)
            state.k, state.q, state.v = k + 1, q, v

    def torque(self, on: Coordinates, k: int, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Evaluate the torque once per step, even if the step is repeated in other coordinates."""
        if self._asked[0] != k:
            self._asked = k, super().torque(on, k, t, q, v)
        return self._asked[1]

    def start(self, on: Coordinates, state: State) -> np.ndarray:
        return self._contact_recorder.end(on, state)

    def _step(
        self, on: Coordinates, t: float, h: float, state: State, tau: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, Push]:
        world, v, phases = self._world, state.v, source("steps.phases")
        q, pairs = self._put_back(on, t, h, on.move(state.q, phases.half_way(h, v)))
        free = self._free_velocity(on, h, q, v, tau)
        J = world.rows(on, q, pairs)
        g = J @ free
        if not np.isfinite(g).all():
            raise Diverged(free)
        normals, new, push, delay = pairs.normals, free, Push(pairs), 0.0
        fall = g[normals]
        strikes = phases.strikes(h, fall, pairs.gaps) * pairs.are_points
        g[normals] += phases.closing_speed(h, strikes, pairs.gaps)
        if (g[normals] < 0.0).any():
            new, push = self._push(on, t, q, pairs, J, g, free)
            lifts = np.zeros(len(normals))
            lifts[: pairs.contacts][push.chosen[: pairs.contacts]] = push.normal_impulses
            lifts = strikes * phases.open_by(lifts)
            delay = phases.delay_of(lifts @ phases.open_by(pairs.gaps), -lifts @ fall)
        if (passive := self.settings.passive) is not None:
            passive.keep(on.model, (new - v) / h)
        return on.move(q, phases.correction(h, delay, free, new)), new, push

    def _free_velocity(self, on: Coordinates, h: float, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        """Compute the velocity at the end of a step without impulses, equation (2) in ``docs/ground.md``."""
        s, after = self.settings, source("steps.phases").after
        half = after(0.5 * h, v, on.accelerate(q, v, tau, s.passive))
        if s.switch and (which := on.near_singular()) is not None:
            raise NearSingular(which)
        return np.asarray(after(h, v, on.accelerate(q, half, tau, s.passive)))

    def _push(
        self, on: Coordinates, t: float, q: np.ndarray, pairs: Pairs, J: np.ndarray, g: np.ndarray, free: np.ndarray
    ) -> tuple[np.ndarray, Push]:
        """Compute the impulses of closing contacts and the velocity after them, equation (4) in ``docs/ground.md``.

        Each iteration adds the contacts that close because of the impulses of the previous iteration.
        """
        normals, inverse = pairs.normals, computeMinverse(on.model, on.data, q)
        selected = g[normals] < SLACK
        _check_size(t, int(np.count_nonzero(selected)))
        while True:
            rows = _rows_of(selected, pairs.contacts)
            held = J[rows]
            response = inverse @ held.T
            G = held @ response
            impulses = self._solve(t, G, g[rows], pairs, selected)
            new = free + response @ impulses
            late = ~selected & ((J @ new - J @ free + g)[normals] < -LATE)
            if not late.any():
                break
            selected |= late
        laws = violation(impulses, G @ impulses + g[rows], pairs.friction[selected[: pairs.contacts]])
        work = 0.5 * float(impulses @ (held @ (free + new)))
        return new, Push(pairs, selected, impulses, laws, work, self._solver.iterations)

    def _put_back(self, on: Coordinates, t: float, h: float, q: np.ndarray) -> tuple[np.ndarray, Pairs]:
        """Correct q so that it penetrates neither ground nor stops; return q and its possible contacts.

        The correction is minimal in the metric of the mass matrix. It is necessary because points move on curved paths
        and can penetrate the ground although their velocities satisfy the contact laws.
        """
        for remaining in reversed(range(PUTS + 1)):
            pairs = self._world.look(q, SPEED * h)
            if not (remaining and (pairs.gaps < -SLOP).any()):
                break
            low = pairs.gaps < SLACK * h
            J = self._world.rows(on, q, pairs)[pairs.normals[low]]
            response = computeMinverse(on.model, on.data, q) @ J.T
            try:  # solve for velocities, because the solver's tolerance refers to velocities
                x = response @ (h * self._solver.solve(J @ response, pairs.gaps[low] / h, np.zeros(0)))
            except NotSolved:
                x = np.zeros(len(response))  # no correction exists; the step itself raises an error later
            if not np.abs(x).max(initial=0.0) > 0.0:
                break
            q = on.move(q, x)
        return q, pairs

    def _solve(self, t: float, G: np.ndarray, g: np.ndarray, pairs: Pairs, selected: np.ndarray) -> np.ndarray:
        n = pairs.contacts
        names = [pairs.keys[i] for i in np.flatnonzero(selected[:n]).tolist()]
        stops = np.flatnonzero(selected[n:]).tolist()
        three, zero = np.zeros(3), np.zeros(1)
        last = self._last
        guess = np.concatenate([*(last.get(x, three) for x in names), *(last.get(("stop", i), zero) for i in stops)])
        try:
            impulses = self._solver.solve(G, g, pairs.friction[selected[:n]], guess)
        except FloatingPointError:
            raise Diverged(np.full(self.settings.model.nv, np.nan)) from None
        except NotSolved as error:
            raise StepFailed(self._unsolved(t, error, G, pairs, selected)) from None
        points = impulses[: 3 * len(names)].reshape(-1, 3)
        stop_impulses = impulses[3 * len(names) :, None]
        self._last = dict(zip(names, points, strict=True)) | {
            ("stop", i): x for i, x in zip(stops, stop_impulses, strict=True)
        }
        return impulses

    def _unsolved(self, t: float, error: NotSolved, G: np.ndarray, pairs: Pairs, selected: np.ndarray) -> str:
        n, model = pairs.contacts, self.settings.model
        indices = np.flatnonzero(selected[:n])
        names = sorted({model.names[j] for j in pairs.joints[indices, 0].tolist()})
        where = f"{len(indices)} contacts on {', '.join(map(repr, names))}" if names else "stops"
        blocks = G.reshape(len(G), -1)
        stuck = [
            k
            for k in range(len(indices))
            if blocks[3 * k + 2, 3 * k + 2]
            < pairs.friction[indices[k]] * np.hypot(*blocks[3 * k + 2, 3 * k : 3 * k + 2])
        ]
        why = (
            "The friction coefficient is so large that a tangential impulse drives the contact into the ground "
            "(Painleve's paradox), so the rigid-body equations have no solution. Reduce the friction coefficient."
            if stuck
            else f"Reduce the step (dt = {self.settings.dt:g} s now), or use fewer points per body."
        )
        return (
            f"in the step from t = {t:g} s no impulses were found that satisfy the contact laws ({where}). After "
            f"{error.iterations} iterations, the violation is {error.worst:.2g} m/s. {why} error.result contains the "
            "motion up to this step."
        )


def _check_size(t: float, contacts: int) -> None:
    needed = 3 * 8 * (3 * contacts) ** 2  # [bytes], for the matrix, its copy and its factorization
    if contacts > 500:
        text = f"simulate: {contacts} points touch at once at t = {t:g} s, and their system needs {needed / 1e9:.3g} GB"
        check_free(needed, text, "Use fewer points, such as the corners of each sole.")


def _rows_of(selected: np.ndarray, contacts: int) -> np.ndarray:
    indices = np.flatnonzero(selected[:contacts])
    return np.concatenate(
        [(3 * indices[:, None] + np.arange(3)).ravel(), 3 * contacts + np.flatnonzero(selected[contacts:])]
    ).astype(np.int64)
