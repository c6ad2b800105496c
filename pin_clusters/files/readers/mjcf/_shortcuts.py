"""Actuators such as ``<position>``, which abbreviate ``<general>``, and default classes, which mix both."""

import xml.etree.ElementTree as ET
from collections.abc import Mapping

from ....errors import LoadError
from .._numbers import number

SERVOS = {"position", "general"}
_LAW = ("gainprm", "biasprm", "gaintype", "biastype", "dyntype", "inheritrange")


def merged(kind: str, element: ET.Element, inherited: Mapping[str, str], owner: str) -> dict[str, str]:
    """Return the attributes of an element and of its default class; those of actuators as for ``<general>``.

    In a default class, all types of actuators share one set of attributes. As in MuJoCo, an actuator changes the law
    that it inherits, except that the law of an abbreviation does not apply to other abbreviations.
    """
    tag, own = element.tag, element.attrib
    if kind != "actuator":
        return {**inherited, **own}
    tags = inherited.get("tags", "").split()
    if (
        tag != "general"
        and tags
        and (tags[-1] not in ("general", tag) or inherited.get("gaintype", "fixed") != "fixed")
    ):
        inherited = {key: text for key, text in inherited.items() if key not in _LAW}
    both = {**inherited, **own, "tags": " ".join([*tags, tag])}
    for key, default in (("gainprm", "1"), ("biasprm", "0")):  # An array may be shorter than the inherited array.
        numbers = own.get(key, "").split()
        both[key] = " ".join(numbers + inherited.get(key, "").split()[len(numbers) :]) or default
    if tag == "position":
        both |= _position(own, both, owner)
    elif tag == "motor":
        both |= {"gainprm": "1", "biasprm": "0", "gaintype": "fixed", "biastype": "none", "dyntype": "none"}
    elif tag == "damper":
        both["ctrllimited"] = "true"
    return both


def is_mixed(tags: list[str]) -> bool:
    """Return whether MuJoCo's law of an actuator, whose type is the last of ``tags``, can differ from ``merged``."""
    first = min((tags.index(tag) for tag in SERVOS if tag in tags), default=0)
    inherits = tags[first] == "general" and first > 0 and tags[first - 1] != "motor"
    return inherits or not {*tags[first:]} <= SERVOS


def _position(own: Mapping[str, str], both: Mapping[str, str], owner: str) -> dict[str, str]:
    values = {key: number(own[key], key, owner) for key in ("kp", "kv", "dampratio", "timeconst") if key in own}
    for key, x in values.items():
        if key != "kp" and x < 0.0:
            raise LoadError(f"{owner}: {key} must not be negative, got {x:g}.")
    for first, second, what in (("kv", "dampratio", "damping"), ("ctrlrange", "inheritrange", "range of the control")):
        if first in own and second in own:
            raise LoadError(f"{owner}: {first} and {second} both define the {what}. Keep one.")
    kp = values.get("kp", number(both["gainprm"].split()[0], "gainprm", owner))
    *_, damping = (both["biasprm"].split() + ["0"] * 3)[:3]
    # A positive third number is a damping ratio, a negative number is -kv.
    damping = repr(-values["kv"]) if "kv" in own else own.get("dampratio", damping)
    law = {"gainprm": repr(kp), "biasprm": f"0 {-kp!r} {damping}", "gaintype": "fixed", "biastype": "affine"}
    if "timeconst" in own or both.get("dyntype") != "filterexact":
        law["dyntype"] = "filterexact" if values.get("timeconst") else "none"
    return law | ({"inheritrange": "0"} if "ctrlrange" in own else {})
