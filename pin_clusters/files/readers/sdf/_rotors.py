"""Drake's ``<drake:rotor_inertia>`` and ``<drake:gear_ratio>`` of an axis."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from ....constraints import Rotor
from ....errors import LoadError
from .._notes import local_name
from .._numbers import number
from .._xml import in_words_of
from ._scopes import Scope
from ._spanning import Spanning
from ._tree import second

TAGS = ("rotor_inertia", "gear_ratio")


def rotors_of(scope: Scope, spanning: Spanning) -> list[Rotor]:
    """Return the rotors of the joints in the tree; the gear ratio is 1 where the file does not say, as in Drake."""
    found = []
    moving = {branch.joint.name for branch in spanning.branches if branch.joint.kind != "fixed"}
    for here in scope.every():
        for name, element in here.members.items():
            for i, tag in enumerate(("axis", "axis2")):
                stated = _stated(element, tag, f"joint {here.full(name)!r}") if element.tag == "joint" else {}
                if not stated.get("rotor_inertia"):
                    continue
                owner = f"joint {here.full(name)!r}"
                if here.full(name) not in moving:
                    raise LoadError(
                        f"{owner}: it has a rotor, but no coordinate, as it closes a loop, or cannot move. Remove "
                        "<drake:rotor_inertia>, or give it a <mimic> or spring, which keeps it in the tree."
                    )
                joint = second(here.full(name)) if i else here.full(name)
                with in_words_of(owner):
                    found.append(Rotor(joint, stated.get("gear_ratio", 1.0), axial_inertia=stated["rotor_inertia"]))
    return found


def _stated(joint: ET.Element, tag: str, owner: str) -> dict[str, float]:
    found: dict[str, float] = {}
    for child in joint.iterfind(f"{tag}/*"):
        local = local_name(child.tag)
        if local in TAGS:
            if local in found:
                raise LoadError(f"{owner}: <{local}> is stated twice. Keep one.")
            found[local] = number(child.text or child.get("value") or "", local, owner)
    return found
