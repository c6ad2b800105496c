"""Find the range of one independent joint while the others rest, and the reasons for the ends of this range."""

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
_TURNS = 24  # Number of turns after which the search for a full turn stops; geared rotors need many turns
_STEPS, _HALVINGS = 240, 70
_CLOSE = 1e-12  # Accuracy of the position of an end, [rad] or [m]
_BACK = 1e-5  # Distance from an end for the comparison of condition numbers, [rad] or [m]
_GROWS, _LARGE = 10.0, 1e3
_ROUNDING = 1e-12
_FAR = 10.0  # Length of the search along prismatic joints without limits, [m]


@dataclass(frozen=True)
class End(Result):
    """End of a joint's range, and the reason for it.

    Attributes:
        at: Value of the moved joint, [rad] or [m]; infinite if the motion has no end.
        kind: ``"limit"``: ``joint`` is at its limit. ``"dead centre"``: the dependent-joint Jacobian is singular, so
            the moved joint reverses while ``joint`` moves on. ``"change point"``: the linkage gains a degree of
            freedom. ``"full turn"``: the pose repeats after a turn. ``"turning point"``: a dependent joint reverses but
            the moved joint does not. ``"open"``: a loop cannot close beyond the end. ``"none"``: no end was found.
        joint: The joint at its limit, or the joint that moves on (continues to move).
        turns: Number of turns that the joint limits allow, if ``kind`` is ``"full turn"``.
    """

    at: float
    kind: str
    joint: str = ""
    turns: float = math.inf


@dataclass(frozen=True, eq=False)
class Sweep:
    """Motion of one independent joint through its range, with the other independent joints at the reference pose.

    Attributes:
        moved: The joint that moves.
        joints: All joints of the cluster that have one degree of freedom.
        low: Lower end of the range.
        high: Upper end of the range.
        values: Values of ``moved``, evenly spaced on each side of the reference pose, shape (N,), [rad] or [m].
        q: Configurations, shape (N, nq).
        positions: Positions of all ``joints``, shape (N, joints), [rad] or [m].
        reference: Index of the reference pose among the samples.
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
        """Return the positions of a joint, shape (N,), [rad] or [m]."""
        return self.positions[:, [c.name for c in self.joints].index(name)]

    @property
    def turns(self) -> bool:
        """Whether the joint makes full turns."""
        return "full turn" in (self.low.kind, self.high.kind)


class Walker:
    """Moves the joints of a cluster between poses, and determines why a motion ends."""

    def __init__(self, model: ClusterModel, cluster: Cluster, moved: Coordinate) -> None:
        self.model, self.moved = model, moved
        self.data = model.createData()
        self.joints = coordinates(model, cluster.joints)
        self.loops = has_loops(model, cluster)
        self.direction = np.zeros(model.nv)
        self.direction[moved.column] = 1.0
        self.names = set(cluster.joints)
        # Joints that start beyond a limit are not checked, because such a limit cannot end their motion.
        self.watched = [c for c in self.joints if self._excess(c, model.q_reference) <= _ROUNDING]

    def go(self, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, str, str]:
        """Return the configuration after a step v, and ``kind`` and ``joint`` (see ``End``) if it reaches an end."""
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
        """Move ``moved`` in one direction; return the end and its distance from the reference pose, [rad] or [m]."""
        start = self.moved.value(self.model, self.model.q_reference)
        margin = self.moved.high - start if sign > 0.0 else start - self.moved.low
        watched = any(c.name == self.moved.name for c in self.watched)
        cap = margin if watched and math.isfinite(margin) else math.inf
        if not self.loops:
            return self._end_of_a_line(start, sign)
        longest = _FAR if self.moved.slides else _TURNS * TURN
        stride = min(cap, 1.0 if self.moved.slides else TURN) / _STEPS
        done, q, direction = 0.0, self.model.q_reference, sign * self.direction
        while True:
            bad = min(done + stride, cap)
            new, kind, joint = (q, "limit", self.moved.name) if bad <= done else self.go(q, (bad - done) * direction)
            if kind:
                break
            q, done = new, bad
            turn = max(1, round(done / TURN)) * TURN
            if not self.moved.slides and abs(done - turn) < 1e-9 and self._same(q):
                return End(start + sign * done, "full turn", "", self._turns(q, done)), done
            if done >= longest:
                return End(sign * math.inf, "none"), done
        q, done, bad, kind, joint = self.bisected(q, direction, (done, bad), kind, joint)
        if kind == "limit" and joint == self.moved.name:
            done = bad  # the limit of the moved joint itself needs no bisection
        elif kind == "lost":
            kind, joint = self.why(q, -direction)
        return End(start + sign * done, kind, joint), done

    def bisected(
        self, q: np.ndarray, way: np.ndarray, ends: tuple[float, float], kind: str, joint: str, most: int = _HALVINGS
    ) -> tuple[np.ndarray, float, float, str, str]:
        """Bisect the distances ``ends`` (reachable, not reachable) along ``way``; return q, ends, kind and joint."""
        done, bad = ends
        for _ in range(most):
            if bad - done < _CLOSE:
                break
            middle = 0.5 * (done + bad)
            new, middle_kind, middle_joint = self.go(q, (middle - done) * way)
            if middle_kind:
                bad, kind, joint = middle, middle_kind, middle_joint
            else:
                q, done = new, middle
        return q, done, bad, kind, joint

    def _end_of_a_line(self, start: float, sign: float) -> tuple[End, float]:
        """Return the end and its distance for a cluster without loops, in which all velocity ratios are constant."""
        rates = sign * coupling_jacobian(self.model, self.data, self.model.q_reference)[:, self.moved.column]
        margins = {}
        for c in self.watched:
            x, rate = c.value(self.model, self.model.q_reference), rates[c.iv]
            if rate != 0.0:
                margins[c.name] = max(0.0, ((c.high if rate > 0.0 else c.low) - x) / rate)
        first = min(margins, key=lambda name: margins[name], default="")
        margin = margins.get(first, math.inf)
        if not math.isfinite(margin):
            return End(sign * math.inf, "none"), math.pi
        return End(start + sign * margin, "limit", first), margin

    def _same(self, q: np.ndarray) -> bool:
        for c in (c for c in self.joints if not c.rotor):
            difference = c.value(self.model, q) - c.value(self.model, self.model.q_reference)
            if abs(difference if c.slides else (difference + math.pi) % TURN - math.pi) > 1e-6:
                return False
        return True

    def _turns(self, q: np.ndarray, done: float) -> float:
        """Return the number of turns that the joint limits allow; ignore joints that do not advance with each turn."""
        turns = math.inf
        for c in self.watched:
            before, after = (c.value(self.model, x) for x in (self.model.q_reference, q))
            per_turn = (after - before) / (done / TURN)
            margin = c.high - before if per_turn > 0.0 else before - c.low
            if abs(per_turn) > 1.0 and math.isfinite(margin):
                turns = min(turns, margin / abs(per_turn))
        return turns

    def why(self, q: np.ndarray, back: np.ndarray) -> tuple[str, str]:
        """Return the reason why the loops cannot close beyond q, and the joint that could continue to move.

        The reason follows from the condition numbers at q and at a pose that is a small step ``back`` from q.
        """
        before_q, kind, _ = self.go(q, _BACK * back)
        K, K_d = self._conditions(q)
        K_before, K_d_before = (1.0, 1.0) if kind else self._conditions(before_q)
        if K > max(_LARGE, _GROWS * K_before):
            return "change point", ""
        if K_d > _GROWS * K_d_before:
            return "dead centre", self._moves_on(q)
        return "open", ""

    def _conditions(self, q: np.ndarray) -> tuple[float, float]:
        conditions = [x for x in condition(self.model, self.data, q) if self.names & set(x.cluster)]
        return max((x.K for x in conditions), default=1.0), max((x.K_d for x in conditions), default=1.0)

    def _moves_on(self, q: np.ndarray) -> str:
        """Return the link joint that moves fastest along the null space of the dependent-joint Jacobian."""
        loops = loops_of(self.model)
        for loop, (_, _, K) in zip(loops.clusters, loops.conditions(q), strict=True):
            if self.names & {self.model.names[j] for j in loop.joints}:
                kernel = np.abs(np.linalg.svd(K[:, : len(loop.dependents)])[2][-1])
                rates = dict(zip(loop.dependents, kernel, strict=True))
                links = [c for c in self.joints if c.iv in rates and not c.rotor]
                return max(links, key=lambda c: rates[c.iv]).name if links else ""
        return ""


def sweep(model: ClusterModel, cluster: Cluster, moved: Coordinate, samples: int) -> Sweep:
    """Find both ends of an independent joint's range, and sample the range; see ``Sweep``."""
    walker = Walker(model, cluster, moved)
    start = moved.value(model, model.q_reference)
    (low, down), (high, up) = walker.end(-1.0), walker.end(1.0)
    if low.kind == high.kind == "full turn":
        down = up = 0.5 * min(down, up)
    elif "full turn" in (low.kind, high.kind):  # a full turn contains all poses of the opposite direction
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
    model = walker.model
    q = np.empty((len(offsets), model.nq))
    q[middle] = model.q_reference
    for indices in (range(middle + 1, len(offsets)), range(middle - 1, -1, -1)):
        last, last_offset = model.q_reference, 0.0
        for i in indices:
            try:
                last = integrate(model, last, (offsets[i] - last_offset) * walker.direction)
            except BranchLost:  # Rounding errors can put the end of the range out of reach.
                last = integrate(model, last, (offsets[i] - last_offset) * (1.0 - 1e-7) * walker.direction)
            last_offset = offsets[i]
            q[i] = last
    return q
