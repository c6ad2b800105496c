"""URDF+ ``<loop>``: two links that a further joint connects, as `Loop`.

::

    <loop name="coupler_to_rocker" type="revolute">
      <predecessor link="coupler"><origin xyz="1 0 0" rpy="0 0 0"/></predecessor>
      <successor link="rocker"><origin xyz="0.5 0 0"/></successor>
      <axis xyz="0 0 1"/>
    </loop>

The origins place the two halves of the joint in the frames of their links; the axis (by default 1 0 0, as in URDF)
is the same three numbers in both halves.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET

from ...constraints import Loop
from ...errors import LoadError, did_you_mean
from ._checks import STRETCHED_LOOPS, normalise_axis
from ._notes import Notes
from ._numbers import numbers
from ._parts import SIDES, Part, end_of, on_link
from ._xml import Description, named, only_child

KINDS = ("fixed", "revolute", "continuous", "prismatic", "cylindrical", "spherical", "universal", "planar")
WITHOUT_AXIS = ("fixed", "spherical")
DEFAULT_AXIS = (1.0, 0.0, 0.0)


def read_loops(description: Description, notes: Notes) -> list[Part]:
    """Read all loops of a file; axes that are not of unit length are normalised, and one message names them."""
    elements = named(description.root.findall("loop"), "loop")
    shared = [name for name in named(description.root.findall("coupling"), "coupling") if name in elements]
    if shared:
        raise LoadError(f"A loop and a coupling have the name {shared[0]!r}. Rename one.")
    stretched: list[str] = []
    loops = [_loop(element, name, description, stretched) for name, element in elements.items()]
    notes.about(stretched, STRETCHED_LOOPS)
    return loops


def _loop(element: ET.Element, name: str, description: Description, stretched: list[str]) -> Part:
    owner = f"loop {name!r}"
    kind = element.get("type")
    if kind is None:
        raise LoadError(f'{owner}: the attribute type is missing. Add it, as in <loop name={name!r} type="revolute">.')
    if kind not in KINDS:
        hint = did_you_mean(kind, KINDS).replace("names", "types")
        raise LoadError(f"{owner}: type {kind!r} is unknown.{hint}")
    a, b = (end_of(element, side, owner, description) for side in SIDES)
    if description.moving_joint(a[0]) == description.moving_joint(b[0]):
        raise LoadError(
            f"{owner}: predecessor {a[0]!r} and successor {b[0]!r} are, or move as, the same link, so there is "
            "nothing to close. Name another link."
        )
    axis = _axis(element, owner, kind, name, stretched)
    here = "revolute" if kind == "continuous" else kind  # a loop has no limits anyway
    return Part(owner, lambda tree: Loop(on_link(tree, *a), on_link(tree, *b), here, axis, name=name))


def _axis(element: ET.Element, owner: str, kind: str, name: str, stretched: list[str]) -> tuple[float, ...]:
    child = only_child(element, "axis", owner)
    if child is None or kind in WITHOUT_AXIS:
        return DEFAULT_AXIS
    if normalise_axis(child, owner):
        stretched.append(name)
    return numbers(child.get("xyz"), "the axis", owner, 3)
