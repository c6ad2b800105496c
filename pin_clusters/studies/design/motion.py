"""The motion of a mechanism if nobody gives one: each independent joint through its range, one after the other."""

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
    """Each independent joint goes by minimum jerk to 90 % of its range, both ways, and back to the reference pose.

    The joints of a cluster take turns, those of different clusters go together. At most 1 rad (0.2 m) to either side;
    of a rotor that turns something as much as moves that so far; a crank that turns fully makes one turn.

    Attributes:
        sweeps: Of all independent joints.
        period: Of one joint, [s].
    """

    sweeps: Sequence[Sweep] = field(repr=False)
    period: float = 2.0

    @property
    def label(self) -> str:
        """What it is, in a few words."""
        return f"every independent joint in turn through its range, {self.period:g} s each"

    def as_dict(self) -> dict[str, Any]:
        """Return what it is, ready for JSON."""
        return {"through_range": [s.moved.name for s in self.sweeps], "period": self.period}

    def states(self, model: ClusterModel) -> Motion:
        """Return the motion of the whole robot; shapes as those of every trajectory."""
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
            own = slice(slot * _SAMPLES, (slot + 1) * _SAMPLES + 1)
            x, dx, ddx = self._way(s, time[own] - slot * self.period)
            column = s.moved.column
            offset[own, column] += x
            v[own, column] += dx
            a[own, column] += ddx
            if s.turns:
                offset[own.stop :, column] = x[-1]
        q = np.empty((len(time), model.nq))
        q[0] = model.q_reference
        for i in range(1, len(time)):
            q[i] = integrate(model, q[i - 1], np.ascontiguousarray(offset[i] - offset[i - 1]))
        return time, q, v, a

    def _way(self, s: Sweep, time: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        start = s.values[s.reference]
        if s.turns:
            return _moves(time, self.period, (0.0, TURN if s.high.kind == "full turn" else -TURN))
        most = _MOST[s.moved.unit]
        if s.moved.rotor:
            led = [np.abs(np.ptp(s.of(c.name))) for c in s.joints if not c.rotor]
            most *= max(1.0, float(np.ptp(s.values)) / max([x for x in led if x > 0.0], default=math.inf))
        low, high = (
            float(np.clip(_PART * (at - start), -most, most)) if math.isfinite(at) else math.copysign(0.5 * most, at)
            for at in (s.low.at, s.high.at)
        )
        return _moves(time, self.period, (0.0, high, low, 0.0))


def _moves(time: np.ndarray, period: float, at: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return position, velocity and acceleration of moves by minimum jerk from one place to the next."""
    each = period / (len(at) - 1)
    k = np.minimum((time / each).astype(int), len(at) - 2)
    s = np.clip(time / each - k, 0.0, 1.0)
    start, way = np.array(at)[k], np.diff(np.array(at))[k]
    x = start + way * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    dx = way / each * 30.0 * s**2 * (1.0 - s) ** 2
    return x, dx, way / each**2 * 60.0 * s * (1.0 - s) * (1.0 - 2.0 * s)
