"""What two independent joints of a cluster reach together, and what stops them."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np

from ..model import Cluster, ClusterModel
from .coordinates import Coordinate
from .sweep import Sweep, Walker

_WIDER = 1.5
"""The map goes so many times as far from the reference pose as each joint alone does."""
_HALVINGS = 32
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
        grid_x: Values of the first joint, shape (n,), [rad] or [m].
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

    def extent(self, name: str) -> tuple[float, float]:
        """Return the least and the largest value of a joint anywhere in the region."""
        k = self.index(name)
        found = np.concatenate([self.positions[self.reached][:, k], *(e.positions[:, k] for e in self.edges)])
        return float(found.min()), float(found.max())


def region(model: ClusterModel, cluster: Cluster, sweeps: tuple[Sweep, Sweep], cells: int) -> Region | None:
    """Explore what two joints reach, by steps between neighbours on a grid; None if one of them does not move."""
    first, second = sweeps
    walker = Walker(model, cluster, first.moved)
    grids = [_grid(s, cells) for s in sweeps]
    if any(len(g) < 2 for g, _ in grids):
        return None
    (xs, i0), (ys, k0) = grids
    q = np.full((len(ys), len(xs), model.nq), np.nan)
    reached = np.zeros((len(ys), len(xs)), dtype=bool)
    q[k0, i0], reached[k0, i0] = model.q_reference, True
    steps = (xs[1] - xs[0], ys[1] - ys[0])
    blocked: list[tuple[np.ndarray, np.ndarray, str, str]] = []
    waiting = deque([(k0, i0)])
    while waiting:
        k, i = waiting.popleft()
        for dk, di in _WAYS:
            v = np.zeros(model.nv)
            v[first.moved.column], v[second.moved.column] = di * steps[0], dk * steps[1]
            inside = 0 <= k + dk < len(ys) and 0 <= i + di < len(xs)
            if inside and reached[k + dk, i + di]:
                continue
            new, kind, joint = walker.go(q[k, i], v)
            if kind:
                blocked.append((q[k, i], v, kind, joint))
            elif inside:
                q[k + dk, i + di], reached[k + dk, i + di] = new, True
                waiting.append((k + dk, i + di))
            elif not (first.turns if di else second.turns):
                blocked.append((q[k, i], v, "edge of the map", ""))
    positions = np.full((*reached.shape, len(walker.joints)), np.nan)
    positions[reached] = [_positions(walker, row) for row in q[reached]]
    edges = _edges(walker, blocked)
    return Region(first.moved, second.moved, walker.joints, xs, ys, reached, q, positions, edges)


def _positions(walker: Walker, q: np.ndarray) -> list[float]:
    return [c.value(walker.model, q) for c in walker.joints]


def _grid(s: Sweep, cells: int) -> tuple[np.ndarray, int]:
    """Return the values of a joint on the map, the reference among them, and which it is."""
    start = s.values[s.reference]
    wide = 1.0 if s.turns else _WIDER
    low = max(start + wide * (s.values[0] - start), s.moved.low)
    high = min(start + wide * (s.values[-1] - start), s.moved.high)
    if not high > low:
        return np.array([start]), 0
    step = (high - low) / (cells - 1)
    below, above = int((start - low) / step + 1e-9), int((high - start) / step + 1e-9)
    return start + step * np.arange(-below, above + 1), below


def _edges(walker: Walker, blocked: list[tuple[np.ndarray, np.ndarray, str, str]]) -> tuple[Edge, ...]:
    found: dict[tuple[str, str], list[list[float]]] = {}
    for start, v, kind, joint in blocked:
        q, done, bad = start, 0.0, 1.0
        if kind != "edge of the map":
            for _ in range(_HALVINGS):
                middle = 0.5 * (done + bad)
                new, what, who = walker.go(q, (middle - done) * v)
                if what:
                    bad, kind, joint = middle, what, who
                else:
                    q, done = new, middle
        if kind == "lost":
            kind, joint = walker.why(q, -v / np.abs(v).max())
        found.setdefault((kind, joint), []).append(_positions(walker, q))
    ordered = sorted(found, key=lambda key: -len(found[key]))
    return tuple(Edge(*key, np.array(found[key])) for key in ordered)
