"""Reader of the bodies in ``<worldbody>``, in MuJoCo's depth-first order."""

import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from ....errors import LoadError, did_you_mean
from ._document import MAX_DEPTH, Document, NotPlainError
from ._elements import Element, check_attributes, check_tag, normal
from ._schema import BODY

UNIVERSE = "universe"
# MuJoCo's compiler generates bodies and joints from these elements.
MADE_BY_MUJOCO = {"attach", "replicate", "composite", "flexcomp"}


@dataclass
class Joint:
    name: str  # unique among joints
    kind: str  # ``"hinge"``, ``"slide"``, ``"ball"`` or ``"free"``
    pos: np.ndarray  # anchor in the body, shape (3,), [m]
    axis: np.ndarray  # unit vector in the body, shape (3,)
    ref: float  # coordinate in the pose of the file, [rad] or [m]
    range: tuple[float, float] | None  # limits, [rad] or [m], or None
    element: Element
    held: float | None = None  # displacement from the pose of the file at which an equality locks the joint, or None
    of_ball: bool = False  # True for a hinge that replaces a part of a ball joint

    @property
    def scalar(self) -> bool:
        return self.kind in ("hinge", "slide")


class Geom(NamedTuple):
    element: Element
    frame: pin.SE3  # placement of the <frame> elements around the geom, in the frame of the body


@dataclass
class Body:
    name: str  # unique among bodies
    parent: int  # index of the parent body; the world is its own parent
    placement: pin.SE3  # in the parent body
    joints: list[Joint] = field(default_factory=list)  # ordered from the parent to the body
    inertial: Element | None = None
    geoms: list[Geom] = field(default_factory=list)
    sites: list[tuple[str, pin.SE3]] = field(default_factory=list)  # name, placement in the body
    mocap: bool = False
    gravcomp: float = 0.0  # compensated fraction of the body's weight

    @property
    def owner(self) -> str:
        return f"body {self.name!r}"


Names = Mapping[str, "_Names"]
"""Names in use, by kind of element."""


class _Place(NamedTuple):
    """An element that has not been read yet, with its body and the placement of the enclosing <frame> elements."""

    element: ET.Element
    body: int
    frame: pin.SE3
    childclass: str | None
    depth: int


def read_bodies(document: Document) -> list[Body]:
    if document.root.find("worldbody") is None:
        raise LoadError(f"{document.source} has no <worldbody>, so it does not describe a robot.")
    bodies = [Body("world", 0, pin.SE3.Identity())]
    elements = [e for w in document.root.findall("worldbody") for e in w.iter()]
    names = {
        "body": _Names("body", "bodies", (e.get("name") for e in elements if e.tag == "body"), "world"),
        "joint": _Names("joint", "joints", (e.get("name") for e in elements if e.tag in ("joint", "freejoint"))),
        "site": _Names("site", "sites"),
    }
    none = pin.SE3.Identity()
    stack = [_Place(w, 0, none, w.get("childclass"), 1) for w in document.root.findall("worldbody")[::-1]]
    while stack:
        item = stack.pop()
        if item.depth > MAX_DEPTH:
            raise LoadError(f"{document.source}: bodies are nested more than {MAX_DEPTH} deep.")
        if item.element.tag == "body":
            name = names["body"](item.element.get("name"), f"body{len(bodies)}")  # numbered as in MuJoCo
            attributes = document.elements.plain(item.element, "body", f"body {name!r}")
            pose = item.frame * attributes.pose
            bodies.append(Body(name, item.body, pose, mocap=attributes.mocap, gravcomp=attributes.gravcomp))
            item = item._replace(body=len(bodies) - 1, frame=none)
        inner = [child_item for child in item.element if (child_item := _read(document, bodies, names, item, child))]
        stack.extend(inner[::-1])
    return bodies


def _read(document: Document, bodies: list[Body], names: Names, place: _Place, child: ET.Element) -> _Place | None:
    """Read one element; return its ``_Place`` if its children must also be read."""
    body = bodies[place.body]
    check_tag(child, BODY, body.owner)
    if child.tag == "body" or child.tag == "frame":
        childclass, frame = child.get("childclass") or place.childclass, place.frame
        if child.tag == "frame":
            frame = frame * document.elements.plain(child, "frame", f"frame {child.get('name')!r} in {body.owner}").pose
        return _Place(child, place.body, frame, childclass, place.depth + 1)
    if child.tag in MADE_BY_MUJOCO or child.tag == "plugin":
        raise NotPlainError(child.tag, body.owner)
    if child.tag == "inertial":
        inertial = document.elements.plain(child, "inertial", body.owner)
        if body.inertial is not None:
            raise LoadError(f"{body.owner} has two <inertial> elements. Keep one.")
        inertial.owner = f"inertial of {body.owner}"
        body.inertial = inertial
    elif child.tag in ("joint", "freejoint"):
        _joint(document, body, place, child, names)
    elif child.tag == "geom":
        owner = f"geom {child.get('name') or len(body.geoms)!r} of {body.owner}"
        body.geoms.append(Geom(document.elements.of(child, "geom", owner, place.childclass), place.frame))
    elif child.tag == "site":
        _site(document, body, place, child, names)
    return None


def _site(document: Document, body: Body, place: _Place, element: ET.Element, names: Names) -> None:
    owner = f"site {element.get('name')!r} of {body.owner}"
    site = document.elements.of(element, "site", owner, place.childclass)
    if name := element.get("name"):  # Nothing can refer to a site without a name.
        body.sites.append((names["site"](name, ""), place.frame * site.pose))


def _joint(document: Document, body: Body, place: _Place, element: ET.Element, names: Names) -> None:
    owner = f"joint {element.get('name')!r} of {body.owner}" if element.get("name") else f"a joint of {body.owner}"
    if place.body == 0:
        raise LoadError(f"{owner}: the world cannot have joints. Move this joint into a body.")
    if element.tag == "freejoint":
        check_attributes(element, "freejoint", owner)
        joint, kind = Element("joint", element.attrib, owner, document.elements.units), "free"
        if element.get("align", document.compiler.alignfree) == "true":
            document.notes.messages.append(f"{body.owner}: align=true is ignored; q is the pose of the body frame.")
    else:
        joint = document.elements.of(element, "joint", owner, place.childclass)
        kind = joint.type
    if body.joints and "free" in (kind, body.joints[0].kind):
        raise LoadError(f"{owner}: a free joint must be the only joint of its body. Remove the others.")
    if kind == "free" and body.parent != 0:
        raise LoadError(f"{owner}: only direct children of the world can have a free joint.")
    base = body.name if not body.joints else f"{body.name}_{len(body.joints) + 1}"
    name = names["joint"](element.get("name"), base)
    owner = joint.owner = f"joint {name!r}"
    scalar = kind in ("hinge", "slide")
    scale = document.elements.units.angle(1.0) if kind in ("hinge", "ball") else 1.0
    axis = normal(joint.axis, "axis", owner) if scalar else np.array([0.0, 0.0, 1.0])
    bounds = None
    if kind != "free":
        # A ball joint with limits may lack a range, because a default class can enable limits for all joints.
        bounds = joint.limits("range", "limited", document.compiler.autolimits, needed=kind != "ball")
    if bounds is not None:
        bounds = scale * bounds[0], scale * bounds[1]
        if scalar and not bounds[0] < bounds[1]:
            raise LoadError(f"{owner}: the range {joint.given['range']!r} is empty. Write the lower limit first.")
    ref = scale * joint.ref if scalar else 0.0
    anchor = place.frame.act(joint.pos) if kind != "free" else np.zeros(3)
    body.joints.append(Joint(name, kind, np.array(anchor), np.array(place.frame.rotation @ axis), ref, bounds, joint))


class _Names:
    """Unique names for one type of element; ``given`` are the names in the file, and the name ``taken`` is reserved."""

    def __init__(self, kind: str, kinds: str, given: Iterable[str | None] = (), taken: str = "") -> None:
        self.kind, self.kinds, self.given, self.known = kind, kinds, set(given), {taken}

    def __call__(self, name: str | None, base: str) -> str:
        """Register the name of an element, or a unique name that starts with ``base`` if the element has none."""
        if not name:
            while base in self.given or base in self.known:
                base += "_"
        elif name == UNIVERSE and self.kind != "site":
            raise LoadError(f"{self.kind} {name!r} has the name that Pinocchio reserves for the world. Rename it.")
        elif name in self.known:
            raise LoadError(f"Two {self.kinds} have the same name {name!r}. Rename one of them.")
        self.known.add(name or base)
        return name or base


def body_at(bodies: list[Body], name: str, owner: str) -> int:
    for i, body in enumerate(bodies):
        if body.name == name:
            return i
    raise LoadError(f"{owner}: there is no body {name!r}.{did_you_mean(name, [b.name for b in bodies])}")
