"""Record the impulses of contacts and stops, and the limited torques, for the result of a simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from .._coordinates import Coordinates
from .._engine import State
from .._recorder import Recorder, SampleRecorder
from .._settings import Settings
from ..result import Touchdown
from .compiled_steps import Steps
from .motors import Motors
from .near import Pairs, World
from .solver import Violation

_APART = 2e-3
"""More than this time [s] without impulses precedes a landing, whose impulse is summed over the same time."""


@dataclass
class Push:
    """Impulses of a step on some contacts and stops, the violations of the contact laws, and the work."""

    pairs: Pairs
    chosen: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    impulses: np.ndarray = field(default_factory=lambda: np.zeros(0))
    violation: Violation = field(default_factory=lambda: Violation(0.0, 0.0, 0.0))
    work: float = 0.0
    iterations: int = 0

    @property
    def normal_impulses(self) -> np.ndarray:
        return self.impulses[2 : 3 * int(np.count_nonzero(self.chosen[: self.pairs.contacts])) : 3]


class ContactRecorder(SampleRecorder, Protocol):
    """Interface of the recorders that the engines on a ground call."""

    motors: Motors | None

    def push(self, k: int, t: float, push: Push, unmet: np.ndarray) -> None: ...

    def end(self, on: Coordinates, state: State) -> np.ndarray: ...


class GroundRecorder(Recorder):
    """Recorder that also sums the impulses from each sample to the next; ``motors`` limits the torques, or is None."""

    def __init__(self, settings: Settings, world: World) -> None:
        super().__init__(settings)
        n, self._world = settings.samples, world
        self.motors = Motors(settings.model) if settings.effort else None
        bodies = world.bodies
        self._place = {j: i for i, j in enumerate(bodies)}
        self.contact_impulses, self.contact_centres = np.zeros((2, n, len(bodies), 3))
        self.gap = np.full((n, len(bodies)), math.inf)
        self.limit_impulses = np.zeros((n, len(world.stops)))
        self.contact_laws, self.contact_work, self.contact_iterations = np.zeros((n, 3)), np.zeros(n), np.zeros(n)
        self.unmet_torque = np.zeros((n, settings.model.nv))
        self._pressed = np.zeros((n, len(bodies)))
        self._left, self._apart = np.full(len(bodies), -math.inf), max(_APART, 1.5 * settings.dt)
        self.touchdowns, self._landing = list[Touchdown](), dict[int, int]()

    def push(self, k: int, t: float, push: Push, unmet: np.ndarray) -> None:
        """Add the impulses of step k to the last sample that is not later than the start of the step."""
        row = min(k // self.settings.record, self.count - 1)
        pairs, n = push.pairs, push.pairs.contacts
        for side in pairs.joints.T.tolist():
            moving = [i for i, j in enumerate(side) if j]
            np.minimum.at(self.gap[row], [self._place[side[i]] for i in moving], pairs.gaps[moving])
        self._lack(row, unmet)
        if not len(push.chosen):
            return
        self.contact_laws[row] = np.maximum(self.contact_laws[row], push.violation)
        self.contact_work[row] += push.work
        self.contact_iterations[row] = max(self.contact_iterations[row], push.iterations)
        selected = np.flatnonzero(push.chosen[:n])
        l = push.impulses[: 3 * len(selected)].reshape(-1, 3)
        self.limit_impulses[row, push.chosen[n:]] += push.impulses[3 * len(selected) :]
        now = dict[int, list[Any]]()
        for i, x in zip(selected.tolist(), l, strict=True):
            world = x @ pairs.axes[i]
            for side, sign in ((0, 1.0), (1, -1.0)):
                if j := int(pairs.joints[i, side]):
                    now.setdefault(self._place[j], []).append((sign * world, pairs.places[i], x[2]))
        for b, pushes in now.items():
            weight = sum(p[2] for p in pushes)
            if not weight > 0.0:
                continue
            total, middle = sum(p[0] for p in pushes), sum(p[2] * p[1] for p in pushes)
            self.contact_impulses[row, b] += total
            self.contact_centres[row, b] += middle
            self._pressed[row, b] += weight
            self._touch(b, t, t - self._left[b] > self._apart, middle / weight, total)
            self._left[b] = t

    def take(self, k: int, steps: Steps, count: int, unmet: np.ndarray) -> None:
        """Add the impulses of ``count`` steps, beginning with step k, to the samples that precede these steps."""
        n, rows_of_steps = len(steps.gaps), np.arange(k, k + count) // self.settings.record
        rows, body_of_point = (
            steps.samples[:count, steps.width :],
            [self._place[j] for j in self._world.points.joints.tolist()],
        )
        np.maximum.at(self.contact_laws, rows_of_steps, rows[:, 7 * n : 7 * n + 3])
        np.add.at(self.contact_work, rows_of_steps, rows[:, 7 * n + 3])
        np.maximum.at(self.contact_iterations, rows_of_steps, steps.iterations[:count])
        if unmet.any():
            for i, row in enumerate(rows_of_steps.tolist()):
                self._lack(row, unmet[i])
        gaps = np.where(rows[:, :n] <= steps.reach, rows[:, :n], math.inf)
        impulses, places = (rows[:, (1 + 3 * i) * n : (4 + 3 * i) * n].reshape(count, n, 3) for i in range(2))
        weights = impulses @ steps.normal
        for b in range(len(self._left)):
            points = [i for i, x in enumerate(body_of_point) if x == b]
            np.minimum.at(self.gap[:, b], rows_of_steps, gaps[:, points].min(axis=1, initial=math.inf))
            weight, total = weights[:, points].sum(axis=1), impulses[:, points].sum(axis=1)
            pushed = np.flatnonzero(weight > 0.0)
            if not len(pushed):
                continue
            middle = np.einsum("kp,kpi->ki", weights[:, points], places[:, points])
            for sums, x in ((self.contact_impulses, total), (self.contact_centres, middle), (self._pressed, weight)):
                np.add.at(sums[:, b], rows_of_steps[pushed], x[pushed])
            times = (k + pushed) * self.settings.dt
            new = np.diff(times, prepend=self._left[b]) > self._apart
            landed = [self.touchdowns[self._landing[b]].time] if b in self._landing else [-math.inf]
            landings = np.concatenate([landed, times[new]])
            early = times - landings[np.searchsorted(landings, times, side="right") - 1] < self._apart
            for i in np.flatnonzero(early).tolist():
                x = pushed[i]
                self._touch(b, float(times[i]), bool(new[i]), middle[x] / weight[x], total[x])
            self._left[b] = times[-1]

    def _touch(self, b: int, t: float, lands: bool, place: np.ndarray, impulse: np.ndarray) -> None:
        if lands:
            self._landing[b] = len(self.touchdowns)
            name = self._world.names[b]
            self.touchdowns.append(Touchdown(t, name, tuple(place.tolist()), tuple(impulse.tolist())))
        elif t - (last := self.touchdowns[self._landing[b]]).time < self._apart:
            self.touchdowns[self._landing[b]] = replace(last, impulse=tuple((impulse + last.impulse).tolist()))

    def _lack(self, row: int, unmet: np.ndarray) -> None:
        largest = self.unmet_torque[row]
        self.unmet_torque[row] = np.where(np.abs(unmet) > np.abs(largest), unmet, largest)

    def end(self, on: Coordinates, state: State) -> np.ndarray:
        """Record the final state with the torque of the last step; return an acceleration of zero."""
        still = np.zeros_like(state.v)
        if self.wants(state.k):
            tau = self.tau[self.count - 1] if self.count else still
            self.add(self.settings.time(state.k), state.q, tau, on.sample(state.q, state.v, still))
        return still

    def _fields(self) -> dict[str, Any]:
        n, world = self.count, self._world
        with np.errstate(invalid="ignore", divide="ignore"):
            centres = self.contact_centres / self._pressed[..., None]
        names = "contact_impulses", "gap", "limit_impulses", "contact_laws", "contact_work", "unmet_torque"
        return (
            super()._fields()
            | {name: getattr(self, name)[:n].copy() for name in names}
            | {
                "contact_centres": centres[:n],
                "contact_iterations": self.contact_iterations[:n].astype(np.int64),
                "bodies": world.names,
                "stops": tuple(world.stops.names),
                "touchdowns": tuple(sorted(self.touchdowns, key=lambda t: t.time)),
            }
        )
