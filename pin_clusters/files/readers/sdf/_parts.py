"""Read the links and joints of a document, check their numbers, and express all poses in the model frame."""

import math
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin

from ...._support.trees import unit
from ....errors import InertiaError, LoadError
from .._checks import AXIS_TOLERANCE, STRETCHED_JOINTS, UNREAL, is_unreal, symmetric
from .._notes import Notes
from .._numbers import numbers
from .._xml import only_child
from ._document import Document
from ._scopes import MODEL, WORLD, Scope
from ._values import flag, limit, placement, text_of, value, values

AXES = {"revolute": 1, "continuous": 1, "prismatic": 1, "screw": 1, "gearbox": 2, "universal": 2, "revolute2": 2}
WITHOUT_AXIS = ("fixed", "ball")
BARE = "these links have no <inertial>, so their inertia is SDF's default, 1 kg and 1 kg m^2 about each axis: {}."
NEEDLESS = "ball and fixed joints have no axis in SDF, so their limits, damping and springs have no effect: {}."
NamesByNote = Mapping[str, list[str]]
"""For each note (text of a warning), the names of the links or joints that it lists."""


@dataclass(frozen=True)
class Link:
    name: str
    place: pin.SE3  # link frame in the model frame
    inertia: pin.Inertia  # in the link frame
    static: bool


@dataclass(frozen=True)
class Axis:
    """One axis of a joint; limits are in SI units, and missing limits are infinite."""

    direction: np.ndarray  # unit vector in the frame of the joint, shape (3,)
    lower: float = -math.inf
    upper: float = math.inf
    effort: float = math.inf
    velocity: float = math.inf
    damping: float = 0.0  # [N m s/rad] or [N s/m]
    friction: float = 0.0  # [N m] or [N]
    stiffness: float = 0.0  # stiffness of the spring, [N m/rad] or [N/m]
    rest: float = 0.0  # rest position of the spring, [rad] or [m]
    mimic: tuple[str, int, float, float] | None = None  # leading joint, index of its axis, multiplier, offset


@dataclass(frozen=True)
class Joint:
    name: str  # unique in the robot
    kind: str  # type in the file
    parent: str  # name of a link, or ``world``
    child: str  # name of a link, or ``world``
    place: pin.SE3  # joint frame in the model frame
    axes: tuple[Axis, ...] = ()
    lead: float = 0.0  # lead of a screw, [m/rad], or ratio of a gearbox
    reference: str = ""  # link from which the two angles of a gearbox are measured

    @property
    def names(self) -> tuple[str, str]:
        return self.name, f"{self.name}_axis2"

    @property
    def owner(self) -> str:
        return f"joint {self.name!r}"


@dataclass
class Parts:
    """Links, joints and further frames of a document, by name; a frame is a tuple (name of the link, placement)."""

    in_world: pin.SE3  # model frame in the world
    links: dict[str, Link] = field(default_factory=dict)
    joints: dict[str, Joint] = field(default_factory=dict)
    frames: dict[str, tuple[str, pin.SE3]] = field(default_factory=dict)
    first: str = ""  # name of the canonical link

    def place(self, link: str) -> pin.SE3:
        return self.in_world.inverse() if link == WORLD else self.links[link].place


def read_parts(scope: Scope, document: Document, notes: Notes) -> Parts:
    parts = Parts(scope.in_world())
    noted: NamesByNote = {message: [] for message in (BARE, UNREAL, NEEDLESS, STRETCHED_JOINTS)}
    for model_scope in scope.every():
        for name, element in model_scope.members.items():
            owner = f"{element.tag} {model_scope.full(name)!r}"
            if element.tag == "link":
                parts.links[model_scope.full(name)] = _link(model_scope, name, element, owner, noted)
            elif element.tag == "joint":
                parts.joints[model_scope.full(name)] = _joint(model_scope, name, element, owner, noted)
            elif element.tag == "frame":
                parts.frames[model_scope.full(name)] = model_scope.link(name, owner), model_scope.place(name, owner)
    if not parts.links:
        raise LoadError(f"{document.source} has no <link>. A robot needs at least one.")
    parts.first = scope.link(MODEL, scope.owner)
    for message, names in noted.items():
        notes.about(names, message)
    return parts


def _link(scope: Scope, name: str, element: ET.Element, owner: str, noted: NamesByNote) -> Link:
    if not flag(element, "gravity", True, owner):
        raise LoadError(f"{owner}: <gravity>false</gravity> (a link without gravity) is not supported. Remove it.")
    if flag(element, "kinematic", False, owner):
        raise LoadError(f"{owner}: kinematic links, whose motion is prescribed, are not supported. Remove <kinematic>.")
    decay = element.find("velocity_decay")
    if any(values(decay, owner, linear=0.0, angular=0.0)):
        raise LoadError(f"{owner}: <velocity_decay> (drag) is not supported. Remove it.")
    inertial = only_child(element, "inertial", owner)
    full = scope.full(name)
    if inertial is None:
        noted[BARE].append(full)
        inertia = pin.Inertia(1.0, np.zeros(3), np.eye(3))
    else:
        inertia = _inertia(inertial, full, owner, noted)
    return Link(full, scope.place(name, owner), inertia, scope.static)


def _inertia(inertial: ET.Element, name: str, owner: str, noted: NamesByNote) -> pin.Inertia:
    if inertial.get("auto") in ("true", "1"):
        raise LoadError(f"{owner}: inertias from shapes (auto) are not supported. Write mass and inertia.")
    mass = value(inertial, "mass", 1.0, owner)
    if mass < 0.0:
        raise InertiaError(f"{owner}: the mass is {mass:g} kg; it must not be negative.")
    element = only_child(inertial, "inertia", owner)
    moments = symmetric(values(element, owner, ixx=1.0, ixy=0.0, ixz=0.0, iyy=1.0, iyz=0.0, izz=1.0))
    if is_unreal(moments, owner, "Correct the inertia; often the signs of ixy, ixz, iyz are wrong."):
        noted[UNREAL].append(name)
    pose = only_child(inertial, "pose", owner)
    if pose is not None and pose.get("relative_to"):
        raise LoadError(f"{owner}: the pose of <inertial> is always relative to the link. Remove relative_to.")
    pose_in_link = placement(pose, owner)
    return pose_in_link.act(pin.Inertia(mass, np.zeros(3), moments))


def _joint(scope: Scope, name: str, element: ET.Element, owner: str, noted: NamesByNote) -> Joint:
    kind = element.get("type") or ""
    if kind not in AXES and kind not in WITHOUT_AXIS:
        types = ", ".join((*AXES, *WITHOUT_AXIS))
        raise LoadError(f"{owner}: unknown type {kind!r}. Known types: {types}.")
    parent, child = (scope.link(text_of(element, tag, owner), owner) for tag in ("parent", "child"))
    if child == WORLD:
        raise LoadError(f"{owner}: its child is the world, which cannot move. Exchange parent and child.")
    if parent == child:
        raise LoadError(f"{owner}: parent and child belong to the same link {child!r}. Specify another link.")
    frame = scope.place(name, owner)
    tags = ("axis", "axis2")[: AXES.get(kind, 0)]
    if kind in WITHOUT_AXIS and any(
        (text or "").strip().strip("+-0.")
        for part in element.iterfind("axis/*")
        for text in (e.text for e in part.iter())
        if part.tag in ("limit", "dynamics")
    ):
        noted[NEEDLESS].append(scope.full(name))
    axes = tuple(_axis(scope, element, tag, frame, kind, owner, name, noted) for tag in tags)
    lead, reference = 0.0, ""
    if kind == "screw":
        lead = _lead(element, owner)
    elif kind == "gearbox":
        lead = value(element, "gearbox_ratio", 1.0, owner)
        if lead == 0.0:
            raise LoadError(f"{owner}: gearbox_ratio must not be 0. Specify the ratio of the gear.")
        reference = scope.link(text_of(element, "gearbox_reference_body", owner), owner)
    return Joint(scope.full(name), kind, parent, child, frame, axes, lead, reference)


def _lead(element: ET.Element, owner: str) -> float:
    """Read the lead of a screw, [m/rad]; as in sdformat, ``thread_pitch`` is its negative inverse."""
    if element.find("screw_thread_pitch") is not None or element.find("thread_pitch") is None:
        pitch = value(element, "screw_thread_pitch", 1.0, owner) / (2.0 * math.pi)
    else:
        thread = value(element, "thread_pitch", 1.0, owner)
        pitch = -1.0 / thread if thread else 0.0
    if abs(pitch) < 1e-9:
        raise LoadError(f"{owner}: a screw with the pitch {pitch:g} is a revolute joint. Correct pitch or type.")
    if abs(pitch) > 1e9:
        raise LoadError(f"{owner}: a screw with the pitch {pitch:g} is a prismatic joint. Correct pitch or type.")
    return pitch


def _axis(
    scope: Scope, joint: ET.Element, tag: str, place: pin.SE3, kind: str, owner: str, name: str, noted: NamesByNote
) -> Axis:
    element = only_child(joint, tag, owner)
    if element is None:
        raise LoadError(f"{owner}: a {kind} joint needs <{tag}>. Add it.")
    stated = only_child(element, "xyz", owner)
    components = np.array([0.0, 0.0, 1.0]) if stated is None else np.array(numbers(stated.text, f"<{tag}>", owner, 3))
    direction = unit(components)
    if direction is None:
        raise LoadError(f"{owner}: <{tag}> is zero. Specify a direction, such as 0 0 1.")
    if abs(np.linalg.norm(components) - 1.0) > AXIS_TOLERANCE and scope.full(name) not in noted[STRETCHED_JOINTS]:
        noted[STRETCHED_JOINTS].append(scope.full(name))
    if stated is not None and stated.get("expressed_in"):
        frame = scope.place(stated.get("expressed_in") or "", owner).rotation
        direction = place.rotation.T @ frame @ direction
    elif scope.version < (1, 5) or (scope.version < (1, 7) and flag(element, "use_parent_model_frame", False, owner)):
        direction = place.rotation.T @ scope.place(MODEL, owner).rotation @ direction
    bounds = only_child(element, "limit", owner)
    none = math.inf
    lower, upper, effort, velocity = values(bounds, owner, limit, lower=-none, upper=none, effort=none, velocity=none)
    if lower > upper:
        raise LoadError(f"{owner}: the lower limit {lower:g} is above the upper limit {upper:g}. Exchange them.")
    passive = only_child(element, "dynamics", owner)
    damping, friction, stiffness, rest = values(
        passive, owner, damping=0.0, friction=0.0, spring_stiffness=0.0, spring_reference=0.0
    )
    # A negative number means no limit in SDF.
    effort, velocity = (math.inf if x < 0.0 else x for x in (effort, velocity))
    mimic = _mimic(scope, element, owner)
    return Axis(direction, lower, upper, effort, velocity, damping, friction, stiffness, rest, mimic)


def _mimic(scope: Scope, axis: ET.Element, owner: str) -> tuple[str, int, float, float] | None:
    element = only_child(axis, "mimic", owner)
    if element is None:
        return None
    leader = element.get("joint")
    if not leader:
        raise LoadError(f'{owner}: <mimic> has no attribute joint. Write <mimic joint="...">.')
    home, last = scope.find(leader, f"{owner}, <mimic>")
    if last not in home.members or home.members[last].tag != "joint":
        raise LoadError(f"{owner}: <mimic> refers to {leader!r}, which is not a joint. Specify a joint.")
    which = element.get("axis", "axis")
    if which not in ("axis", "axis2"):
        raise LoadError(f"{owner}: <mimic> has the axis {which!r}, expected axis or axis2.")
    multiplier, offset, reference = values(element, owner, multiplier=1.0, offset=0.0, reference=0.0)
    if multiplier == 0.0:
        raise LoadError(f"{owner}: the multiplier of <mimic> is 0, so the joint cannot move. Use type fixed.")
    return home.full(last), int(which == "axis2"), multiplier, offset - multiplier * reference
