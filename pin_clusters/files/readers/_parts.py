"""Extensions of URDF and URDF+: ``<rod>``, ``<rotor>``, ``<mechanism>``, ``<spring>``, ``<reference_pose>``.

With these elements, a file can contain a complete model. ``pc.to_urdf`` writes them; other programs ignore them::

    <rod name="achilles_rod" length="0.5" mass="0.16">
      <predecessor link="hip_link"><origin xyz="0 0 0.045"/></predecessor>
      <successor link="heel_link"/>
    </rod>
    <rotor name="knee_rotor" axial_inertia="3.65e-4">
      <drive joint="knee" ratio="16"/> <carrier link="hip_link"/> <axis xyz="0 0 1"/>
    </rotor>
    <mechanism name="ankle" type="push_rod_ankle">
      <joint role="actuator_1" joint="left_actuator"/> ... <number role="length0" value="0.2 0.2"/>
      <frame role="shank" link="shank_link"><origin xyz="0 0.04 0"/></frame> <point role="foot" xyz="-0.04 0.04 0"/>
    </mechanism>
    <spring name="shin_spring" stiffness="1500" damping="0.1"><drive joint="shin"/></spring>
    <held_weight name="counterweight" link="arm" mass="2" center="0 0 0.1"/>
    <reference_pose><joint name="crank" q="1.2"/></reference_pose>

A rotor whose mass is not included in its carrier's link has an ``<inertial>`` and an ``<origin>`` instead of
``axial_inertia``. If carrier, origin and axis are all absent, the rotor has the default placement of ``Rotor``. The
roles in a ``<mechanism>`` are parameters of its class (``FourBar``, ``SliderCrank``, ``Differential.<type>``). If a
parameter has several frames, repeat the element.
"""

import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin

from ..._support.trees import in_q, set_coordinate
from ...constraints import Differential, FourBar, Rod, Rotor, SliderCrank
from ...constraints import differential as library
from ...constraints.spring import GravityCompensation, Spring
from ...errors import LoadError, did_you_mean
from ._checks import placed, read_inertia
from ._notes import ATTRIBUTES, SILENT, Notes
from ._numbers import number, numbers
from ._trees import ROOT_JOINT_NAME
from ._xml import OWN, Description, in_words_of, known, known_link, named, only_child, reference

SIDES = ("predecessor", "successor")
_KNOWN = ATTRIBUTES | {  # allowed attributes of each element
    "rod": {"name", "length", "mass"},
    "mechanism": {"name", "type"},
    "rotor": {"name", "axial_inertia", "armature", "driven"},
    "spring": {"name", "stiffness", "damping", "friction", "rest"},
    "held_weight": {"name", "mass", "center", "link"},
    "carrier": {"link"},
    "drive": {"joint", "ratio"},
    "inertial": set(),
    "joint": {"role", "joint"},
    "number": {"role", "value"},
    "point": {"role", "xyz"},
    "frame": {"role", "link"},
}
_INSIDE = SILENT | {  # allowed child elements of each element
    "rod": {"predecessor", "successor", "inertial"},
    "spring": {"drive", "frame"},
    "rotor": {"drive", "carrier", "origin", "axis", "inertial"},
    "mechanism": {"joint", "number", "point", "frame"},
    "joint": set(),
    "frame": {"origin"},
}
MECHANISMS: dict[str, Any] = {"four_bar": FourBar, "slider_crank": SliderCrank} | {
    kind.mechanism: kind
    for kind in vars(library).values()
    if isinstance(kind, type) and issubclass(kind, Differential) and kind.mechanism
}
"""Class of the mechanism for each value of the attribute ``type`` of ``<mechanism>``."""


@dataclass(frozen=True)
class Part:
    """A constraint in the file, which is built after Pinocchio has read the tree."""

    owner: str  # label for messages
    make: Callable[[pin.Model], Any]

    def build(self, tree: pin.Model) -> Any:
        with in_words_of(self.owner):
            return self.make(tree)


def read_parts(description: Description) -> list[Part]:
    read = {"rod": _rod, "rotor": _rotor, "mechanism": _mechanism, "spring": _spring, "held_weight": _held_weight}
    parts = []
    for tag in OWN:
        for name, element in named(description.root.findall(tag), tag).items():
            _check(element, f"{tag} {name!r}")
            parts.append(read[tag](element, name, f"{tag} {name!r}", description))
    return parts


def _check(element: ET.Element, owner: str) -> None:
    for attribute in element.attrib:
        if attribute not in _KNOWN[element.tag]:
            hint = did_you_mean(attribute, _KNOWN[element.tag])
            raise LoadError(f"{owner}: unknown attribute {attribute!r} of <{element.tag}>.{hint}")
    for child in element:
        inside = _INSIDE.get(element.tag, set())
        if child.tag not in inside:
            raise LoadError(f"{owner}: unknown <{child.tag}> in <{element.tag}>.{did_you_mean(child.tag, inside)}")
        _check(child, owner)


def read_reference(description: Description) -> dict[str, list[float]]:
    element = only_child(description.root, "reference_pose", "the robot")
    coordinates: dict[str, list[float]] = {}
    for joint in () if element is None else element.findall("joint"):
        name, owner = joint.get("name") or "", "the reference pose"
        if name != ROOT_JOINT_NAME:
            known(name, "joint", description.joints, owner)
        coordinates[name] = [number(x, f"q of joint {name!r}", owner) for x in (joint.get("q") or "").split()]
    return coordinates


def pose_of(tree: pin.Model, coordinates: dict[str, list[float]]) -> np.ndarray | None:
    """Build the reference pose of a tree, shape (nq,); return None if ``coordinates`` is empty."""
    if not coordinates:
        return None
    q = np.array(pin.neutral(tree))
    for name, values in coordinates.items():
        if not tree.existJointName(name):
            continue  # The file's pose has a root joint, but the caller passed none.
        j = tree.getJointId(name)
        if tree.nvs[j] == 1 and len(values) == 1:
            set_coordinate(tree, j, q, values[0])
        elif len(values) == tree.nqs[j]:
            q[in_q(tree, j)] = values
        else:
            raise LoadError(f"the reference pose: joint {name!r} needs {tree.nqs[j]} numbers, got {len(values)}.")
    return q


def read_armature(joint: ET.Element, owner: str) -> list[float]:
    """Read ``<dynamics armature=...>`` of a joint: one number per degree of freedom; an empty list if absent."""
    dynamics = only_child(joint, "dynamics", owner)
    text = None if dynamics is None else dynamics.get("armature")
    values = [] if text is None else [number(x, "the armature", owner) for x in text.split() or [""]]
    if any(value < 0.0 for value in values):
        raise LoadError(f"{owner}: the armature is {min(values):g}; it must not be negative.")
    return values


def read_friction(description: Description, notes: Notes) -> list[Spring]:
    springs, lost = list[Spring](), list[str]()
    for name, joint in description.joints.items():
        owner = f"joint {name!r}"
        if (dynamics := only_child(joint, "dynamics", owner)) is None or joint.get("type") == "fixed":
            continue
        damping, friction = (number(dynamics.get(k, "0"), f"the {k}", owner) for k in ("damping", "friction"))
        if (damping or friction) and joint.get("type") in ("floating", "planar"):
            lost.append(name)
        elif damping or friction:
            with in_words_of(owner):
                springs.append(Spring(name, damping=damping, friction=friction))
    notes.about(lost, "damping and friction of floating and planar joints are not supported and are ignored: {}.")
    return springs


class End(NamedTuple):
    """A frame on a link of the file."""

    link: str
    origin: pin.SE3

    def on(self, tree: pin.Model) -> tuple[str, pin.SE3]:
        """Return the name of the joint that moves the link, and the placement of this frame in that joint's frame."""
        frame = tree.frames[tree.getFrameId(self.link, pin.FrameType.BODY)]
        return tree.names[frame.parentJoint], frame.placement * self.origin


def end_of(element: ET.Element, side: str, owner: str, description: Description) -> End:
    link = known_link(element, side, description.links, owner)
    half = element.find(side)
    assert half is not None  # ``known_link`` has checked that the child exists.
    return End(link, placed(half, f"{owner}, {side}"))


def _rod(element: ET.Element, name: str, owner: str, description: Description) -> Part:
    a, b = (end_of(element, side, owner, description) for side in SIDES)
    length = None if element.get("length") is None else number(element.get("length"), "the length", owner)
    mass = number(element.get("mass", "0"), "the mass", owner)
    inertial = only_child(element, "inertial", owner)
    inertia = None if inertial is None else _inertia(inertial, owner)
    return Part(owner, lambda tree: Rod(a.on(tree), b.on(tree), length, mass, name, inertia))


def _rotor(element: ET.Element, name: str, owner: str, description: Description) -> Part:
    drives = [
        (known(d.get("joint"), "joint", description.joints, owner), number(d.get("ratio"), "a ratio", owner))
        for d in element.findall("drive")
    ]
    if not drives:
        raise LoadError(
            f'{owner}: <drive joint="..." ratio="..."/> is missing. Add one for each joint that turns the rotor.'
        )
    inertial = only_child(element, "inertial", owner)
    driven = {"true": True, "false": False}.get(element.get("driven", "true"), element.get("driven"))
    arguments: dict[str, Any] = {"armature": element.get("armature"), "name": name, "driven": driven}
    held: End | None = None
    if any(element.find(tag) is not None for tag in ("carrier", "origin", "axis")):
        held = End(known_link(element, "carrier", description.links, owner), placed(element, owner))
        arguments["axis"] = numbers(reference(element, "axis", "xyz", owner), "the axis", owner, 3)
    if inertial is not None:
        arguments["inertia"] = _inertia(inertial, owner)
    elif element.get("axial_inertia") is not None:
        arguments["axial_inertia"] = number(element.get("axial_inertia"), "axial_inertia", owner)

    def make(tree: pin.Model) -> Rotor:
        carrier, placement = (None, None) if held is None else held.on(tree)
        if placement is not None and element.find("origin") is None and placement.isIdentity():
            placement = None  # Viewers do not draw rotors whose placement is None.
        return Rotor(*map(list, zip(*drives, strict=True)), carrier=carrier, placement=placement, **arguments)

    return Part(owner, make)


def _spring(element: ET.Element, name: str, owner: str, description: Description) -> Part:
    arguments: dict[str, Any] = {
        key: tuple(number(x, key, owner) for x in element.get(key, "").split())
        for key in ("stiffness", "damping", "rest")
        if element.get(key) is not None
    }
    friction = number(element.get("friction", "0"), "the friction", owner)
    drives = element.findall("drive")
    names = [known(d.get("joint"), "joint", description.joints, owner) for d in drives]
    points = [_argument(frame, owner, description) for frame in element.findall("frame")]
    along: Any = names[0] if len(names) == 1 and drives[0].get("ratio") is None else None
    if along is None and names:
        along = {n: number(d.get("ratio"), "a ratio", owner) for n, d in zip(names, drives, strict=True)}
    if bool(drives) == bool(points):
        raise LoadError(f"{owner} needs either <drive joint=.../> for each joint or <frame link=.../> for each point.")

    def make(tree: pin.Model) -> Spring:
        path = along or [point.on(tree) for point in points]
        return Spring(path, friction=friction, name=name, **arguments)

    return Part(owner, make)


def _held_weight(element: ET.Element, name: str, owner: str, description: Description) -> Part:
    link = known(element.get("link"), "link", description.links, owner)
    mass = number(element.get("mass"), "the mass", owner)
    center = np.array(numbers(element.get("center", "0 0 0"), "the center", owner, 3))

    def make(tree: pin.Model) -> GravityCompensation:
        joint, placement = End(link, pin.SE3.Identity()).on(tree)
        return GravityCompensation(joint, mass, tuple(placement.act(center).tolist()))

    return Part(owner, make)


def _inertia(inertial: ET.Element, owner: str) -> pin.Inertia:
    placement = placed(inertial, owner)
    inertia = pin.Inertia.Zero()
    inertia.mass, moments = read_inertia(inertial, owner)
    inertia.lever = placement.translation
    inertia.inertia = placement.rotation @ moments @ placement.rotation.T
    return inertia


def _mechanism(element: ET.Element, name: str, owner: str, description: Description) -> Part:
    kind = MECHANISMS.get(element.get("type") or "")
    if kind is None:
        raise LoadError(
            f"{owner}: unknown type {element.get('type')!r}.{did_you_mean(element.get('type') or '', MECHANISMS)}"
        )
    roles = [f.name for f in fields(kind) if f.init and f.name != "name"]
    arguments: dict[str, list[Any]] = {}
    for child in element:
        role = child.get("role") or ""
        if role not in roles:
            raise LoadError(f"{owner}: <{child.tag}> has the unknown role {role!r}.{did_you_mean(role, roles)}")
        arguments.setdefault(role, []).append(_argument(child, f"{owner}, {role}", description))

    names = {"name": name} if any(f.name == "name" for f in fields(kind)) else {}

    def make(tree: pin.Model) -> Any:
        values = {role: [x.on(tree) if isinstance(x, End) else x for x in given] for role, given in arguments.items()}
        return kind(**{role: x[0] if len(x) == 1 else tuple(x) for role, x in values.items()}, **names)

    return Part(owner, make)


def _argument(child: ET.Element, owner: str, description: Description) -> Any:
    if child.tag == "joint":
        return known(child.get("joint"), "joint", description.joints, owner)
    if child.tag == "number":
        values = [number(x, "the value", owner) for x in (child.get("value") or "").split()]
        return values[0] if len(values) == 1 else tuple(values)
    if child.tag == "point":
        return np.array(numbers(child.get("xyz"), "the point", owner, 3))
    return End(known(child.get("link"), "link", description.links, owner), placed(child, owner))
