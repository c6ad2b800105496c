"""Collision shapes: geoms whose ``contype`` or ``conaffinity`` is not 0."""

from collections.abc import Sequence

import numpy as np

from ...._support.hulls import hull
from ....errors import LoadError
from .._shapes import Maker, Shape, half_space, primitive
from ._bodies import UNIVERSE, Body, Geom
from ._document import Document
from ._inertia import size_of
from ._meshes import Meshes


def read_shapes(document: Document, bodies: Sequence[Body], meshes: Meshes) -> dict[str, list[Shape]]:
    make = Maker(document.folder, document.notes)
    shapes: dict[str, list[Shape]] = {}
    for i, body in enumerate(bodies):
        body_shapes = shapes[body.name if i else UNIVERSE] = []
        for geom in body.geoms:
            if geom.element.contype or geom.element.conaffinity:
                with make.attempt():
                    body_shapes.append(_shape(geom, make, meshes))
    make.say()
    return shapes


def _shape(geom: Geom, make: Maker, meshes: Meshes) -> Shape:
    g, owner, kind = geom.element, geom.element.owner, geom.element.type
    name, placement = g.given.get("name", ""), geom.frame * g.pose
    if kind == "plane":
        return Shape(name, placement, half_space((0.0, 0.0, 1.0), owner))
    if kind in ("hfield", "sdf") or ("mesh" in g and kind != "mesh" and "fromto" not in g):
        raise LoadError(f"{owner}: {'a shape fitted to a mesh' if 'mesh' in g else f'type {kind}'} is not supported")
    if kind == "mesh":
        path, scale = meshes.plain_file(g.mesh, owner)
        if path is not None:
            return make.mesh(name, placement, str(path), scale, owner)
        return Shape(name, placement, hull(meshes.soup(g.mesh, owner)[0], owner))
    size = np.array(size_of(g))
    if kind == "box":
        size = 2.0 * size
    elif kind in ("capsule", "cylinder"):
        size[1:2] *= 2.0
    return Shape(name, placement, primitive(kind, size.tolist(), owner))
