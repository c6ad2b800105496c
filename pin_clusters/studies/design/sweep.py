"""How far one independent joint goes, both ways, the others at rest; and what ends it."""

import math
from dataclasses import dataclass

import numpy as np

from ...algorithms.dynamics.condition import condition
from ...algorithms.dynamics.coupling import coupling_jacobian
from ...errors import BranchLost
from ...model import Cluster, ClusterModel, loops_of
from ...model.configuration import integrate
from ..pages.results import Result
from .coordinates import Coordinate, coordinates, has_loops

TURN = 2.0 * math.pi
_TURNS = 24
"""Whole turns after which a linkage that has not come back is left: rotors turn often for one of what they drive."""
_STEPS, _HALVINGS = 240, 70
_CLOSE = 1e-12
"""An end is found to this part of a radian or metre."""
_BACK = 1e-5
"""How far before an end one looks back, to see what grows towards it."""
_GROWS, _LARGE = 10.0, 1e3
_ROUNDING = 1e-12
_FAR = 10.0
"""Sliding joints without limits are followed that far, [m]."""


@dataclass(frozen=True)
class End(Result):
    """Where a motion ends, and why.

    Attributes:
        at: Value of the joint that is moved, [rad] or [m]; infinite where nothing ends it.
        kind: ``"limit"``: of ``joint``; ``"dead centre"``: det K_d = 0, the moved joint turns back while ``joint``
            moves on; ``"change point"``: the linkage gains a freedom; ``"full turn"``: a turn on, the same pose;
            ``"turning point"``: of a dependent joint, which turns back while the moved one goes on; ``"open"``: a loop
            does not close farther on; ``"none"``: nothing was found.
        joint: Whose limit it is, or which joint moves on.
        turns: Of a full turn: how many the limits of all joints allow.
    """

    at: float
    kind: str
    joint: str = ""
    turns: float = math.inf


@dataclass(frozen=True, eq=False)
class Sweep:
    """The way of one independent joint through its range, the other independent joints at the reference pose.

    Attributes:
        moved: The joint.
        joints: All joints of its cluster that have one degree of freedom.
        low: Its lower end.
        high: Its upper end.
        values: Of the joint, evenly spread, the reference pose among them, shape (N,), [rad] or [m].
        q: Configurations, shape (N, nq).
        positions: Of every joint in ``joints``, shape (N, joints).
        reference: Which sample is the reference pose.
    """

    moved: Coordinate
    joints: tuple[Coordinate, ...]
    low: End
    high: End
    values: np.ndarray
    q: np.ndarray
    positions: np.ndarray
    reference: int

    def of(self, name: str) -> np.ndarray:
        """Return the positions of a joint, shape (N,)."""
        return self.positions[:, [c.name for c in self.joints].index(name)]

    @property
    def turns(self) -> bool:
        """Whether the joint turns fully."""
        return "full turn" in (self.low.kind, self.high.kind)


class Walker:
    """Moves one independent joint of a cluster from pose to pose, and sees what stops it."""

    def __init__(self, model: ClusterModel, cluster: Cluster, moved: Coordinate) -> None:
        self.model, self.moved = model, moved
        self.data = model.createData()
        self.joints = coordinates(model, cluster.joints)
        self.loops = has_loops(model, cluster)
        self.direction = np.zeros(model.nv)
        self.direction[moved.column] = 1.0
        self.names = set(cluster.joints)
        # a joint that starts beyond a limit cannot be stopped by it
        self.watched = [c for c in self.joints if self._excess(c, model.q_reference) <= _ROUNDING]

    def go(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, str, str]:
        """Return the configuration a step on, and kind and joint of what forbids it (both empty if nothing does)."""
        try:
            q = integrate(self.model, q, v)
        except BranchLost:
            return q, "lost", ""
        worst = max(self.watched, key=lambda c: self._excess(c, q), default=None)
        if worst is not None and self._excess(worst, q) > _ROUNDING:
            return q, "limit", worst.name
        return q, "", ""

    def _excess(self, c: Coordinate, q: np.ndarray) -> float:
        x = c.value(self.model, q)
        return max(c.low - x, x - c.high)

    def end(self, sign: float) -> tuple[End, float]:
        """Walk one way; return the end, and how far it is from the reference pose."""
        start = self.moved.value(self.model, self.model.q_reference)
        room = self.moved.high - start if sign > 0.0 else start - self.moved.low
        watched = any(c.name == self.moved.name for c in self.watched)
        cap = room if watched and math.isfinite(room) else math.inf
        if not self.loops:
            return self._end_of_a_line(start, sign)
        longest = _FAR if self.moved.slides else _TURNS * TURN
        stride = min(cap, 1.0 if self.moved.slides else TURN) / _STEPS
        done, q, way = 0.0, self.model.q_reference, sign * self.direction
        while True:
            bad = min(done + stride, cap)
            new, kind, joint = (q, "limit", self.moved.name) if bad <= done else self.go(q, (bad - done) * way)
            if kind:
                break
            q, done = new, bad
            turn = max(1, round(done / TURN)) * TURN
            if not self.moved.slides and abs(done - turn) < 1e-9 and self._same(q):
                return End(start + sign * done, "full turn", "", self._turns(q, done)), done
            if done >= longest:
                return End(sign * math.inf, "none"), done
        q, done, bad, kind, joint = self.bisected(q, way, (done, bad), kind, joint)
        if kind == "limit" and joint == self.moved.name:
            done = bad  # known exactly
        elif kind == "lost":
            kind, joint = self.why(q, -way)
        return End(start + sign * done, kind, joint), done

    def bisected(
        self, q: np.ndarray, way: np.ndarray, ends: tuple[float, float], kind: str, joint: str, most: int = _HALVINGS
    ) -> tuple[np.ndarray, float, float, str, str]:
        """Return the last configuration between what can be reached and what kind and joint forbid, and both ends."""
        done, bad = ends
        for _ in range(most):
            if bad - done < _CLOSE:
                break
            middle = 0.5 * (done + bad)
            new, what, who = self.go(q, (middle - done) * way)
            if what:
                bad, kind, joint = middle, what, who
            else:
                q, done = new, middle
        return q, done, bad, kind, joint

    def _end_of_a_line(self, start: float, sign: float) -> tuple[End, float]:
        """Return the same where the other joints follow by constant ratios."""
        rates = sign * coupling_jacobian(self.model, self.data, self.model.q_reference)[:, self.moved.column]
        rooms = {}
        for c in self.watched:
            x, rate = c.value(self.model, self.model.q_reference), rates[c.iv]
            if rate != 0.0:
                rooms[c.name] = max(0.0, ((c.high if rate > 0.0 else c.low) - x) / rate)
        first = min(rooms, key=lambda name: rooms[name], default="")
        room = rooms.get(first, math.inf)
        if not math.isfinite(room):
            return End(sign * math.inf, "none"), math.pi
        return End(start + sign * room, "limit", first), room

    def _same(self, q: np.ndarray) -> bool:
        """Whether the pose is that of the reference, up to whole turns of joints that turn."""
        for c in (c for c in self.joints if not c.rotor):
            apart = c.value(self.model, q) - c.value(self.model, self.model.q_reference)
            if abs(apart if c.slides else (apart + math.pi) % TURN - math.pi) > 1e-6:
                return False
        return True

    def _turns(self, q: np.ndarray, done: float) -> float:
        """Return how many turns the limits of all joints allow, as joints may be a turn further after each."""
        found = math.inf
        for c in self.watched:
            before, after = (c.value(self.model, x) for x in (self.model.q_reference, q))
            each = (after - before) / (done / TURN)
            room = c.high - before if each > 0.0 else before - c.low
            if abs(each) > 1.0 and math.isfinite(room):
                found = min(found, room / abs(each))
        return found

    def why(self, q: np.ndarray, back: np.ndarray) -> tuple[str, str]:
        """Return why the loops cannot go on from q, where they end, and which joint would; ``back`` is the way back."""
        before_q, kind, _ = self.go(q, _BACK * back)
        K, K_d = self._conditions(q)
        K_before, K_d_before = (1.0, 1.0) if kind else self._conditions(before_q)
        if K > max(_LARGE, _GROWS * K_before):
            return "change point", ""
        if K_d > _GROWS * K_d_before:
            return "dead centre", self._moves_on(q)
        return "open", ""

    def _conditions(self, q: np.ndarray) -> tuple[float, float]:
        found = [x for x in condition(self.model, self.data, q) if self.names & set(x.cluster)]
        return max((x.K for x in found), default=1.0), max((x.K_d for x in found), default=1.0)

    def _moves_on(self, q: np.ndarray) -> str:
        """Return the joint that moves most while the independent ones stand: along the kernel of K_d."""
        loops = loops_of(self.model)
        for loop, (_, _, K) in zip(loops.clusters, loops.conditions(q), strict=True):
            if self.names & {self.model.names[j] for j in loop.joints}:
                kernel = np.abs(np.linalg.svd(K[:, : len(loop.dependents)])[2][-1])
                rates = dict(zip(loop.dependents, kernel, strict=True))
                links = [c for c in self.joints if c.iv in rates and not c.rotor]
                return max(links, key=lambda c: rates[c.iv]).name if links else ""
        return ""


def sweep(model: ClusterModel, cluster: Cluster, moved: Coordinate, samples: int) -> Sweep:
    """Find the ends of an independent joint, and go through its range; see ``Sweep``."""
    walker = Walker(model, cluster, moved)
    start = moved.value(model, model.q_reference)
    (low, down), (high, up) = walker.end(-1.0), walker.end(1.0)
    if low.kind == high.kind == "full turn":
        down = up = 0.5 * min(down, up)
    elif "full turn" in (low.kind, high.kind):  # the other way it ends; a turn has all poses
        down, up = (0.0, up) if high.kind == "full turn" else (down, 0.0)
    below = round((samples - 1) * down / (down + up)) if down + up > 0.0 else 0
    below = min(max(below, int(down > 0.0)), samples - 1 - int(up > 0.0))
    offsets = np.concatenate([-np.linspace(down, 0.0, below + 1)[:-1], np.linspace(0.0, up, samples - below)])
    if down + up == 0.0:
        offsets, below = np.zeros(1), 0
    q = _along(walker, offsets, below)
    positions = np.column_stack([c.values(model, q) for c in walker.joints])
    return Sweep(moved, walker.joints, low, high, start + offsets, q, positions, below)


def _along(walker: Walker, offsets: np.ndarray, middle: int) -> np.ndarray:
    """Return the configurations at some offsets from the reference pose, which is the one in the middle."""
    model = walker.model
    q = np.empty((len(offsets), model.nq))
    q[middle] = model.q_reference
    for way in (range(middle + 1, len(offsets)), range(middle - 1, -1, -1)):
        last, at = model.q_reference, 0.0
        for i in way:
            try:
                last = integrate(model, last, (offsets[i] - at) * walker.direction)
            except BranchLost:  # rounding at the very end of the range
                last = integrate(model, last, (offsets[i] - at) * (1.0 - 1e-7) * walker.direction)
            at = offsets[i]
            q[i] = last
    return q
