"""Collision shapes: the ``<collision>`` elements of links."""

import xml.etree.ElementTree as ET

from ....errors import LoadError
from .._notes import Notes
from .._numbers import numbers
from .._shapes import DIMENSIONS, Maker, Shape, half_space, shape_in, sized
from .._xml import only_child
from ._document import Document
from ._scopes import Scope, relative_to
from ._values import placement, text_of


def read_shapes(scope: Scope, document: Document, notes: Notes) -> dict[str, list[Shape]]:
    shapes: dict[str, list[Shape]] = {}
    makers: dict[object, Maker] = {}
    for nested in scope.every():
        folder = document.folders.get(id(nested.element), document.folder)
        make = makers.setdefault(folder, Maker(folder, notes))
        for link, element in nested.members.items():
            for collision in element.findall("collision") if element.tag == "link" else ():
                name = collision.get("name") or ""
                with make.attempt():
                    shape = _shape(nested, link, collision, f"collision {name!r} of link {nested.full(link)!r}", make)
                    shapes.setdefault(nested.full(link), []).append(shape._replace(name=nested.full(name)))
    for make in makers.values():
        make.say()
    return shapes


def _shape(scope: Scope, link: str, element: ET.Element, owner: str, make: Maker) -> Shape:
    pose = only_child(element, "pose", owner)
    placed, base = placement(pose, owner), relative_to(pose, owner)
    if base:
        placed = scope.place(link, owner).actInv(scope.place(base, owner)) * placed
    shape = shape_in(element, owner)
    kind = shape.tag
    if kind == "plane":
        return Shape("", placed, half_space(numbers(shape.findtext("normal", "0 0 1"), "normal", owner, 3), owner))
    if kind == "mesh":
        if shape.find("submesh") is not None:
            raise LoadError(f"{owner}: <submesh> is not supported")
        scale = numbers(shape.findtext("scale", "1 1 1"), "scale", owner, 3)
        return make.mesh("", placed, text_of(shape, "uri", owner), scale, owner)
    if kind not in DIMENSIONS:
        raise LoadError(f"{owner}: <{kind}> is not supported")
    return Shape("", placed, sized(kind, shape.findtext, owner))
