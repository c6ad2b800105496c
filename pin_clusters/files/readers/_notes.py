"""What in a file has no effect: collected while reading, said once."""

import difflib
import re
import warnings
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ...errors import LoadError, PinClustersWarning, shortened
from ._xml import OWN

# Elements by parent. "silent" is read, or is common and has nothing to do with dynamics; the rest is warned of.
SILENT = {
    "robot": {"link", "joint", "coupling", "loop", "material", "reference_pose", "shape", *OWN},
    "link": {"inertial", "visual", "collision"},
    "joint": {"origin", "parent", "child", "axis", "limit", "mimic", "dynamics", "calibration", "safety_controller"},
    "inertial": {"origin", "mass", "inertia"},
    "coupling": {"predecessor", "successor", "ratio", "dependent", "independent", "offset"},
    "loop": {"predecessor", "successor", "axis"},
    "predecessor": {"origin"},
    "successor": {"origin"},
}
# These change the motion or the forces, and nothing here or in Pinocchio would honour them. Local names: Drake's
# <drake:ball_constraint> and others' <x:ball_constraint> are the same whatever the address of the namespace.
ROTOR = {"rotor_inertia", "gear_ratio", "armature", "reflected_inertia"}
PHYSICAL = ROTOR | {
    "constraint", "closed_loop", "loop_joint", "equality", "tendon", "spring", "stiffness", "joint_spring",
    "linear_bushing_rpy", "linear_spring_damper", "screw_thread_pitch", "ball_constraint", "distance_constraint",
    "coupler_constraint", "tendon_constraint", "weld_constraint", "fixed_constraint",
}  # fmt: skip
# What is lost where it does not belong, and matters.
MEANINGFUL = {"link", "joint", "coupling", "loop", "inertial", "mass", "inertia", "mimic"}
# Not read in another namespace, but nothing of the dynamics is lost with them.
HARMLESS = {"material", "visual", "collision", "limit", "calibration", "safety_controller"}
# By ``_transmissions``, which says what of it has no effect.
READ_ELSEWHERE = {"transmission", "ros2_control"}
# What other programs read. All else that is ignored is unknown, and nothing can be said about it.
FOR_OTHERS = {"gazebo", "transmission", "ros2_control", "sensor"}
# Attributes by element, as in the specifications of URDF and URDF+; acceleration and jerk are limits of planners.
ATTRIBUTES = {
    "joint": {"name", "type", "independent"},
    "coupling": {"name", "type"},
    "loop": {"name", "type"},
    "dynamics": {"damping", "friction", "armature"},
    "limit": {"lower", "upper", "effort", "velocity", "acceleration", "jerk"},
    "mimic": {"joint", "multiplier", "offset"},
    "predecessor": {"link"},
    "successor": {"link"},
    "ratio": {"value"},
    "offset": {"value"},
    "dependent": {"joint"},
    "independent": {"joint", "ratio"},
    "origin": {"xyz", "rpy"},
    "axis": {"xyz"},
    "mass": {"value"},
    "inertia": {"ixx", "ixy", "ixz", "iyy", "iyz", "izz"},
}
# In these elements every attribute is a quantity of the dynamics, save names and remarks...
STRICT = set(ATTRIBUTES) - {"joint", "coupling", "dynamics", "limit"}
REMARKS = {"name", "id", "comment"}
# ... and save zeros here, which add nothing (some exporters write rpy="0 0 0" on every axis).
ADDITIVE = {"origin", "axis", "mass", "inertia"}
PHYSICAL_ATTRIBUTES = PHYSICAL | {"inertia", "spring_stiffness", "spring_reference", "springref"}
ROTOR_CURE = "Pass the rotor as pc.Rotor(joint, ratio, axial_inertia=...) in constraints= and remove it."
_ZEROS = re.compile(r"[-+0. ]*0[-+0. ]*")
_XML = "{http://www.w3.org/XML/1998/namespace}"


@dataclass
class Notes:
    """Collects what is ignored or doubtful, to be said in few warnings."""

    # how often each element that other programs read was met, by its description
    for_others: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)  # the same of elements and attributes that are not known
    messages: list[str] = field(default_factory=list)  # further warnings

    def element(self, child: ET.Element, parent: str, owner: str) -> None:
        """Take note of a child element that is not read; refuse what changes the physics, or may be misspelt."""
        if child.tag in SILENT[parent]:
            return
        tag, local = plain_name(child.tag), local_name(child.tag)
        if "xacro" in tag:
            raise LoadError(f"{owner}: <{tag}> is xacro source. Expand it first: xacro robot.xacro > robot.urdf.")
        # the same element of another namespace is not read either
        elsewhere = tag != local and local in MEANINGFUL | SILENT[parent] - HARMLESS
        if local in PHYSICAL or parent == "inertial" or elsewhere:
            raise _lost(tag, owner)
        if local in MEANINGFUL or (parent == "loop" and local in ("origin", "ratio", "offset")):
            raise LoadError(f"{owner}: <{tag}> does not belong in a <{parent}> and would be lost. Move it.")
        near = difflib.get_close_matches(tag, SILENT[parent], n=1, cutoff=0.75)
        if near:
            raise LoadError(f"{owner}: unknown element <{tag}>. Did you mean <{near[0]}>?")
        for inner in child.iter():
            # plain names inside <gazebo> and the like are those of another format; Drake's are what they are anywhere
            name = local_name(inner.tag)
            if name in ("rotor_inertia", "gear_ratio") and child.tag in READ_ELSEWHERE:
                continue
            if name == "rotor_inertia" or (name in PHYSICAL and inner.tag != name):
                raise _lost(plain_name(inner.tag), f"{tag} {child.get('name')!r}" if child.get("name") else f"<{tag}>")
        if child.tag not in READ_ELSEWHERE:
            self._ignore(f"<{tag}>", tag in FOR_OTHERS)

    def attributes(self, element: ET.Element, owner: str) -> None:
        """Take note of attributes that are not read; refuse what changes the physics, or may be misspelt."""
        known = ATTRIBUTES[element.tag]
        for attribute, text in element.attrib.items():
            name = local_name(attribute)
            if attribute in known or (element.tag == "limit" and name in ("acceleration", "jerk")):
                continue
            near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.75)
            # gear_velocity is a velocity of its own kind, not a misspelt one
            if near and near[0] not in name.split("_"):
                raise LoadError(
                    f"{owner}: unknown attribute {plain_name(attribute)!r} of <{element.tag}>. "
                    f"Did you mean {near[0]!r}?"
                )
            harmless = name in REMARKS or attribute.startswith(_XML)
            nothing = element.tag in ADDITIVE and _ZEROS.fullmatch(text)
            if name.lower() in PHYSICAL_ATTRIBUTES or (element.tag in STRICT and not harmless and not nothing):
                cure = (
                    ROTOR_CURE if name.lower() in ROTOR else f"Known attributes: {', '.join(sorted(known))}. Remove it."
                )
                raise LoadError(
                    f"{owner}: unknown attribute {plain_name(attribute)!r} of <{element.tag}>, which would be lost "
                    f"although it may change the dynamics. {cure}"
                )
            self._ignore(f"attribute {plain_name(attribute)!r} of <{element.tag}>", harmless)

    def _ignore(self, what: str, for_others: bool) -> None:
        (self.for_others if for_others else self.unknown)[what] += 1

    def scan(self, root: ET.Element) -> None:
        """Take note of every element below ``<robot>`` that is not read."""
        for child in root:
            self.element(child, "robot", "robot")
            if child.tag not in ("link", "joint", "coupling", "loop"):
                continue
            name = f"{child.tag} {child.get('name')!r}"
            if child.tag in ATTRIBUTES:
                self.attributes(child, name)
            self._parts(child, name)
            for inertial in child.findall("inertial") if child.tag == "link" else ():
                self._parts(inertial, name)
            for side in ("predecessor", "successor") if child.tag == "loop" else ():
                for half in child.findall(side):
                    self._parts(half, f"{name}, {side}")

    def _parts(self, element: ET.Element, owner: str) -> None:
        """Take note of the children of an element, and of their attributes."""
        for child in element:
            self.element(child, element.tag, owner)
            if child.tag in SILENT[element.tag] and child.tag in ATTRIBUTES:
                self.attributes(child, owner)

    def about(self, names: Iterable[str], message: str) -> None:
        """Say something of some, whose names stand in the place of ``{}``; of none it is not said."""
        if found := list(names):
            self.messages.append(message.format(listing(found)))

    def warn(self, robot: str, stacklevel: int) -> None:
        """Give the warnings, one for everything ignored and one for each further message."""
        texts = []
        if self.for_others:
            texts.append(f"ignored, as they are for other programs: {_counted(self.for_others)}.")
        if self.unknown:
            texts.append(
                f"ignored, as they are unknown here: {_counted(self.unknown)}. Make sure that the dynamics do not "
                "depend on them."
            )
        for message in ([" ".join(texts)] if texts else []) + self.messages:
            warnings.warn(shortened(f"robot {robot!r}: {message}"), PinClustersWarning, stacklevel=stacklevel + 1)


def listing(names: list[str], limit: int = 6) -> str:
    """Return ``'a', 'b', ... (9 in all)``."""
    text = ", ".join(repr(n) for n in names[:limit])
    return f"{text}, ... ({len(names)} in all)" if len(names) > limit else text


def _counted(counts: Counter[str]) -> str:
    """Return ``<a> (2), <b>``."""
    return ", ".join(f"{what} ({n})" if n > 1 else what for what, n in sorted(counts.items()))


def _lost(tag: str, owner: str) -> LoadError:
    """Return the error on an element that changes the dynamics."""
    cure = "Express it with URDF+ <loop> or <coupling>, <mimic>, or constraints= in Python, and remove it."
    if local_name(tag) in ROTOR:
        cure = ROTOR_CURE
    return LoadError(f"{owner}: <{tag}> changes the dynamics and cannot be honoured. {cure}")


def local_name(tag: str) -> str:
    """Return a name without its namespace."""
    return tag.rpartition("}")[2].rpartition(":")[2]


def plain_name(tag: str) -> str:
    """Return a name with its namespace as a prefix that people know: ``drake:x`` of ``{http://drake.mit.edu}x``."""
    if not tag.startswith("{"):
        return tag
    space, _, name = tag[1:].partition("}")
    host, *path = space.rpartition("//")[2].strip("/").split("/")
    return f"{path[-1] if path else host.removeprefix('www.').partition('.')[0]}:{name}"
