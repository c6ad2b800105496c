"""``<collision>`` of URDF, and ``<shape>``, which holds what URDF has no word for.

An element of our own below ``<robot>``, as parsers of URDF give a whole link up for a shape that they do not know;
``pc.to_urdf`` writes it and other programs skip it::

    <shape name="toe" link="foot">
      <origin xyz="0 0 0.1"/> <geometry><capsule radius="0.02" length="0.1"/></geometry>
    </shape>

In ``<geometry>``: what URDF has, ``<capsule radius= length=/>``, ``<ellipsoid radii=/>``, ``<plane normal= offset=/>``,
which is the half space n'x <= offset, and ``<hull points=/>``.
"""

import xml.etree.ElementTree as ET
from pathlib import Path

import coal
import numpy as np

from ..._support.hulls import hull
from ...errors import LoadError
from ._checks import placed
from ._notes import Notes
from ._numbers import number, numbers
from ._shapes import DIMENSIONS, Maker, Shape, half_space, shape_in, sized
from ._xml import Description, known


def read_shapes(description: Description, folder: Path | None, notes: Notes) -> dict[str, list[Shape]]:
    """Return the collision shapes of the links.

    Args:
        description: The document.
        folder: That of the file, for meshes; None for text.
        notes: What is to be said at the end.
    """
    make = Maker(folder, notes)
    found: dict[str, list[Shape]] = {name: [] for name in description.links}
    stated = [(name, e) for name, link in description.links.items() for e in link.findall("collision")]
    stated += [
        (known(e.get("link"), "link", description.links, f"shape {e.get('name')!r}"), e)
        for e in description.root.findall("shape")
    ]
    for link, element in stated:
        with make.attempt():
            found[link].append(_shape(element, f"{element.tag} {element.get('name') or ''!r} of link {link!r}", make))
    make.say()
    return found


def _shape(element: ET.Element, owner: str, make: Maker) -> Shape:
    name, place = element.get("name") or "", placed(element, owner)
    shape = shape_in(element, owner)
    kind = shape.tag
    if kind == "mesh":
        scale = numbers(shape.get("scale", "1 1 1"), "scale", owner, 3)
        return make.mesh(name, place, shape.get("filename") or "", scale, owner)
    if kind == "plane":
        n = half_space(numbers(shape.get("normal"), "normal", owner, 3), owner).n
        return Shape(name, place, coal.Halfspace(n, number(shape.get("offset", "0"), "offset", owner)))
    if kind == "hull":
        text = shape.get("points") or ""
        points = np.array(numbers(text, "points", owner, 12, max(12, len(text))))
        return Shape(name, place, hull(points[: len(points) // 3 * 3].reshape(-1, 3), owner))
    if kind not in DIMENSIONS:
        raise LoadError(f"{owner}: <{kind}> is not read")
    return Shape(name, place, sized(kind, shape.get, owner))
