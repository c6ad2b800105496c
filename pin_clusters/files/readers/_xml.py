"""Safe reading of XML: no DTD, no entities, limited depth and size; checks of names and topology of a URDF."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from xml.parsers import expat

from ...errors import LoadError, PinClustersError, did_you_mean
from ._arguments import MAX_BYTES, too_long

MAX_DEPTH = 100  # largest nesting depth of elements; a URDF needs six
MAX_LINKS_IN_A_ROW = 1000  # Pinocchio's parser is recursive: a chain of 5,000 links crashes the process.
JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
OWN = ("rod", "rotor", "mechanism", "spring", "held_weight")  # tags of our extensions whose elements have a name
# Tags that are removed before Pinocchio reads the document, by the path of their parents.
NOT_FOR_PINOCCHIO = {
    ".": (
        *OWN,
        "shape",
        "coupling",
        "loop",
        "reference_pose",
        "material",
        "gazebo",
        "transmission",
        "ros2_control",
    ),
    "link": ("visual", "collision"),
    "joint": ("mimic",),
}
_SPACE = re.compile(r"xmlns(:[^:]+)?")


@dataclass(frozen=True)
class Description:
    """A URDF whose names, references and topology have been checked."""

    root: ET.Element  # the ``<robot>`` element; the loader may edit it before Pinocchio reads it
    name: str  # name of the robot
    links: dict[str, ET.Element]  # elements by name, in the order of the file
    joints: dict[str, ET.Element]  # elements by name, in the order of the file
    parent_joint: dict[str, str]  # parent joint of each link; the root link is absent
    parent_link: dict[str, str]  # parent link of each joint
    root_link: str  # name of the link without a parent

    def moving_joint(self, link: str) -> str | None:
        """Return the nearest movable joint above a link, or None if only fixed joints connect the link to the root."""
        while link in self.parent_joint:
            name = self.parent_joint[link]
            if self.joints[name].get("type") != "fixed":
                return name
            link = self.parent_link[name]
        return None


def parse_xml(
    text: str | bytes, source: str, most: int = MAX_DEPTH, start: str = "<robot name=...>", *, any_prefix: bool = False
) -> ET.Element:
    """Parse a document without a DTD; return its root element.

    DTDs are rejected before they are expanded, because they allow "billion laughs" attacks and access to local files.

    Args:
        most: Largest nesting depth of elements.
        source, start: Label of the document, and its expected beginning, for error messages.
        any_prefix: True if prefixes need no ``xmlns`` declaration. The tags keep undeclared prefixes.
    """
    if not text.strip():
        raise LoadError(f"{source} is empty. Expected XML that starts with {start}.")
    if len(text) > MAX_BYTES:
        raise too_long(source, len(text))

    def refuse(name: str, *_: object) -> None:
        raise LoadError(
            f"{source} has a document type declaration (<!DOCTYPE {name}>). DTDs and entities are not supported, "
            "because they are unsafe. Write the values of entities in full and remove the declaration."
        )

    builder, spaces = ET.TreeBuilder(), [{"xml": "http://www.w3.org/XML/1998/namespace"}]
    parser = expat.ParserCreate()

    def known(name: str) -> str:
        prefix, colon, local = name.rpartition(":")
        space = spaces[-1].get(prefix) if prefix and local else None
        if space is None and colon and not any_prefix:
            raise LoadError(
                f"{source} is not well-formed XML: the prefix of <{name}> is not declared (line "
                f'{parser.CurrentLineNumber}). Declare it in the root element with xmlns:{prefix}="...", or remove it.'
            )
        return f"{{{space}}}{local}" if space else name

    def enter(tag: str, attributes: dict[str, str]) -> None:
        declared = {n[6:]: x for n, x in attributes.items() if _SPACE.fullmatch(n)}
        spaces.append(spaces[-1] | declared if declared else spaces[-1])
        if len(spaces) - 1 > most:
            raise LoadError(f"{source}: elements are nested more than {most} deep. The maximum is {most}.")
        default = spaces[-1].get("") if ":" not in tag else None
        qualified = {known(n): x for n, x in attributes.items() if not _SPACE.fullmatch(n)}
        builder.start(f"{{{default}}}{tag}" if default else known(tag), qualified)

    def leave(tag: str) -> None:
        spaces.pop()
        builder.end(tag)

    parser.StartElementHandler, parser.EndElementHandler = enter, leave
    parser.CharacterDataHandler, parser.buffer_text = builder.data, True
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(text, True)
        return _without_default_namespace(builder.close())
    except expat.ExpatError as error:
        raise LoadError(f"{source} is not well-formed XML: {error}. Check it with an XML editor or xmllint.") from None
    except (ValueError, LookupError) as error:  # Python does not support the encoding.
        if isinstance(error, LoadError):
            raise
        raise LoadError(f"{source} cannot be decoded: {error}. Save it as UTF-8.") from None


def _without_default_namespace(root: ET.Element) -> ET.Element:
    """Remove the namespace of the root element from all tags, like Pinocchio's parser, which ignores namespaces."""
    if root.tag.startswith("{"):
        prefix = root.tag[: root.tag.index("}") + 1]
        for element in root.iter():
            element.tag = element.tag.removeprefix(prefix)
    return root


@contextmanager
def in_words_of(owner: str) -> Iterator[None]:
    """Convert constraint errors to ``LoadError``; the message begins with the element that caused the error."""
    try:
        yield
    except PinClustersError as error:
        raise LoadError(f"{owner}: {error}") from None


def only_child(element: ET.Element, tag: str, owner: str) -> ET.Element | None:
    children = element.findall(tag)
    if len(children) > 1:
        raise LoadError(f"{owner} has {len(children)} <{tag}> elements. Keep one.")
    return children[0] if children else None


def reference(element: ET.Element, tag: str, attribute: str, owner: str) -> str:
    child = only_child(element, tag, owner)
    name = None if child is None else child.get(attribute)
    if not name:
        raise LoadError(f'{owner}: <{tag} {attribute}="..."/> is missing. Add it.')
    return name


def known_link(element: ET.Element, tag: str, links: Iterable[str], owner: str) -> str:
    return known(reference(element, tag, "link", owner), f"its {tag} link", links, owner)


def known(name: str | None, kind: str, names: Iterable[str], owner: str) -> str:
    if (name or "") not in names:
        raise LoadError(f"{owner}: {kind} {name or ''!r} does not exist.{did_you_mean(name or '', names)}")
    return name or ""


def named(elements: Iterable[ET.Element], kind: str) -> dict[str, ET.Element]:
    by_name: dict[str, ET.Element] = {}
    for element in elements:
        name = element.get("name")
        if not name:
            raise LoadError(f"A <{element.tag}> has no name. Every {kind} needs a name: <{element.tag} name=...>.")
        if name in by_name:
            raise LoadError(f"Two {kind}s have the same name {name!r}. Rename one of them.")
        by_name[name] = element
    return by_name


def describe(root: ET.Element, source: str) -> Description:
    if root.tag != "robot":
        raise LoadError(f"{source} is not a URDF: its root element is <{root.tag}>, expected <robot>.")
    links = named(root.findall("link"), "link")
    joints = named(root.findall("joint"), "joint")
    if not links:
        raise LoadError(f"{source} has no <link>. A robot needs at least one.")
    parent_joint, parent_link = dict[str, str](), dict[str, str]()
    for name, joint in joints.items():
        owner = f"joint {name!r}"
        kind = joint.get("type")
        if name == "universe":
            raise LoadError("A joint has the name 'universe', which Pinocchio reserves for the world. Rename it.")
        if kind not in JOINT_TYPES:
            raise LoadError(
                f"{owner}: type {kind!r} is not a joint type of URDF.{did_you_mean(kind or '', JOINT_TYPES)} "
                "Joints of other types can be added to a pinocchio.Model in Python."
            )
        parent_link[name], child = (known_link(joint, tag, links, owner) for tag in ("parent", "child"))
        if child in parent_joint:
            raise LoadError(
                f"link {child!r} is the child of two joints, {parent_joint[child]!r} and {name!r}. "
                "A URDF is a tree: close the loop with a <loop> instead (type fixed, or the type of the second joint)."
            )
        parent_joint[child] = name
    roots = [name for name in links if name not in parent_joint]
    if len(roots) > 1:
        raise LoadError(
            f"{source} has {len(roots)} root links: {', '.join(map(repr, roots[:8]))}. "
            "Only one link may have no parent; connect the other links to it by joints."
        )
    if not roots:
        raise LoadError(f"{source} has no root link: its joints form a cycle. Remove one joint of the cycle.")
    description = Description(root, root.get("name") or "robot", links, joints, parent_joint, parent_link, roots[0])
    _check_reached(description)
    return description


def _check_reached(description: Description) -> None:
    depth = {description.root_link: 0}
    for link in description.links:
        path: dict[str, None] = {}  # A dictionary keeps the order and finds links fast.
        while link not in depth:
            if link in path:
                circle = list(path)
                names = " -> ".join([*circle[circle.index(link) :], link])
                raise LoadError(f"The parent joints of the links {names} form a cycle. Remove one of these joints.")
            path[link] = None
            link = description.parent_link[description.parent_joint[link]]
        for above, name in enumerate(reversed(path), depth[link] + 1):
            if above > MAX_LINKS_IN_A_ROW:
                raise LoadError(
                    f"the chain of links to {name!r} has more than {MAX_LINKS_IN_A_ROW} links and could crash "
                    f"Pinocchio's parser. The maximum is {MAX_LINKS_IN_A_ROW} links."
                )
            depth[name] = above


def to_text(root: ET.Element) -> str:
    """Return the document as text for Pinocchio, without elements that Pinocchio does not need.

    Visuals and collisions are removed, because a missing mesh or material would raise an error. Constraints are
    removed, because this package reads them.
    """
    copy = ET.fromstring(ET.tostring(root, encoding="unicode"))
    for parents, tags in NOT_FOR_PINOCCHIO.items():
        for parent in copy.findall(parents):
            for element in [e for e in parent if e.tag in tags]:
                parent.remove(element)
    for dynamics in copy.findall("joint/dynamics"):
        if not {"damping", "friction"} & set(dynamics.attrib):
            dynamics.set("damping", "0")  # Pinocchio's parser rejects <dynamics> without a known attribute.
    return ET.tostring(copy, encoding="unicode")
