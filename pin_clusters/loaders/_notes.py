"""What in a file has no effect: collected while reading, said once."""

from __future__ import annotations

import difflib
import warnings
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field

from ..errors import LoadError, PinClustersWarning

# Elements by parent. "silent" is read, or is common and has nothing to do with dynamics; the rest is warned of.
SILENT = {
    "robot": {"link", "joint", "coupling", "loop", "material"},
    "link": {"inertial", "visual", "collision"},
    "joint": {"origin", "parent", "child", "axis", "limit", "mimic", "dynamics", "calibration", "safety_controller"},
    "inertial": {"origin", "mass", "inertia"},
    "coupling": {"predecessor", "successor", "ratio", "dependent", "independent", "offset"},
}
# These change the motion or the forces, and nothing here or in Pinocchio would honour them.
PHYSICAL = {
    "constraint", "closed_loop", "loop_joint", "equality", "tendon", "spring", "stiffness", "joint_spring",
    "drake:joint", "drake:linear_bushing_rpy", "drake:rotor_inertia", "drake:gear_ratio", "drake:mimic",
    "drake:screw_thread_pitch", "drake:ball_constraint", "drake:distance_constraint",
}  # fmt: skip
# What is lost where it does not belong, and matters.
MEANINGFUL = {"link", "joint", "coupling", "loop", "inertial", "mass", "inertia", "mimic"}
ATTRIBUTES = {"joint": {"name", "type", "independent"}, "coupling": {"name", "type"}}


@dataclass
class Notes:
    """Collects what is ignored or doubtful, to be said in few warnings.

    Attributes:
        ignored: How often each ignored element was met, by its description.
        messages: Further warnings.
    """

    ignored: dict[str, int] = field(default_factory=dict)
    messages: list[str] = field(default_factory=list)

    def element(self, child: ET.Element, parent: str, owner: str) -> None:
        """Take note of a child element that is not read.

        Raises:
            LoadError: It changes the physics, or looks like a misspelt element that does.
        """
        tag = _plain(child.tag)
        if tag in SILENT[parent]:
            return
        if tag in PHYSICAL or (parent == "inertial"):
            raise LoadError(
                f"{owner}: <{tag}> changes the dynamics and cannot be honoured. Express it with URDF+ "
                "<coupling> or <mimic>, or with constraints= in Python, and remove it."
            )
        if tag in MEANINGFUL:
            raise LoadError(f"{owner}: <{tag}> does not belong in a <{parent}> and would be lost. Move it.")
        near = difflib.get_close_matches(tag, SILENT[parent], n=1, cutoff=0.75)
        if near:
            raise LoadError(f"{owner}: unknown element <{tag}>. Did you mean <{near[0]}>?")
        if "xacro" in tag:
            raise LoadError(f"{owner}: <{tag}> is xacro source. Expand it first: xacro robot.xacro > robot.urdf.")
        self.ignored[f"<{tag}>"] = self.ignored.get(f"<{tag}>", 0) + 1

    def attributes(self, element: ET.Element, owner: str) -> None:
        """Take note of attributes that are not read.

        Raises:
            LoadError: One looks like a misspelt attribute that changes the physics.
        """
        known = ATTRIBUTES[element.tag]
        for attribute in element.attrib:
            if attribute in known:
                continue
            near = difflib.get_close_matches(attribute, known, n=1, cutoff=0.75)
            if near:
                raise LoadError(f"{owner}: unknown attribute {attribute!r}. Did you mean {near[0]!r}?")
            key = f"attribute {attribute!r} of <{element.tag}>"
            self.ignored[key] = self.ignored.get(key, 0) + 1

    def scan(self, root: ET.Element) -> None:
        """Take note of every element below ``<robot>`` that is not read.

        Raises:
            LoadError: One of them changes the physics.
        """
        for child in root:
            self.element(child, "robot", "robot")
            name = f"{child.tag} {child.get('name')!r}"
            if child.tag in ("link", "joint", "coupling"):
                for grandchild in child:
                    self.element(grandchild, child.tag, name)
                    if grandchild.tag == "inertial":
                        for part in grandchild:
                            self.element(part, "inertial", name)
            if child.tag in ATTRIBUTES:
                self.attributes(child, name)

    def warn(self, robot: str, stacklevel: int) -> None:
        """Give the warnings, one for everything ignored and one for each further message."""
        if self.ignored:
            listed = ", ".join(f"{what} ({n})" if n > 1 else what for what, n in sorted(self.ignored.items()))
            text = f"robot {robot!r}: ignored, as they do not change the tree or its dynamics: {listed}."
            warnings.warn(text, PinClustersWarning, stacklevel=stacklevel + 1)
        for message in self.messages:
            warnings.warn(f"robot {robot!r}: {message}", PinClustersWarning, stacklevel=stacklevel + 1)


def listing(names: list[str], limit: int = 6) -> str:
    """Return ``'a', 'b', ... (9 in all)``."""
    text = ", ".join(repr(n) for n in names[:limit])
    return f"{text}, ... ({len(names)} in all)" if len(names) > limit else text


def _plain(tag: str) -> str:
    """Return a tag with its namespace as a prefix that people know."""
    if not tag.startswith("{"):
        return tag
    space, _, name = tag[1:].partition("}")
    return f"{space.rstrip('/').rsplit('/', 1)[-1]}:{name}"
