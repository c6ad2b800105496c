"""Geoms of an MJCF file: visual shapes (a geometry model, or boxes equivalent to the inertias) and collision shapes."""

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from . import _masses
from ._bodies import Bodies, Body
from ._collisions import is_mesh, points_of
from ._text import Names, text, wxyz

READABLE = (".stl", ".obj", ".msh")
"""File extensions of meshes that MuJoCo reads."""
_LINK, _ROTOR = "0.75 0.78 0.82 1", "0.85 0.45 0.10 1"
_DRAWN = {"contype": "0", "conaffinity": "0", "group": "2", "mass": "0"}
_COLLIDES = {"contype": "1", "group": "3", "mass": "0"}
_STEEL = 7800.0
"""Density of steel [kg/m^3], for the size of drawn rotors without mass."""


class Geoms:
    """Visual and collision geoms of one robot; ``visual`` is a geometry model or None."""

    def __init__(self, bodies: Bodies, visual: Any) -> None:
        self._assets: dict[tuple[str, str], str] = {}
        self._points: dict[str, str] = {}
        self._names = Names()
        self._found: dict[int, list[dict[str, str]]] = {}
        self._colliding: dict[int, list[dict[str, str]]] = {}
        missing, unread = list[str](), list[str]()
        for shape in () if visual is None else visual.geometryObjects:
            body, joint_frame = bodies.of_joint.get(int(shape.parentJoint), (None, pin.SE3.Identity()))
            if body is None:
                continue
            mesh = is_mesh(shape) or (shape.meshPath and Path(shape.meshPath).suffix)
            geometry = self._mesh(shape) if mesh else _primitive(shape.geometry)
            if geometry is None:
                (unread if Path(shape.meshPath).suffix.lower() not in READABLE else missing).append(shape.name)
                continue
            colour = np.clip(np.asarray(shape.meshColor, dtype=float), 0.0, 1.0)
            placed_geom = _placed(joint_frame * shape.placement) | {"rgba": text(colour)}
            self._found.setdefault(id(body), []).append(geometry | placed_geom)
        for names, why in ((missing, "with missing mesh files"), (unread, "of kinds that MuJoCo cannot read")):
            if names:
                bodies.remarks.append(f"visual shapes {why} are omitted: {', '.join(names)}.")
        self._collide(bodies)

    def _collide(self, bodies: Bodies) -> None:
        collision, names, lost = bodies.model.collision, Names(), list[str]()
        paired = {k for pair in collision.collisionPairs for k in (pair.first, pair.second)}
        for k, shape in enumerate(collision.geometryObjects):
            body, joint_frame = bodies.of_joint.get(int(shape.parentJoint), (None, pin.SE3.Identity()))
            pose, geometry = joint_frame * shape.placement, _primitive(shape.geometry)
            if type(shape.geometry).__name__ == "Halfspace":
                n = np.array(shape.geometry.n)
                # MuJoCo supports planes only on the world.
                geometry = {"type": "plane", "size": "0 0 1"} if body is bodies.world else None
                turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), n).matrix()
                pose = pose * pin.SE3(turn, shape.geometry.d * n)
            elif is_mesh(shape):
                geometry = self._mesh(shape) or self._hull(shape)
            if body is None or geometry is None:
                lost.append(shape.name)
                continue
            affinity = str(int(body is bodies.world or k in paired))
            placed_geom = {"name": names(shape.name), "conaffinity": affinity} | _placed(pose)
            self._colliding.setdefault(id(body), []).append(geometry | placed_geom)
        if lost:
            bodies.remarks.append(f"these collision shapes are not written: {', '.join(lost)}.")
        bodies.remarks.append(
            "Geoms of group 3 collide with the world and with geoms that are in a pair of the collision model."
            if self._colliding
            else "No geom collides, so there are no contacts."
        )

    def _hull(self, shape: Any) -> dict[str, str]:
        points = text(points_of(shape))
        if points not in self._points:
            self._points[points] = self._names(shape.name)
        return {"type": "mesh", "mesh": self._points[points]}

    def _mesh(self, shape: Any) -> dict[str, str] | None:
        path = Path(shape.meshPath)
        if path.suffix.lower() not in READABLE or not path.is_file():
            return None
        key = str(path.resolve()), text(np.asarray(shape.meshScale, dtype=float))
        if key not in self._assets:
            self._assets[key] = self._names(path.stem)
        return {"type": "mesh", "mesh": self._assets[key]}

    def add_assets(self, root: ET.Element) -> None:
        if self._assets or self._points:
            section = ET.SubElement(root, "asset")
            for (path, scale), name in self._assets.items():
                # The bodies have explicit inertias, so meshes need not be closed.
                ET.SubElement(section, "mesh", name=name, file=path, scale=scale, inertia="shell")
            for points, name in self._points.items():
                ET.SubElement(section, "mesh", name=name, vertex=points, inertia="shell")

    def add(self, element: ET.Element, body: Body) -> None:
        visual = self._found.get(id(body)) or ([] if body.parent is None else _of_inertia(body))
        for geom in visual:
            ET.SubElement(element, "geom", geom | _DRAWN)
        for geom in self._colliding.get(id(body), ()):
            ET.SubElement(element, "geom", geom | _COLLIDES)


def _placed(pose: pin.SE3) -> dict[str, str]:
    return {"pos": text(pose.translation), "quat": text(wxyz(pose.rotation))}


def _primitive(shape: Any) -> dict[str, str] | None:
    kind = type(shape).__name__
    if kind == "Box":
        return {"type": "box", "size": text(shape.halfSide)}
    if kind == "Sphere":
        return {"type": "sphere", "size": text(shape.radius)}
    if kind in ("Cylinder", "Capsule"):
        return {"type": kind.lower(), "size": text(shape.radius, shape.halfLength)}
    return {"type": "ellipsoid", "size": text(shape.radii)} if kind == "Ellipsoid" else None


def _of_inertia(body: Body) -> list[dict[str, str]]:
    mass, centre, second = _masses.about_centre(body.drawn)
    if body.spins:
        return _of_rotor(body)
    if not mass > 0.0:
        return []
    values, axes = np.linalg.eigh(second)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    half = np.sqrt(np.maximum(3.0 * values / mass, 1e-6))
    return [{"type": "box", "size": text(half), "pos": text(centre), "quat": text(wxyz(axes)), "rgba": _LINK}]


def _of_rotor(body: Body) -> list[dict[str, str]]:
    """Build a cylinder with a rotor's axial inertia; a massless rotor becomes a steel disc, half a radius thick."""
    axis, (mass, centre, second) = body.joints[0].axis, _masses.about_centre(body.drawn)
    axial = _masses.axial(body.drawn, axis)
    if not axial > 0.0:
        return []
    if mass > 0.0:
        radius = np.sqrt(2.0 * axial / mass)
        half = np.sqrt(max(3.0 * float(axis @ second @ axis) / mass, (0.1 * radius) ** 2))
    else:
        radius = (4.0 * axial / (np.pi * _STEEL)) ** 0.2  # J = pi rho h r^4 / 2 with h = r / 2
        half = 0.25 * radius
    turn = pin.Quaternion.FromTwoVectors(np.array([0.0, 0.0, 1.0]), axis).matrix()
    cylinder = {"type": "cylinder", "size": text(radius, half), "pos": text(centre), "quat": text(wxyz(turn))}
    return [cylinder | {"rgba": _ROTOR}]
