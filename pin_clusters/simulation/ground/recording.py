"""What contacts, stops and motors did, for the result of a simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .._recorder import Recorder
from .._settings import Settings
from ..result import SimulationResult, Touchdown
from .motors import Motors
from .near import Near, World
from .solver import Missed

_APART = 2e-3
"""[s]: a body that nothing pushed for so long lands when it is pushed again."""


@dataclass
class Push:
    """What pushed in a step: impulses on chosen contacts and stops, by how much the laws are missed, their work."""

    near: Near
    chosen: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=bool))
    impulses: np.ndarray = field(default_factory=lambda: np.zeros(0))
    missed: Missed = field(default_factory=lambda: Missed(0.0, 0.0, 0.0))
    work: float = 0.0
    iterations: int = 0


class GroundRecorder(Recorder):
    """Samples with contacts: sums over the steps that begin with a sample.

    Attributes:
        motors: Limits of torques that are kept, or None.
    """

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
        self._left = np.full(len(bodies), -math.inf)
        self.touchdowns = list[Touchdown]()

    def push(self, k: int, t: float, push: Push, unmet: np.ndarray) -> None:
        """Add what pushed in step k to the sample at or before its start."""
        at = min(k // self.settings.record, self.count - 1)
        near, n = push.near, push.near.contacts
        own = [self._place[j] for j in near.joints[:, 0].tolist()]
        np.minimum.at(self.gap[at], own, near.room[:n])
        self.unmet_torque[at] = np.where(np.abs(unmet) > np.abs(self.unmet_torque[at]), unmet, self.unmet_torque[at])
        if not len(push.chosen):
            return
        self.contact_laws[at] = np.maximum(self.contact_laws[at], push.missed)
        self.contact_work[at] += push.work
        self.contact_iterations[at] = max(self.contact_iterations[at], push.iterations)
        chosen = np.flatnonzero(push.chosen[:n])
        l = push.impulses[: 3 * len(chosen)].reshape(-1, 3)
        self.limit_impulses[at, push.chosen[n:]] += push.impulses[3 * len(chosen) :]
        now = dict[int, list[Any]]()
        for i, x in zip(chosen.tolist(), l, strict=True):
            world = x @ near.axes[i]
            for side, sign in ((0, 1.0), (1, -1.0)):
                if j := int(near.joints[i, side]):
                    now.setdefault(self._place[j], []).append((sign * world, near.places[i], x[2]))
        for b, pushes in now.items():
            weight = sum(p[2] for p in pushes)
            if not weight > 0.0:
                continue
            total, middle = sum(p[0] for p in pushes), sum(p[2] * p[1] for p in pushes)
            self.contact_impulses[at, b] += total
            self.contact_centres[at, b] += middle
            self._pressed[at, b] += weight
            if t - self._left[b] > max(_APART, 1.5 * self.settings.dt):
                self.touchdowns.append(
                    Touchdown(t, self._world.names[b], tuple((middle / weight).tolist()), tuple(total.tolist()))
                )
            self._left[b] = t

    def result(self) -> SimulationResult:
        """Return what is there."""
        n, world = self.count, self._world
        with np.errstate(invalid="ignore", divide="ignore"):
            centres = self.contact_centres / self._pressed[..., None]
        names = "contact_impulses", "gap", "limit_impulses", "contact_laws", "contact_work", "unmet_torque"
        return replace(
            super().result(), **{name: getattr(self, name)[:n].copy() for name in names},
            contact_centres=centres[:n], contact_iterations=self.contact_iterations[:n].astype(np.int64),
            bodies=world.names, stops=tuple(world.stops.names), touchdowns=tuple(self.touchdowns),
        )  # fmt: skip
