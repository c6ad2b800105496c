"""What two independent joints of a cluster reach together, and what stops them."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from ...model import Cluster, ClusterModel
from .coordinates import Coordinate
from .sweep import Sweep, Walker

_WIDER = (1.5, 3.0, 6.0)
"""The map goes so many times as far from the reference pose as each joint alone does, the first that has all ends."""
_HALVINGS, _ROUNDING = 32, 1e-9
_EDGE = "edge of the map"
_WAYS = ((0, 1), (0, -1), (1, 0), (-1, 0))


@dataclass(frozen=True, eq=False)
class Edge:
    """Poses at which the region ends for one reason.

    Attributes:
        kind: As in ``End``; ``"edge of the map"`` where the search ended.
        joint: Whose limit it is, or which joint moves on.
        positions: Of the joints of the region there, shape (N, joints), [rad] or [m].
    """

    kind: str
    joint: str
    positions: np.ndarray


@dataclass(frozen=True, eq=False)
class Region:
    """The poses that two independent joints reach without leaving their branch, all other joints at the reference.

    Attributes:
        x: The first joint.
        y: The second joint.
        joints: All joints of the cluster that have one degree of freedom.
        grid_x: Values of the first joint, the reference pose and the ends among them, shape (n,), [rad] or [m].
        grid_y: Values of the second one, shape (m,).
        reached: Shape (m, n).
        q: Configurations, shape (m, n, nq), NaN where it is not reached.
        positions: Of the joints, shape (m, n, joints), [rad] or [m]; NaN where it is not reached.
        edges: Where it ends, by reason, the most frequent one first.
    """

    x: Coordinate
    y: Coordinate
    joints: tuple[Coordinate, ...]
    grid_x: np.ndarray
    grid_y: np.ndarray
    reached: np.ndarray
    q: np.ndarray
    positions: np.ndarray
    edges: tuple[Edge, ...]

    def index(self, name: str) -> int:
        """Return which of the joints has a name."""
        return [c.name for c in self.joints].index(name)

    @property
    def open(self) -> bool:
        """Whether somewhere nothing but the map ends it."""
        return any(e.kind == _EDGE for e in self.edges)

    def extent(self, name: str) -> tuple[float, float]:
        """Return the least and the largest value of a joint anywhere in the region."""
        k = self.index(name)
        found = np.concatenate([self.positions[self.reached][:, k], *(e.positions[:, k] for e in self.edges)])
        return float(found.min()), float(found.max())


def region(
    model: ClusterModel, cluster: Cluster, sweeps: tuple[Sweep, Sweep], cells: int, wider: tuple[float, ...] = _WIDER
) -> Region | None:
    """Explore what two joints reach, by steps between neighbours on a grid; None if one of them does not move.

    The map grows until nothing is only its own edge; if that does not help, as nothing limits a joint, it is the first.
    """
    first, second = sweeps
    walker = Walker(model, cluster, first.moved)
    grids = [_grid(s, cells, wider[0]) for s in sweeps]
    if any(len(g) < 2 for g, _ in grids):
        return None
    (xs, i0), (ys, k0) = grids
    q = np.full((len(ys), len(xs), model.nq), np.nan)
    reached = np.zeros((len(ys), len(xs)), dtype=bool)
    q[k0, i0], reached[k0, i0] = model.q_reference, True
    blocked: list[tuple[np.ndarray, np.ndarray, str, str]] = []
    waiting = deque([(k0, i0)])
    while waiting:
        k, i = waiting.popleft()
        for dk, di in _WAYS:
            if not (0 <= k + dk < len(ys) and 0 <= i + di < len(xs)):
                s, at = (first, xs[i]) if di else (second, ys[k])
                if not s.turns:
                    limited = min(abs(at - s.moved.low), abs(at - s.moved.high)) < _ROUNDING
                    reason = ("limit", s.moved.name) if limited else (_EDGE, "")
                    blocked.append((q[k, i], np.zeros(model.nv), *reason))
                continue
            if reached[k + dk, i + di]:
                continue
            v = np.zeros(model.nv)
            v[first.moved.column], v[second.moved.column] = xs[i + di] - xs[i], ys[k + dk] - ys[k]
            new, kind, joint = walker.go(q[k, i], v)
            if kind:
                blocked.append((q[k, i], v, kind, joint))
            else:
                q[k + dk, i + di], reached[k + dk, i + di] = new, True
                waiting.append((k + dk, i + di))
    positions = np.full((*reached.shape, len(walker.joints)), np.nan)
    positions[reached] = [_positions(walker, row) for row in q[reached]]
    edges = _edges(walker, blocked)
    found = Region(first.moved, second.moved, walker.joints, xs, ys, reached, q, positions, edges)
    larger = region(model, cluster, sweeps, cells, wider[1:]) if found.open and wider[1:] else None
    return found if larger is None or larger.open else larger


def _positions(walker: Walker, q: np.ndarray) -> list[float]:
    return [c.value(walker.model, q) for c in walker.joints]


def _grid(s: Sweep, cells: int, wider: float) -> tuple[np.ndarray, int]:
    """Return the values of a joint on the map, the reference among them, and which it is."""
    start = s.values[s.reference]
    wide = 1.0 if s.turns else wider
    low = max(start + wide * (s.values[0] - start), s.moved.low)
    high = min(start + wide * (s.values[-1] - start), s.moved.high)
    if not high > low:
        return np.array([start]), 0
    below = min(max(round((cells - 1) * (start - low) / (high - low)), int(start > low)), cells - 1 - int(high > start))
    return np.concatenate([np.linspace(low, start, below + 1)[:-1], np.linspace(start, high, cells - below)]), below


def _edges(walker: Walker, blocked: list[tuple[np.ndarray, np.ndarray, str, str]]) -> tuple[Edge, ...]:
    found: dict[tuple[str, str], list[list[float]]] = {}
    for start, v, kind, joint in blocked:
        q = start
        if v.any():
            q, _, _, kind, joint = walker.bisected(start, v, (0.0, 1.0), kind, joint, _HALVINGS)
        if kind == "lost":
            kind, joint = walker.why(q, -v / np.abs(v).max())
        found.setdefault((kind, joint), []).append(_positions(walker, q))
    ordered = sorted(found, key=lambda key: -len(found[key]))
    return tuple(Edge(*key, np.array(found[key])) for key in ordered)
