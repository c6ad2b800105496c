"""Compute the range of motion of every joint, including the limits that loop-closure constraints impose."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...errors import BranchLost
from ...model import ClusterModel
from ...model.configuration import integrate
from ..pages.results import Result
from .coordinates import Coordinate
from .sweep import End, Sweep


@dataclass(frozen=True)
class JointRange(Result):
    """Range of motion of a joint.

    Attributes:
        joint: Name of the joint.
        unit: ``"rad"`` or ``"m"``.
        independent: Whether the joint is an independent joint of the model.
        limits: Lower and upper limit in the file, [rad] or [m]; infinite if there is no limit.
        reference: Value in the reference pose, [rad] or [m].
        low: Smallest value, [rad] or [m].
        high: Largest value, [rad] or [m].
        low_end: Reason for the lower end. A dependent joint ends where ``low_by`` stops, or where its motion reverses.
        high_end: Reason for the upper end.
        low_by: Independent joint that moves this joint to its lower end while the other independent joints rest.
        high_by: Independent joint that moves this joint to its upper end.
        anywhere: Smallest and largest value if all independent joints of the cluster move. None if there is only one
            independent joint, or if there are more than two and one of them turns fully or moves without limit.
        turns: Whether the joint turns fully. If so, ``high - low`` is its motion per turn of the joint that moves it.
    """

    joint: str
    unit: str
    independent: bool
    limits: tuple[float, float]
    reference: float
    low: float
    high: float
    low_end: End
    high_end: End
    low_by: str
    high_by: str
    anywhere: tuple[float, float] | None
    turns: bool

    @property
    def span(self) -> tuple[float, float]:
        """Return ``anywhere`` or, if it is unknown or the joint turns fully, the range while one joint moves."""
        return (self.low, self.high) if self.anywhere is None or self.turns else self.anywhere

    def as_dict(self) -> dict[str, Any]:
        """Return the range as numbers and text for JSON and CSV."""
        return {
            "joint": self.joint,
            "unit": self.unit,
            "independent": self.independent,
            "lower_limit": self.limits[0],
            "upper_limit": self.limits[1],
            "reference": self.reference,
            "low": self.low,
            "high": self.high,
            "low_ends_by": self.low_end.kind,
            "low_joint": self.low_end.joint,
            "low_moved": self.low_by,
            "high_ends_by": self.high_end.kind,
            "high_joint": self.high_end.joint,
            "high_moved": self.high_by,
            "turns_fully": self.turns,
            "anywhere_low": "" if self.anywhere is None else self.anywhere[0],
            "anywhere_high": "" if self.anywhere is None else self.anywhere[1],
        }


def ranges(
    model: ClusterModel, sweeps: Sequence[Sweep], anywhere: Mapping[str, tuple[float, float]] | None = None
) -> tuple[JointRange, ...]:
    """Return the range of each joint that a sweep moves, in tree order; ``anywhere`` contains combined ranges."""
    ranges_of_joint: dict[str, JointRange] = {}
    for c in {c.name: c for s in sweeps for c in s.joints}.values():
        own_sweep = next((s for s in sweeps if s.moved.name == c.name), None)
        ranges_of_joint[c.name] = _range(model, c, own_sweep, [s for s in sweeps if c in s.joints])
        ranges_of_joint[c.name] = replace(ranges_of_joint[c.name], anywhere=(anywhere or {}).get(c.name))
    names = list(model.names)
    return tuple(sorted(ranges_of_joint.values(), key=lambda r: names.index(r.joint)))


def _range(model: ClusterModel, c: Coordinate, own: Sweep | None, sweeps: Sequence[Sweep]) -> JointRange:
    if own is not None:
        ends = [(end.at, end, c.name) for end in (own.low, own.high)]
        turns = own.turns
    else:
        ends = []
        for sign in (-1.0, 1.0):
            candidates = [(*_extreme(model, c, s, sign), s.moved.name) for s in sweeps]
            ends.append(max(candidates, key=lambda x: round(sign * x[0], 9)))
        turns = any(s.turns and abs(s.of(c.name)[-1] - s.of(c.name)[0]) > 1.0 for s in sweeps)
    (low, low_end, low_by), (high, high_end, high_by) = ends
    return JointRange(
        c.name, c.unit, own is not None, (c.low, c.high), c.value(model, model.q_reference), low, high, low_end,
        high_end, low_by, high_by, None, turns,
    )  # fmt: skip


def _extreme(model: ClusterModel, c: Coordinate, s: Sweep, sign: float) -> tuple[float, End]:
    """Return the smallest (sign -1) or largest (+1) value of a dependent joint along a sweep, and the ``End`` there."""
    x = s.of(c.name)
    k = int(np.argmax(sign * x))
    if not s.turns:
        for index, end in ((0, s.low), (len(x) - 1, s.high)):
            if end.kind == "none" and sign * (x[index] - x[len(x) - 1 - index]) > 0.0:
                return sign * math.inf, end
            if k == index:
                return float(x[index]), end
    elif k in (0, len(x) - 1) and abs(x[-1] - x[0]) > 1.0:  # the joint advances with each turn
        return float(x[k]), s.high if s.high.kind == "full turn" else s.low
    value, where = _refined(model, c, s, sign, k)
    return value, End(where, "turning point", s.moved.name)


def _refined(model: ClusterModel, c: Coordinate, s: Sweep, sign: float, k: int) -> tuple[float, float]:
    """Return the extreme value between the neighbours of sample k, and the moved joint's value at this extreme."""
    from scipy.optimize import minimize_scalar

    last = len(s.values) - 1
    if s.turns and k in (0, last):  # the extreme can lie before or after the start of the turn
        first, width = last - 1, 2.0 * (s.values[last] - s.values[last - 1])
    else:
        first = max(k - 1, 0)
        width = s.values[min(k + 1, last)] - s.values[first]
    direction = np.zeros(model.nv)
    direction[s.moved.column] = 1.0
    base = float(s.of(c.name)[first]) - c.value(model, s.q[first])  # multiple of a full turn, for continuous joints

    def value(by: float) -> float:
        try:
            q = integrate(model, s.q[first], by * direction)
        except BranchLost:
            return math.inf
        position = c.value(model, q)
        if model.own_tree.nqs[c.joint] == 2:
            position += 2.0 * math.pi * round((s.of(c.name)[k] - base - position) / (2.0 * math.pi))
        return -sign * position

    if not width > 0.0:
        return float(s.of(c.name)[k]), float(s.values[k])
    best = minimize_scalar(value, bounds=(0.0, width), method="bounded", options={"xatol": 1e-8})
    refined, sampled = -sign * float(best.fun) + base, float(s.of(c.name)[k])
    if sign * refined > sign * sampled:
        return refined, float(s.values[first] + best.x)
    return sampled, float(s.values[k])
