"""Collision shapes in URDF: ``<collision>`` for standard shapes, the extension ``<shape>`` for all other shapes."""

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from ...model import ClusterModel
from ._links import Links
from ._text import Names, text
from ._urdf_constraints import add_origin

_PLAIN = ("box", "sphere", "cylinder", "mesh")


def is_mesh(shape: Any) -> bool:
    return type(shape.geometry).__name__.startswith(("BVH", "Convex"))


def points_of(shape: Any) -> np.ndarray:
    geometry = shape.geometry
    return np.array(geometry.points() if hasattr(geometry, "points") else geometry.vertices())


def add_collisions(root: ET.Element, model: ClusterModel, links: Links) -> list[str]:
    """Add the shapes of a model to its links; return the names of shapes that cannot be written."""
    tree, lost, names = model.own_tree, list[str](), Names()
    elements = {e.get("name"): e for e in root.findall("link")}
    for shape in model.collision.geometryObjects:
        geometry = _geometry(shape)
        if geometry is None:
            lost.append(shape.name)
            continue
        frame = tree.frames[shape.parentFrame]
        held = frame.type == pin.FrameType.BODY
        link = frame.name if held else links.of_joint[int(shape.parentJoint)]
        if geometry.tag in _PLAIN:
            element = ET.SubElement(elements[link], "collision", name=names(shape.name))
        else:
            element = ET.SubElement(root, "shape", name=names(shape.name), link=link)
        add_origin(element, frame.placement.actInv(shape.placement) if held else shape.placement)
        ET.SubElement(element, "geometry").append(geometry)
    return lost


def _geometry(shape: Any) -> ET.Element | None:
    """Build the content of ``<geometry>``, with numbers that are read back exactly."""
    g, kind = shape.geometry, type(shape.geometry).__name__.lower()
    if is_mesh(shape):
        if Path(shape.meshPath).is_file():
            return ET.Element("mesh", filename=str(shape.meshPath), scale=text(shape.meshScale))
        return ET.Element("hull", points=text(points_of(shape)))
    if kind in ("cylinder", "capsule"):
        return ET.Element(kind, radius=text(g.radius), length=text(2.0 * g.halfLength))
    if kind == "halfspace":
        return ET.Element("plane", normal=text(g.n), offset=text(g.d))
    if kind == "sphere":
        return ET.Element(kind, radius=text(g.radius))
    sizes = {"box": ("size", "halfSide", 2.0), "ellipsoid": ("radii", "radii", 1.0)}
    if kind not in sizes:
        return None
    key, attribute, scale = sizes[kind]
    return ET.Element(kind, {key: text(scale * np.array(getattr(g, attribute)))})
