"""Draws joints; draws bodies without meshes as rods between joints or as boxes with the same inertia."""

import itertools
from collections.abc import Sequence

import numpy as np
import pinocchio as pin

from .._support.trees import joint_axis, slides
from . import meshes, palette
from .meshes import Mesh
from .skeleton import Skeleton

Segment = tuple[np.ndarray, np.ndarray]
_METAL = 2700.0
"""Density of the balls that represent masses, [kg/m^3]; the density of aluminium."""
_LIGHTEST = 300.0
"""Minimum density of a box that represents a body, [kg/m^3]."""


def thickness(skeleton: Skeleton, length: float) -> float:
    return float(np.clip(0.11 * length, 0.035 * skeleton.unit, 0.09 * skeleton.unit))


def is_trunk(skeleton: Skeleton, joint: int) -> bool:
    """Return whether a body is a trunk: it has mass, and is a floating base or fixed to the world."""
    tree = skeleton.model.tree
    if not tree.inertias[joint].mass > 0.0:
        return False
    return joint == 0 or (tree.parents[joint] == 0 and tree.joints[joint].nv > 1)


def equivalent_box(inertia: pin.Inertia) -> tuple[np.ndarray, np.ndarray]:
    """Return the edge lengths and the axes (columns) of the homogeneous box that has the inertia of a body.

    If the inertia is impossible, some edges have length 0. A box less dense than ``_LIGHTEST`` is made smaller.
    """
    values, axes = np.linalg.eigh(inertia.inertia)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    squares = 6.0 / inertia.mass * (values.sum() - 2.0 * values)
    size = np.sqrt(np.clip(squares, 0.0, None))
    density = inertia.mass / max(float(np.prod(size)), 1e-12)
    return size * min(1.0, (density / _LIGHTEST) ** (1.0 / 3.0)), axes


def trunk(skeleton: Skeleton, joint: int) -> tuple[Mesh, Mesh]:
    inertia = skeleton.model.tree.inertias[joint]
    size, axes = equivalent_box(inertia)
    size = np.clip(size, 0.25 * skeleton.unit, skeleton.size)
    center, edge = np.array(inertia.lever), 0.035 * skeleton.unit
    color = palette.mixed(palette.STRUCTURE, palette.BASE, 0.55)
    frame = [meshes.box_edges(size, edge, color).moved(center, axes)]
    for p in skeleton.points[joint]:
        inside = center + axes @ np.clip(axes.T @ (p - center), -0.5 * size, 0.5 * size)
        if np.linalg.norm(p - inside) > edge:
            frame.append(meshes.capsule(inside, p, 2.0 * edge, 1.4 * edge, color))
    return meshes.merged(frame), meshes.box(0.995 * size, palette.STRUCTURE).moved(center, axes)


def link(skeleton: Skeleton, joint: int) -> Mesh | None:
    tree, level, tolerance = skeleton.model.tree, skeleton.levels[joint], 0.03 * skeleton.unit
    metal = palette.BASE if joint == 0 else palette.STRUCTURE
    color = metal if level < 0 else palette.mixed(metal, palette.of_level(level), 0.3)
    points = _apart(skeleton.points[joint], tolerance)
    far = [p for p in points if np.linalg.norm(p) > tolerance]
    mass = tree.inertias[joint].mass
    parts: list[Mesh] = []
    segments: list[Segment] = []
    if joint == 0:
        segments, parts = _ground(skeleton, points)
    elif far:
        segments = [(np.zeros(3), p) for p in far]
        if len(far) > 1 and (corners := _polygon([np.zeros(3), *far])) is not None:
            segments += _around(corners)
            parts.append(meshes.plate(corners, 0.5 * thickness(skeleton, skeleton.unit), color))
    elif mass > 0.0 and not points:
        return _end(skeleton, joint, color)
    for a, b in segments:
        r = thickness(skeleton, float(np.linalg.norm(b - a)))
        parts.append(meshes.capsule(a, b, 1.15 * r, 0.85 * r, color))
    if mass > 0.0 and joint:
        carries = joint in list(tree.parents)[1:]
        parts += _mass(skeleton, tree.inertias[joint], segments, color, carries)
    return meshes.merged(parts) if parts else None


def _end(skeleton: Skeleton, joint: int, color: str) -> Mesh:
    inertia = skeleton.model.tree.inertias[joint]
    unit = skeleton.unit
    size, axes = equivalent_box(inertia)
    size = np.clip(size, 0.0, 2.0 * unit)
    center = np.array(inertia.lever)
    _, middle, longest = np.argsort(size)
    length, width, long = float(size[longest]), size[middle], axes[:, longest]
    from_end = float(-center @ long)  # position of the joint along the longest edge, relative to the centre of mass
    away = float(np.linalg.norm(center))
    outside = np.linalg.norm(np.clip(np.abs(axes.T @ center) - 0.5 * size, 0.0, None))
    slim = length > 2.2 * width and abs(from_end) > 0.22 * length and length > 0.2 * unit
    fat = away > 0.2 * unit and width > 1.5 * away
    if slim or fat or outside > 0.2 * unit:
        tip = 2.0 * center
        # The longest edge of the box gives the body's length only if it points to the centre of mass.
        if slim and not fat and abs(from_end) >= 0.8 * away:
            tip = center - np.sign(from_end) * 0.5 * length * long
        r = thickness(skeleton, float(np.linalg.norm(tip)))
        return meshes.merged(
            [meshes.capsule(np.zeros(3), tip, 1.2 * r, 0.75 * r, color), meshes.ball(1.15 * r, tip, palette.BASE)]
        )
    r = _radius(skeleton, float(inertia.mass))
    if away < 0.03 * unit and length < 2.2 * r:
        return meshes.ball(r, center, color)
    parts = [meshes.box(np.clip(size, 0.08 * unit, None), color).moved(center, axes)]
    if outside > 0.0:
        r = thickness(skeleton, away)
        parts.append(meshes.capsule(np.zeros(3), center, r, r, color))
    return meshes.merged(parts)


def _mass(
    skeleton: Skeleton, inertia: pin.Inertia, segments: Sequence[Segment], color: str, carries: bool
) -> list[Mesh]:
    """Return a ball, or a box for a leaf body, at the centre of mass; [] if the centre is close to a drawn link."""
    center, unit = np.array(inertia.lever), skeleton.unit
    feet = [_foot(center, a, b) for a, b in segments]
    nearest = min(feet, default=np.zeros(3), key=lambda p: np.linalg.norm(center - p))
    gap = np.linalg.norm(center - nearest)
    if segments and gap < 0.18 * unit:
        return []
    size, axes = equivalent_box(inertia)
    reach = max((np.linalg.norm(p) for segment in segments for p in segment), default=0.0)
    if carries or np.sort(size)[1] > 2.0 * max(reach, gap):
        parts = [meshes.ball(_radius(skeleton, inertia.mass), center, color)]
    else:
        parts = [meshes.box(np.clip(size, 0.06 * unit, 1.2 * unit), color).moved(center, axes)]
    if gap > 0.03 * unit:
        parts.append(meshes.capsule(nearest, center, 0.035 * unit, 0.035 * unit, color))
    return parts


def _radius(skeleton: Skeleton, mass: float) -> float:
    return float(np.clip((0.75 * mass / (np.pi * _METAL)) ** (1.0 / 3.0), 0.06 * skeleton.unit, 0.13 * skeleton.unit))


def _ground(skeleton: Skeleton, points: Sequence[np.ndarray]) -> tuple[list[Segment], list[Mesh]]:
    if not points or any(is_trunk(skeleton, j) for j in range(skeleton.model.tree.njoints)):
        return [], []
    blocks = [meshes.box(np.full(3, 0.2 * skeleton.unit), palette.BASE).moved(p) for p in points]
    tolerance = 0.03 * skeleton.unit
    if len(points) == 1:
        far = np.linalg.norm(points[0]) > tolerance
        return ([(np.zeros(3), points[0])] if far else []), blocks
    corners = _polygon(points)
    if corners is None:
        center = np.mean(points, axis=0)
        line = np.linalg.svd(np.array(points) - center)[2][0]
        ordered = sorted(points, key=lambda p: (p - center) @ line)
        return list(itertools.pairwise(ordered)), blocks
    if np.ptp(corners[:, 2]) < tolerance:  # Corners at the same height form a base plate.
        blocks.append(meshes.plate(corners, 0.04 * skeleton.unit, palette.mixed(palette.BASE, "#ffffff", 0.25)))
    return _around(corners), blocks


def _apart(points: Sequence[np.ndarray], near: float) -> list[np.ndarray]:
    distinct: list[np.ndarray] = []
    for p in points:
        if not any(np.linalg.norm(p - x) < near for x in distinct):
            distinct.append(p)
    return distinct


def _polygon(points: Sequence[np.ndarray]) -> np.ndarray | None:
    """Return the points ordered by angle around their centre; None if they are (nearly) on a line."""
    cloud = np.array(points)
    center = cloud.mean(axis=0)
    values, axes = np.linalg.svd(cloud - center, full_matrices=False)[1:]
    if len(points) < 3 or values[1] < 0.08 * values[0]:
        return None
    flat = (cloud - center) @ axes[:2].T
    return cloud[np.argsort(np.arctan2(flat[:, 1], flat[:, 0]))]


def _around(corners: np.ndarray) -> list[Segment]:
    return list(zip(corners, np.roll(corners, -1, axis=0), strict=True))


def _foot(point: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    segment = b - a
    return a + np.clip((point - a) @ segment / (segment @ segment), 0.0, 1.0) * segment


def joint(skeleton: Skeleton, j: int, outer: int = 0) -> Mesh | None:
    """Return the mesh of a joint in the joint frame: a cylinder (revolute), a rail (prismatic) or a ball (other types).

    Joints have the colour of their cluster; dependent joints also have light caps. For each of the ``outer`` other
    joints at the same point, the joint is drawn longer and thinner.
    """
    tree = skeleton.model.tree
    level = skeleton.levels[j]
    if level < 0:
        return None  # floating base
    color, u = palette.of_level(level), skeleton.unit
    axis = joint_axis(tree.joints[j])
    if axis is None:
        return meshes.ball(0.11 * u, np.zeros(3), color) if tree.joints[j].nv else None
    free = tree.names[j] in skeleton.model.independent_joints
    cap = palette.mixed(color, "#000000", 0.35) if free else palette.STRUCTURE
    if slides(tree, j):
        parent = tree.parents[j]
        if not tree.inertias[j].mass > 0.0 or (parent and not tree.inertias[parent].mass > 0.0):
            return None  # The joint is one translation of a body that moves freely in space.
        return meshes.along(meshes.box(np.array([0.16, 0.16, 0.3]) * u, color), np.zeros(3), axis)
    half, r = 0.14 * u * (1.0 + 0.2 * outer), 0.105 * u * 0.86**outer
    end = half + 0.017 * u
    parts = [meshes.cylinder(r, -half, half, color)]
    parts += [meshes.cylinder(0.72 * r, low, high, cap) for low, high in ((-end, -half), (half, end))]
    return meshes.along(meshes.merged(parts), np.zeros(3), axis)
