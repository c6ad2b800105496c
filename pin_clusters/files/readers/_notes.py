"""Collect file contents that have no effect, and report them in a few warnings."""

import difflib
import re
import warnings
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ...errors import LoadError, PinClustersWarning, shortened
from ._xml import OWN

# Child elements, by parent element, that are read or cannot affect the dynamics; all others cause warnings or errors.
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
# Local names of unsupported elements that change motion or forces; their namespaces can differ between files.
ROTOR = {"rotor_inertia", "gear_ratio", "armature", "reflected_inertia"}
PHYSICAL = ROTOR | {
    "constraint", "closed_loop", "loop_joint", "equality", "tendon", "spring", "stiffness", "joint_spring",
    "linear_bushing_rpy", "linear_spring_damper", "screw_thread_pitch", "ball_constraint", "distance_constraint",
    "coupler_constraint", "tendon_constraint", "weld_constraint", "fixed_constraint",
}  # fmt: skip
# Elements that affect the dynamics; below a wrong parent element, they raise an error instead of being ignored.
MEANINGFUL = {"link", "joint", "coupling", "loop", "inertial", "mass", "inertia", "mimic"}
# Elements that may be ignored in another namespace, because they do not affect the dynamics.
HARMLESS = {"material", "visual", "collision", "limit", "calibration", "safety_controller"}
# Elements that ``_transmissions`` reads; that module also reports which of their contents are ignored.
READ_ELSEWHERE = {"transmission", "ros2_control"}
# Elements for other programs. All other ignored elements are reported as unknown.
FOR_OTHERS = {"gazebo", "transmission", "ros2_control", "sensor"}
# Attributes by element, as in the specifications of URDF and URDF+; acceleration and jerk are limits for planners.
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
# An unknown attribute of these elements is an error unless it is a name or a comment.
STRICT = set(ATTRIBUTES) - {"joint", "coupling", "dynamics", "limit"}
REMARKS = {"name", "id", "comment"}
# Unknown attributes of these elements are allowed if they contain only zeros: some exporters write rpy="0 0 0".
ADDITIVE = {"origin", "axis", "mass", "inertia"}
PHYSICAL_ATTRIBUTES = PHYSICAL | {"inertia", "spring_stiffness", "spring_reference", "springref"}
ROTOR_CURE = "Pass the rotor as pc.Rotor(joint, ratio, axial_inertia=...) in constraints=, and remove it from the file."
_ZEROS = re.compile(r"[-+0. ]*0[-+0. ]*")
_XML = "{http://www.w3.org/XML/1998/namespace}"


@dataclass
class Notes:
    # Counts of ignored elements and attributes, by description.
    for_others: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    messages: list[str] = field(default_factory=list)  # further warnings

    def element(self, child: ET.Element, parent: str, owner: str) -> None:
        """Record an ignored child element; raise ``LoadError`` if it changes the dynamics or may be misspelt."""
        if child.tag in SILENT[parent]:
            return
        tag, local = plain_name(child.tag), local_name(child.tag)
        if "xacro" in tag:
            raise LoadError(f"{owner}: <{tag}> is xacro source. Expand it first: xacro robot.xacro > robot.urdf.")
        # URDF elements in another namespace are not read, so ignoring them can change the dynamics.
        elsewhere = tag != local and local in MEANINGFUL | SILENT[parent] - HARMLESS
        if local in PHYSICAL or parent == "inertial" or elsewhere:
            raise _lost(tag, owner)
        if local in MEANINGFUL or (parent == "loop" and local in ("origin", "ratio", "offset")):
            raise LoadError(f"{owner}: <{tag}> is not allowed in a <{parent}>. Move it.")
        similar = difflib.get_close_matches(tag, SILENT[parent], n=1, cutoff=0.75)
        if similar:
            raise LoadError(f"{owner}: unknown element <{tag}>. Did you mean <{similar[0]}>?")
        for inner in child.iter():
            # Drake's elements are recognised with a namespace only; <gazebo> may contain the same names without it.
            name = local_name(inner.tag)
            if name in ("rotor_inertia", "gear_ratio") and child.tag in READ_ELSEWHERE:
                continue
            if name == "rotor_inertia" or (name in PHYSICAL and inner.tag != name):
                raise _lost(plain_name(inner.tag), f"{tag} {child.get('name')!r}" if child.get("name") else f"<{tag}>")
        if child.tag not in READ_ELSEWHERE:
            self._ignore(f"<{tag}>", tag in FOR_OTHERS)

    def attributes(self, element: ET.Element, owner: str) -> None:
        """Record ignored attributes; raise ``LoadError`` if one changes the dynamics or may be misspelt."""
        attributes = ATTRIBUTES[element.tag]
        for attribute, text in element.attrib.items():
            name = local_name(attribute)
            if attribute in attributes or (element.tag == "limit" and name in ("acceleration", "jerk")):
                continue
            similar = difflib.get_close_matches(name.lower(), attributes, n=1, cutoff=0.75)
            # gear_velocity is a separate attribute, not a misspelt velocity.
            if similar and similar[0] not in name.split("_"):
                raise LoadError(
                    f"{owner}: unknown attribute {plain_name(attribute)!r} of <{element.tag}>. "
                    f"Did you mean {similar[0]!r}?"
                )
            harmless = name in REMARKS or attribute.startswith(_XML)
            nothing = element.tag in ADDITIVE and _ZEROS.fullmatch(text)
            if name.lower() in PHYSICAL_ATTRIBUTES or (element.tag in STRICT and not harmless and not nothing):
                cure = (
                    ROTOR_CURE
                    if name.lower() in ROTOR
                    else f"Known attributes: {', '.join(sorted(attributes))}. Remove the unknown attribute."
                )
                raise LoadError(f"{owner}: unknown attribute {plain_name(attribute)!r} of <{element.tag}>. {cure}")
            self._ignore(f"attribute {plain_name(attribute)!r} of <{element.tag}>", harmless)

    def _ignore(self, what: str, for_others: bool) -> None:
        (self.for_others if for_others else self.unknown)[what] += 1

    def scan(self, root: ET.Element) -> None:
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
        for child in element:
            self.element(child, element.tag, owner)
            if child.tag in SILENT[element.tag] and child.tag in ATTRIBUTES:
                self.attributes(child, owner)

    def about(self, names: Iterable[str], message: str) -> None:
        """Add a message in which the names replace ``{}``; if there are no names, add nothing."""
        if listed := list(names):
            self.messages.append(message.format(listing(listed)))

    def warn(self, robot: str, stacklevel: int) -> None:
        texts = []
        if self.for_others:
            texts.append(f"ignored elements for other programs: {_counted(self.for_others)}.")
        if self.unknown:
            texts.append(
                f"ignored unknown contents: {_counted(self.unknown)}. Make sure that they do not affect the dynamics."
            )
        for message in ([" ".join(texts)] if texts else []) + self.messages:
            warnings.warn(shortened(f"robot {robot!r}: {message}"), PinClustersWarning, stacklevel=stacklevel + 1)


def listing(names: list[str], limit: int = 6) -> str:
    text = ", ".join(repr(n) for n in names[:limit])
    return f"{text}, ... ({len(names)} in total)" if len(names) > limit else text


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{description} ({n})" if n > 1 else description for description, n in sorted(counts.items()))


def _lost(tag: str, owner: str) -> LoadError:
    cure = "Replace it by a URDF+ <loop> or <coupling>, by <mimic>, or by constraints= in Python."
    if local_name(tag) in ROTOR:
        cure = ROTOR_CURE
    return LoadError(f"{owner}: <{tag}> changes the dynamics and is not supported. {cure}")


def local_name(tag: str) -> str:
    return tag.rpartition("}")[2].rpartition(":")[2]


def plain_name(tag: str) -> str:
    """Replace the namespace of a name by a readable prefix: ``drake:x`` for ``{http://drake.mit.edu}x``."""
    if not tag.startswith("{"):
        return tag
    space, _, name = tag[1:].partition("}")
    host, *path = space.rpartition("//")[2].strip("/").split("/")
    return f"{path[-1] if path else host.removeprefix('www.').partition('.')[0]}:{name}"
