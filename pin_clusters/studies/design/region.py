"""Compute the combined range of a cluster's independent joints: a map for two joints, intervals for more joints."""

from collections import deque
from dataclasses import dataclass

import numpy as np

from ...algorithms.dynamics.coupling import coupling_jacobian
from ...model import Cluster, ClusterModel
from .coordinates import Coordinate
from .sweep import Sweep, Walker

_WIDER = (1.5, 3.0, 6.0)
"""Sizes of the map relative to the joints' ranges in their sweeps. The first map that contains the region is used."""
_HALVINGS, _ROUNDING = 32, 1e-9
_EDGE = "edge of the map"
_RAYS, _STEPS, _CLIMB, _LONGEST, _SHORTEST = 48, 24, 120, 0.1, 1e-6
"""Number of random directions; steps along each direction; largest number of steps of ``_climb``; largest and smallest
length of these steps, relative to the joints' ranges in their sweeps."""
_WAYS = ((0, 1), (0, -1), (1, 0), (-1, 0))


@dataclass(frozen=True, eq=False)
class Edge:
    """Poses at which a region ends for the same reason.

    Attributes:
        kind: As in ``End``; ``"edge of the map"`` if the search ended at the edge of the map.
        joint: Name of the joint at its limit, or of the joint that continues to move; see ``End``.
        positions: Positions of the region's joints, shape (N, joints), [rad] or [m].
    """

    kind: str
    joint: str
    positions: np.ndarray


@dataclass(frozen=True, eq=False)
class Region:
    """Poses that two independent joints can reach in the assembly mode of the reference pose.

    Attributes:
        x: The first joint.
        y: The second joint.
        joints: All joints of the cluster that have one degree of freedom.
        grid_x: Values of the first joint, including the reference pose and the ends, shape (n,), [rad] or [m].
        grid_y: Values of the second joint, shape (m,), [rad] or [m].
        reached: Whether the joints reach each pose, shape (m, n).
        q: Configurations, shape (m, n, nq); NaN if the pose is not reached.
        positions: Positions of ``joints``, shape (m, n, joints), [rad] or [m]; NaN if the pose is not reached.
        edges: Ends of the region, grouped by reason, with the most frequent reason first.
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
        """Return the index of the joint with this name."""
        return [c.name for c in self.joints].index(name)

    @property
    def open(self) -> bool:
        """Whether the region extends beyond the map."""
        return any(e.kind == _EDGE for e in self.edges)

    def extent(self, name: str) -> tuple[float, float]:
        """Return the smallest and the largest value of a joint in the region, [rad] or [m]."""
        k = self.index(name)
        positions = np.concatenate([self.positions[self.reached][:, k], *(e.positions[:, k] for e in self.edges)])
        return float(positions.min()), float(positions.max())


def region(
    model: ClusterModel, cluster: Cluster, sweeps: tuple[Sweep, Sweep], cells: int, wider: tuple[float, ...] = _WIDER
) -> Region | None:
    """Explore the range of two joints by steps between grid neighbours; return None if one joint cannot move.

    The map grows until it contains the region. If a joint has no limit, the first map is returned.
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
                s, edge = (first, xs[i]) if di else (second, ys[k])
                if not s.turns:
                    limited = min(abs(edge - s.moved.low), abs(edge - s.moved.high)) < _ROUNDING
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
    explored = Region(first.moved, second.moved, walker.joints, xs, ys, reached, q, positions, edges)
    larger = region(model, cluster, sweeps, cells, wider[1:]) if explored.open and wider[1:] else None
    return explored if larger is None or larger.open else larger


def together(model: ClusterModel, cluster: Cluster, sweeps: tuple[Sweep, ...]) -> dict[str, tuple[float, float]]:
    """Return the smallest and largest value that each joint reaches if all independent joints move.

    The search follows the sweeps and random directions from the reference pose. Then, for each joint, linear programs
    subject to the joint limits continue the search from the best pose. The result is empty if any joint can turn fully
    or move without limit. Continuous joints are omitted. The search does not prove that no larger range exists.
    """
    if any(s.turns or not np.isfinite(s.high.at - s.low.at) for s in sweeps):
        return {}
    walker, poses, spans = Walker(model, cluster, sweeps[0].moved), [q for s in sweeps for q in s.q], np.zeros(model.nv)
    spans[[s.moved.column for s in sweeps]] = [np.ptp(s.values) or 1.0 for s in sweeps]
    for step in np.random.default_rng(0).uniform(-1.0, 1.0, (_RAYS, model.nv)) * spans / _STEPS:
        q, kind, remaining = *walker.go(model.q_reference, step)[:2], _STEPS
        while not kind and remaining:
            poses.append(q)
            q, kind, remaining = *walker.go(q, step)[:2], remaining - 1
    joints = [c for c in walker.joints if model.own_tree.nqs[c.joint] == 1]
    return {c.name: (_climb(walker, c, -1.0, poses, spans), _climb(walker, c, 1.0, poses, spans)) for c in joints}


def _climb(walker: Walker, c: Coordinate, sign: float, poses: list[np.ndarray], spans: np.ndarray) -> float:
    """Return the largest (``sign`` 1) or smallest (-1) value of a joint; infinite if the ascent does not converge."""
    from scipy.optimize import linprog  # imported here because the import is slow

    model, held, h, bend = walker.model, walker.watched, _LONGEST, 1.0
    low, high = np.array([(f.low, f.high) for f in held]).reshape(-1, 2).T
    q = max(poses, key=lambda pose: sign * c.value(model, pose))
    for _ in range(_CLIMB):
        G, x = coupling_jacobian(model, walker.data, q), np.array([f.value(model, q) for f in held])
        rows, bent = G[[f.iv for f in held]], np.array([f.column < 0 for f in held]) * bend * h**2
        A, b = np.vstack([rows, -rows]), np.append(high - x - bent, x - low - bent)
        step = linprog(-sign * G[c.iv], A, np.minimum(b, 1e9), bounds=[(-x, x) for x in h * spans])
        new, kind, _ = walker.go(q, np.array(step.x)) if step.success else (q, "none", "")
        gain = 0.0 if kind else sign * (c.value(model, new) - c.value(model, q))
        q, h = new if gain > 0.0 else q, min(2.0 * h, _LONGEST) if gain > 0.25 * abs(step.fun or 0.0) else 0.5 * h
        bend *= 1.0 + (kind == "limit")
        if h < _SHORTEST:
            break
    return c.value(model, q) if h < _LONGEST else sign * np.inf


def _positions(walker: Walker, q: np.ndarray) -> list[float]:
    return [c.value(walker.model, q) for c in walker.joints]


def _grid(s: Sweep, cells: int, wider: float) -> tuple[np.ndarray, int]:
    start = s.values[s.reference]
    wide = 1.0 if s.turns else wider
    low = max(start + wide * (s.values[0] - start), s.moved.low)
    high = min(start + wide * (s.values[-1] - start), s.moved.high)
    if not high > low:
        return np.array([start]), 0
    below = min(max(round((cells - 1) * (start - low) / (high - low)), int(start > low)), cells - 1 - int(high > start))
    return np.concatenate([np.linspace(low, start, below + 1)[:-1], np.linspace(start, high, cells - below)]), below


def _edges(walker: Walker, blocked: list[tuple[np.ndarray, np.ndarray, str, str]]) -> tuple[Edge, ...]:
    poses: dict[tuple[str, str], list[list[float]]] = {}
    for start, v, kind, joint in blocked:
        q = start
        if v.any():
            q, _, _, kind, joint = walker.bisected(start, v, (0.0, 1.0), kind, joint, _HALVINGS)
        if kind == "lost":
            kind, joint = walker.why(q, -v / np.abs(v).max())
        poses.setdefault((kind, joint), []).append(_positions(walker, q))
    ordered = sorted(poses, key=lambda key: -len(poses[key]))
    return tuple(Edge(*key, np.array(poses[key])) for key in ordered)
