"""Creates triangle meshes with a colour for each vertex: capsules, boxes, gears, bands and arrows.

Faces at a sharp edge do not share vertices, because the browser shades shared vertices smoothly.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..model import axis_to_z
from .palette import rgb

_ROUND = 20
_SQUARE = (0, 1, 2), (0, 2, 3)


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangle mesh with a colour for each vertex."""

    vertices: np.ndarray  # shape (n, 3), [m]
    faces: np.ndarray  # vertex indices of each triangle, shape (m, 3)
    colors: np.ndarray  # red, green and blue of each vertex, shape (n, 3), from 0 to 1

    def moved(self, translation: np.ndarray, rotation: np.ndarray | None = None) -> "Mesh":
        turned = self.vertices if rotation is None else self.vertices @ rotation.T
        return Mesh(turned + translation, self.faces, self.colors)


def merged(parts: Sequence[Mesh]) -> Mesh:
    counts = np.cumsum([0, *(len(p.vertices) for p in parts)])
    return Mesh(
        np.concatenate([p.vertices for p in parts]),
        np.concatenate([p.faces + n for p, n in zip(parts, counts, strict=False)]),
        np.concatenate([p.colors for p in parts]),
    )


def _mesh(vertices: Sequence[np.ndarray] | np.ndarray, faces: Sequence[Sequence[int]] | np.ndarray, color: str) -> Mesh:
    corners = np.asarray(vertices, dtype=float)
    return Mesh(corners, np.asarray(faces, dtype=np.int64), np.tile(rgb(color), (len(corners), 1)))


def _rings(rings: Sequence[np.ndarray], color: str, inward: bool = False) -> Mesh:
    n = len(rings[0])
    faces = []
    for k, i in itertools.product(range(len(rings) - 1), range(n)):
        a, b = k * n + i, k * n + (i + 1) % n
        faces += [(a, b, b + n), (a, b + n, a + n)]
    return _mesh(np.concatenate(rings), np.array(faces)[:, :: -1 if inward else 1], color)


def _circle(radius: float, z: float) -> np.ndarray:
    t = 2.0 * np.pi * np.arange(_ROUND) / _ROUND
    return np.stack([radius * np.cos(t), radius * np.sin(t), np.full(_ROUND, z)], axis=1)


def _lid(ring: np.ndarray, color: str, up: bool) -> Mesh:
    n = len(ring)
    faces = [(i, (i + 1) % n, n) if up else ((i + 1) % n, i, n) for i in range(n)]
    return _mesh(np.concatenate([ring, ring.mean(axis=0)[None]]), faces, color)


def _prism(low: np.ndarray, high: np.ndarray, color: str, turned: bool = True) -> Mesh:
    """Return a prism with flat sides between two outlines; ``turned`` selects the visible side of the end faces."""
    around = zip(low, np.roll(low, -1, axis=0), np.roll(high, -1, axis=0), high, strict=True)
    sides = [_mesh(corners, _SQUARE, color) for corners in around]
    return merged([*sides, _lid(low, color, not turned), _lid(high, color, turned)])


def along(mesh: Mesh, start: np.ndarray, direction: np.ndarray) -> Mesh:
    """Rotate a mesh from the z axis to the unit axis ``direction``, and move it to ``start``."""
    return mesh.moved(start, axis_to_z(direction))


def cylinder(radius: float, bottom: float, top: float, color: str, end: float | None = None) -> Mesh:
    low, high = _circle(radius, bottom), _circle(radius if end is None else end, top)
    return merged([_rings([low, high], color), _lid(low, color, False), _lid(high, color, True)])


def ball(radius: float, center: np.ndarray, color: str) -> Mesh:
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 11)
    rings = [_circle(max(radius * np.cos(a), 1e-9), radius * np.sin(a)) for a in angles]
    return _rings(rings, color).moved(center)


def capsule(start: np.ndarray, end: np.ndarray, first: float, last: float, color: str) -> Mesh:
    length = float(np.linalg.norm(end - start))
    if length < 1e-9:
        return ball(max(first, last), start, color)
    rings = []
    for r, z, low, high in ((first, 0.0, -0.5 * np.pi, 0.0), (last, length, 0.0, 0.5 * np.pi)):
        rings += [_circle(max(r * np.cos(a), 1e-9), z + r * np.sin(a)) for a in np.linspace(low, high, 6)]
    return along(_rings(rings, color), start, (end - start) / length)


def box(size: np.ndarray, color: str) -> Mesh:
    sides = []
    for axis, sign in itertools.product(range(3), (-1.0, 1.0)):
        corners = [np.roll([sign, a, b], axis) * 0.5 * size for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        sides.append(_mesh(corners, _SQUARE if sign > 0.0 else ((0, 3, 2), (0, 2, 1)), color))
    return merged(sides)


def box_edges(size: np.ndarray, thickness: float, color: str) -> Mesh:
    bars = []
    for axis, a, b in itertools.product(range(3), (-1.0, 1.0), (-1.0, 1.0)):
        start, end = (np.roll([side, a, b], axis) * 0.5 * size for side in (-1.0, 1.0))
        bars.append(capsule(start, end, thickness, thickness, color))
    return merged(bars)


def gear(radius: float, width: float, teeth: int, color: str, mark: str) -> Mesh:
    """Return a toothed wheel about z with a hub, and with one marked spoke that makes the rotation visible."""
    n = 4 * teeth
    t = 2.0 * np.pi * np.arange(n) / n
    r = np.where(np.arange(n) % 4 < 2, radius, 0.86 * radius)
    outline = np.stack([r * np.cos(t - t[1] / 2), r * np.sin(t - t[1] / 2)], axis=1)
    low, high = (np.column_stack([outline, np.full(n, z)]) for z in (-0.5 * width, 0.5 * width))
    hub = cylinder(0.3 * radius, -0.62 * width, 0.62 * width, mark)
    spoke = box(np.array([0.62 * radius, 0.2 * radius, 1.16 * width]), mark)
    return merged([_prism(low, high, color), hub, spoke.moved(np.array([0.5 * radius, 0.0, 0.0]))])


def band(distance: float, first: float, last: float, width: float, color: str) -> Mesh:
    """Return a belt in the xy plane around two pulleys, at the origin and at ``(distance, 0)``."""
    lean = np.arcsin(np.clip((first - last) / distance, -1.0, 1.0))
    ends = (
        (first, 0.0, np.linspace(0.5 * np.pi - lean, 1.5 * np.pi + lean, 13)),
        (last, distance, np.linspace(-0.5 * np.pi + lean, 0.5 * np.pi - lean, 13)),
    )

    def loops(grow: float) -> list[np.ndarray]:
        outline = [((r + grow) * np.cos(t) + x, (r + grow) * np.sin(t)) for r, x, angles in ends for t in angles]
        return [np.array([(*point, z) for point in outline]) for z in (-0.5 * width, 0.5 * width)]

    outer, inner = loops(0.16 * min(first, last)), loops(0.0)
    return merged(
        [
            _rings(outer, color),
            _rings(inner, color, True),
            _rings([outer[1], inner[1]], color),
            _rings([inner[0], outer[0]], color),
        ]
    )


def arrow(radius: float, color: str) -> Mesh:
    """Return an arrow of length 1 along z; scaling it along z does not change the width of its shaft."""
    return merged([cylinder(radius, 0.0, 0.8, color), cylinder(2.6 * radius, 0.8, 1.0, color, end=1e-9)])


def plate(points: np.ndarray, thickness: float, color: str) -> Mesh:
    center = points.mean(axis=0)
    normal = np.cross(points[1] - points[0], points[-1] - points[0])
    normal /= np.linalg.norm(normal)
    low, high = points - 0.5 * thickness * normal, points + 0.5 * thickness * normal
    turned = float(np.cross(points[0] - center, points[1] - center) @ normal) > 0.0
    return _prism(low, high, color, turned)
