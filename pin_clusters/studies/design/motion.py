"""Define the default motion of a mechanism, in which the independent joints move through their ranges in turn."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...model import ClusterModel
from ...model.configuration import integrate
from ..study.trajectories import Motion
from .sweep import TURN, Sweep

_PART, _MOST = 0.9, {"rad": 1.0, "m": 0.2}
_SAMPLES = 200


@dataclass(frozen=True, eq=False)
class ThroughRange:
    """Minimum-jerk motion of each independent joint through 90 % of its range in both directions, and back.

    The joints of one cluster move one after the other; joints of different clusters move at the same time. The
    amplitude is at most 1 rad (0.2 m) in each direction; for a rotor, this bound applies to the driven joint. A crank
    that can turn fully makes one turn.

    Attributes:
        sweeps: Sweeps of all independent joints.
        period: Duration of one joint's motion, [s].
    """

    sweeps: Sequence[Sweep] = field(repr=False)
    period: float = 2.0

    @property
    def label(self) -> str:
        """Short description for titles."""
        return f"each independent joint moves through its range in turn, {self.period:g} s each"

    def as_dict(self) -> dict[str, Any]:
        """Return the parameters of the motion for JSON."""
        return {"through_range": [s.moved.name for s in self.sweeps], "period": self.period}

    def states(self, model: ClusterModel) -> Motion:
        """Return time, q, v and a of the robot; see ``Trajectory.states``."""
        slots: dict[frozenset[str], int] = {}
        turns = []
        for s in self.sweeps:
            key = frozenset(c.name for c in s.joints)
            turns.append(slots.get(key, 0))
            slots[key] = turns[-1] + 1
        count = max(slots.values(), default=1)
        time = np.arange(count * _SAMPLES + 1) * (self.period / _SAMPLES)
        offset, v, a = np.zeros((3, len(time), model.nv))
        for s, slot in zip(self.sweeps, turns, strict=True):
            interval = slice(slot * _SAMPLES, (slot + 1) * _SAMPLES + 1)
            x, dx, ddx = self._way(s, time[interval] - slot * self.period)
            column = s.moved.column
            offset[interval, column] += x
            v[interval, column] += dx
            a[interval, column] += ddx
            if s.turns:
                offset[interval.stop :, column] = x[-1]
        q = np.empty((len(time), model.nq))
        q[0] = model.q_reference
        for i in range(1, len(time)):
            q[i] = integrate(model, q[i - 1], np.ascontiguousarray(offset[i] - offset[i - 1]))
        return time, q, v, a

    def _way(self, s: Sweep, time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        start = s.values[s.reference]
        if s.turns:
            return _moves(time, self.period, (0.0, TURN if s.high.kind == "full turn" else -TURN))
        amplitude = _MOST[s.moved.unit]
        if s.moved.rotor:
            led = [np.abs(np.ptp(s.of(c.name))) for c in s.joints if not c.rotor]
            amplitude *= max(1.0, float(np.ptp(s.values)) / max([x for x in led if x > 0.0], default=math.inf))
        low, high = (
            float(np.clip(_PART * (end - start), -amplitude, amplitude))
            if math.isfinite(end)
            else math.copysign(0.5 * amplitude, end)
            for end in (s.low.at, s.high.at)
        )
        return _moves(time, self.period, (0.0, high, low, 0.0))


def _moves(time: np.ndarray, period: float, at: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return position, velocity and acceleration of minimum-jerk motions between the positions ``at``."""
    duration = period / (len(at) - 1)
    k = np.minimum((time / duration).astype(int), len(at) - 2)
    s = np.clip(time / duration - k, 0.0, 1.0)
    start, distance = np.array(at)[k], np.diff(np.array(at))[k]
    x = start + distance * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    dx = distance / duration * 30.0 * s**2 * (1.0 - s) ** 2
    return x, dx, distance / duration**2 * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
