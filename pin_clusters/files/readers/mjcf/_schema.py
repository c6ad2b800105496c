"""What MJCF has: elements, and the types of attributes, as far as they may change the dynamics.

What is not here is unknown to MuJoCo too, or does not matter to a rigid body: materials, cameras, contacts, sensors.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterable

from ....errors import LoadError, did_you_mean
from .._numbers import Flag, Numbers, Text, Vector, Word

SECTIONS = {
    "compiler", "option", "size", "visual", "statistic", "default", "custom", "extension", "asset", "worldbody",
    "contact", "deformable", "equality", "tendon", "actuator", "sensor", "keyframe",
}  # fmt: skip
BODY = {
    "inertial", "joint", "freejoint", "geom", "body", "frame", "site", "camera", "light", "plugin", "attach",
    "replicate", "composite", "flexcomp",
}  # fmt: skip
EQUALITIES = {"connect", "weld", "joint", "tendon", "flex", "flexvert", "flexstrain", "distance"}
TENDONS = {"fixed", "spatial"}
KINDS = ("hinge", "slide", "ball", "free")
TYPES = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
RULES = ("legacy", "exact", "convex", "shell")
WATER = 1000.0  # MuJoCo's density where none is given, [kg/m^3]
MANY = 10**7  # numbers of an attribute
Types = dict[str, Text | None]
"""Types of attributes by name; None: it is known, and not read."""


def _types(unread: str, **read: Text) -> Types:
    return dict.fromkeys(unread.split()) | read


def _either(*, default: str = "auto") -> Word:
    return Word(default, ("true", "false", "auto"))


_POWERS = Numbers((0.0, 0.0, 0.0), 1, 3, filled=True)  # coefficients of x, x^2 and x^3
_TWO, _NO_NUMBERS = Numbers(None, 2, 2), Numbers(None)
_PLACE = _types("", pos=Vector((0.0, 0.0, 0.0)), quat=Vector(None, 4, 4), axisangle=Vector(None, 4, 4),
                xyaxes=Vector(None, 6, 6), zaxis=Vector(None), euler=Vector(None))  # fmt: skip
_LIMITS = _types(
    "solreflimit solimplimit solreffriction solimpfriction margin group user", range=_TWO, limited=_either()
)
_PASSIVE = _types(
    "", stiffness=_POWERS, damping=_POWERS, frictionloss=Numbers(), armature=Numbers(), springyield=Numbers(),
    actuatorfrcrange=_TWO, actuatorfrclimited=_either(),
)  # fmt: skip
_SOFT = _types("name class", active=Flag(True), solref=Text(), solimp=Text())
_TIE = _types("", body1=Text(""), body2=Text(""), site1=Text(""), site2=Text(""), anchor=Vector((0.0, 0.0, 0.0)))
_POLYNOMIAL = _types("", polycoef=Numbers((0.0, 1.0), 1, 5))
ATTRIBUTES: dict[str, Types] = {
    "compiler": _types(
        "conflict convexhull discardvisual fitaabb fusestatic passthrough savecanonical savecompiled "
        "saveinertial texturedir usethread",
        alignfree=Text("false"), angle=Text("degree"), assetdir=Text(""), autolimits=Flag(True), balanceinertia=Flag(),
        boundinertia=Numbers(), boundmass=Numbers(), coordinate=Text("local"), eulerseq=Text("xyz"), exactmeshinertia=Flag(),
        inertiafromgeom=_either(), inertiagrouprange=Numbers((0.0, 5.0), 2, 2), meshdir=Text(""),
        settotalmass=Numbers(-1.0), strippath=Flag(),
    ),
    "body": _types("name childclass user sleep fuse simple", mocap=Flag(), gravcomp=Numbers()) | _PLACE,
    "frame": _types("name childclass") | _PLACE,
    "inertial": _types(
        "", mass=_NO_NUMBERS, diaginertia=Vector(None), fullinertia=Vector(None, 6, 6)
    ) | _PLACE,
    "joint": _types(
        "name class", type=Word("hinge", KINDS), axis=Vector((0.0, 0.0, 1.0)), pos=Vector((0.0, 0.0, 0.0)),
        ref=Numbers(), springref=Numbers(), springdamper=Numbers((0.0, 0.0), 2, 2), actuatorgravcomp=Flag(),
    ) | _LIMITS | _PASSIVE,
    "freejoint": _types("name group align"),
    "geom": _types(
        "name class hfield adhesion conaffinity contype condim castshadow fitscale fluidcoef fluidshape friction gap "
        "margin material priority rgba solimp solmix solref surfacevel user",
        type=Word("sphere", TYPES), mesh=Text(), size=Vector((), 1, 3), fromto=Vector(None, 6, 6), mass=_NO_NUMBERS,
        density=Numbers(WATER), shellinertia=Flag(), group=Numbers(),
    ) | _PLACE,
    "connect": _TIE | _SOFT,
    "weld": _types("", relpose=Vector(None, 7, 7), torquescale=Numbers(1.0)) | _TIE | _SOFT,
    "equality joint": _types("", joint1=Text(), joint2=Text()) | _POLYNOMIAL | _SOFT,
    "equality tendon": _types("", tendon1=Text(), tendon2=Text()) | _POLYNOMIAL | _SOFT,
    "fixed": _types("name class", springlength=Numbers((-1.0,), 1, 2)) | _LIMITS | _PASSIVE,
    "spatial": _types("name class width material rgba", springlength=Numbers((-1.0,), 1, 2)) | _LIMITS | _PASSIVE,
    "tendon joint": _types("", joint=Text(""), coef=_NO_NUMBERS),
}  # fmt: skip
# Not checked for attributes that are not known.
ATTRIBUTES |= {
    "site": _types("", fromto=Vector(None, 6, 6)) | _PLACE,
    "mesh": _types(
        "", inertia=Word("legacy", RULES), refpos=Vector((0.0, 0.0, 0.0)), refquat=Vector(None, 4, 4),
        scale=Vector((1.0, 1.0, 1.0)), vertex=Vector(None, 12, MANY), face=Vector(None, 3, MANY), file=Text(""),
    ),
    "actuator": _types(
        "", joint=Text(), jointinparent=Text(), tendon=Text(), gear=Numbers((1.0,), 1, 6), armature=Numbers(),
        damping=_POWERS, forcerange=_TWO, ctrlrange=_TWO,
    ),
    "key": _types("", qpos=Vector(None, 0, MANY)),
    "option": _types("", gravity=Vector(None), density=Numbers(), viscosity=Numbers()),
}  # fmt: skip


def check_attributes(element: ET.Element, kind: str, owner: str) -> None:
    """Raise if an element of the dynamics has an attribute that MJCF does not know: it may be misspelt."""
    known = ATTRIBUTES[kind]
    for key in element.attrib:
        if key not in known:
            raise LoadError(
                f"{owner}: unknown attribute {key!r} of <{element.tag}>, which would be lost although it may change "
                f"the dynamics.{did_you_mean(key, sorted(known))} Correct or remove it."
            )


def check_tag(element: ET.Element, known: Iterable[str], parent: str) -> None:
    """Raise if MJCF knows no such element there."""
    if element.tag not in known:
        raise LoadError(f"{parent}: unknown element <{element.tag}>.{did_you_mean(str(element.tag), sorted(known))}")
