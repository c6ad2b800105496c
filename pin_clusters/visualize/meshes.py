"""Triangle meshes with a colour per corner: capsules, boxes, gears, bands, arrows.

Corners are not shared across sharp edges, because the browser shades a shared corner smoothly.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..model import axis_to_z
from .palette import rgb

_ROUND = 20


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles.

    Attributes:
        vertices: Shape (n, 3), [m].
        faces: Corner indices, shape (m, 3).
        colors: One per corner, shape (n, 3), 0 to 1.
    """

    vertices: np.ndarray
    faces: np.ndarray
    colors: np.ndarray

    def moved(self, rotation: np.ndarray, translation: np.ndarray) -> Mesh:
        """Return it turned, then shifted."""
        return Mesh(self.vertices @ rotation.T + translation, self.faces, self.colors)


def merged(parts: Iterable[Mesh]) -> Mesh:
    """Return one mesh of several."""
    found = list(parts)
    counts = np.cumsum([0, *(len(p.vertices) for p in found)])
    return Mesh(
        np.concatenate([p.vertices for p in found]),
        np.concatenate([p.faces + n for p, n in zip(found, counts[:-1], strict=True)]),
        np.concatenate([p.colors for p in found]),
    )


def _mesh(vertices: Sequence[np.ndarray] | np.ndarray, faces: Sequence[Sequence[int]] | np.ndarray, color: str) -> Mesh:
    corners = np.asarray(vertices, dtype=float)
    return Mesh(corners, np.asarray(faces, dtype=np.int64), np.tile(rgb(color), (len(corners), 1)))


def _rings(rings: Sequence[np.ndarray], color: str, inward: bool = False) -> Mesh:
    """Return the skin between rings of points, each closed, of the same length."""
    n = len(rings[0])
    faces = []
    for k in range(len(rings) - 1):
        for i in range(n):
            a, b = k * n + i, k * n + (i + 1) % n
            faces += [(a, b, b + n), (a, b + n, a + n)]
    found = np.array(faces)
    return _mesh(np.concatenate(rings), found[:, ::-1] if inward else found, color)


def _circle(radius: float, z: float, n: int = _ROUND) -> np.ndarray:
    t = 2.0 * np.pi * np.arange(n) / n
    return np.stack([radius * np.cos(t), radius * np.sin(t), np.full(n, z)], axis=1)


def _lid(ring: np.ndarray, color: str, up: bool) -> Mesh:
    """Return a disc: the ring and its centre."""
    n = len(ring)
    faces = [(i, (i + 1) % n, n) if up else ((i + 1) % n, i, n) for i in range(n)]
    return _mesh(np.concatenate([ring, ring.mean(axis=0)[None]]), faces, color)


def along(mesh: Mesh, start: np.ndarray, direction: np.ndarray) -> Mesh:
    """Return a mesh about the z axis as one about another unit direction, from a point."""
    return mesh.moved(axis_to_z(direction), np.asarray(start, dtype=float))


def cylinder(radius: float, bottom: float, top: float, color: str) -> Mesh:
    """Return a cylinder about z."""
    low, high = _circle(radius, bottom), _circle(radius, top)
    return merged([_rings([low, high], color), _lid(low, color, False), _lid(high, color, True)])


def frustum(radius: float, end: float, bottom: float, top: float, color: str) -> Mesh:
    """Return a cone or the stump of one about z."""
    low, high = _circle(radius, bottom), _circle(max(end, 1e-9), top)
    return merged([_rings([low, high], color), _lid(low, color, False), _lid(high, color, True)])


def ball(radius: float, center: np.ndarray, color: str) -> Mesh:
    """Return a sphere."""
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 11)
    rings = [_circle(max(radius * np.cos(a), 1e-9), radius * np.sin(a)) for a in angles]
    return _rings(rings, color).moved(np.eye(3), np.asarray(center, dtype=float))


def capsule(start: np.ndarray, end: np.ndarray, first: float, last: float, color: str) -> Mesh:
    """Return a rod with round ends of two radii between two points."""
    start, end = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = float(np.linalg.norm(end - start))
    if length < 1e-9:
        return ball(max(first, last), start, color)
    down, up = np.linspace(-0.5 * np.pi, 0.0, 6), np.linspace(0.0, 0.5 * np.pi, 6)
    rings = [_circle(max(first * np.cos(a), 1e-9), first * np.sin(a)) for a in down]
    rings += [_circle(max(last * np.cos(a), 1e-9), length + last * np.sin(a)) for a in up]
    return along(_rings(rings, color), start, (end - start) / length)


def box(size: np.ndarray, color: str) -> Mesh:
    """Return a box about the origin, with its edge lengths."""
    half = 0.5 * np.asarray(size, dtype=float)
    corners, faces = [], []
    for axis in range(3):
        for sign in (-1.0, 1.0):
            u, v = (axis + 1) % 3, (axis + 2) % 3
            for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
                p = np.zeros(3)
                p[axis], p[u], p[v] = sign * half[axis], a * half[u], b * half[v]
                corners.append(p)
            n = len(corners) - 4
            order = (n, n + 1, n + 2, n + 3) if sign > 0 else (n, n + 3, n + 2, n + 1)
            faces += [(order[0], order[1], order[2]), (order[0], order[2], order[3])]
    return _mesh(corners, faces, color)


def box_edges(size: np.ndarray, thickness: float, color: str) -> Mesh:
    """Return the twelve edges of a box as bars."""
    half = 0.5 * np.asarray(size, dtype=float)
    bars = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for a in (-1.0, 1.0):
            for b in (-1.0, 1.0):
                p = np.zeros(3)
                p[axis], p[u], p[v] = -half[axis], a * half[u], b * half[v]
                q = p.copy()
                q[axis] = half[axis]
                bars.append(capsule(p, q, thickness, thickness, color))
    return merged(bars)


def gear(radius: float, width: float, teeth: int, color: str, mark: str) -> Mesh:
    """Return a wheel about z with teeth, a hub and one marked spoke, so that its turns can be seen."""
    n = 4 * teeth
    t = 2.0 * np.pi * np.arange(n) / n
    r = np.where(np.arange(n) % 4 < 2, radius, 0.86 * radius)
    outline = np.stack([r * np.cos(t - t[1] / 2), r * np.sin(t - t[1] / 2)], axis=1)
    low, high = (np.column_stack([outline, np.full(n, z)]) for z in (-0.5 * width, 0.5 * width))
    sides = []
    for i in range(n):
        k = (i + 1) % n
        sides.append(_mesh([low[i], low[k], high[k], high[i]], [(0, 1, 2), (0, 2, 3)], color))
    hub = cylinder(0.3 * radius, -0.62 * width, 0.62 * width, mark)
    spoke = box(np.array([0.62 * radius, 0.2 * radius, 1.16 * width]), mark)
    spoke = spoke.moved(np.eye(3), np.array([0.5 * radius, 0.0, 0.0]))
    return merged([*sides, _lid(low, color, False), _lid(high, color, True), hub, spoke])


def band(distance: float, first: float, last: float, width: float, color: str) -> Mesh:
    """Return a belt in the xy plane round two pulleys, at the origin and at ``(distance, 0)``."""
    lean = np.arcsin(np.clip((first - last) / distance, -1.0, 1.0))
    t0, t1 = np.linspace(0.5 * np.pi - lean, 1.5 * np.pi + lean, 13), np.linspace(-0.5 * np.pi + lean,
                                                                                0.5 * np.pi - lean, 13)  # fmt: skip
    thick = 0.16 * min(first, last)

    def loop(grow: float, z: float) -> np.ndarray:
        points = [(r * np.cos(t) + x, r * np.sin(t), z) for ts, r, x in ((t0, first + grow, 0.0),
                  (t1, last + grow, distance)) for t in ts]  # fmt: skip
        return np.array(points)

    low, high = -0.5 * width, 0.5 * width
    outer, inner = (loop(thick, low), loop(thick, high)), (loop(0.0, low), loop(0.0, high))
    return merged([
        _rings(outer, color), _rings(inner, color, True), _rings([outer[1], inner[1]], color),
        _rings([inner[0], outer[0]], color),
    ])  # fmt: skip


def arrow(radius: float, color: str) -> Mesh:
    """Return an arrow along z of length 1; scaled along z it keeps its shaft as wide as it is."""
    return merged([cylinder(radius, 0.0, 0.8, color), frustum(2.6 * radius, 0.0, 0.8, 1.0, color)])


def plate(points: np.ndarray, thickness: float, color: str) -> Mesh:
    """Return a plate with the given corners, in order round it."""
    center = points.mean(axis=0)
    normal = np.cross(points[1] - points[0], points[-1] - points[0])
    normal /= np.linalg.norm(normal)
    low, high = points - 0.5 * thickness * normal, points + 0.5 * thickness * normal
    turned = float(np.cross(points[0] - center, points[1] - center) @ normal) > 0.0
    sides = []
    for i in range(len(points)):
        k = (i + 1) % len(points)
        sides.append(_mesh([low[i], low[k], high[k], high[i]], [(0, 1, 2), (0, 2, 3)], color))
    return merged([*sides, _lid(low, color, not turned), _lid(high, color, turned)])
