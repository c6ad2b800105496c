"""An MJCF document as one tree of elements, with includes and default classes resolved."""

import xml.etree.ElementTree as ET
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ....errors import LoadError
from .._arguments import is_xml, read, text_or_file
from .._notes import Notes
from .._xml import parse_xml
from ._elements import Element, Elements, Units, check_attributes, check_tag
from ._schema import INSIDE, SECTIONS

MAX_DEPTH = 1000
"""Largest nesting depth of elements, which also limits the length of a chain of bodies."""


@dataclass
class Document:
    """A document in which the contents of all included files replace the ``<include>`` elements."""

    root: ET.Element  # the ``<mujoco>`` element
    source: str  # label of the document for messages
    folder: Path | None  # folder of meshes and includes; None for text
    notes: Notes = field(default_factory=Notes)
    elements: Elements = field(default_factory=Elements)
    compiler: Element = field(init=False)  # all ``<compiler>`` elements, merged into one
    sections: dict[str, list[ET.Element]] = field(default_factory=lambda: defaultdict(list))  # elements by section

    def __post_init__(self) -> None:
        self.name = self.root.get("model") or "robot"
        for section in self.root:
            self.sections[section.tag] += section  # A file may repeat a section.
        flags = [f for o in self.root.findall("option") for f in o.findall("flag")]
        self.disabled = {effect for f in flags for effect, state in f.attrib.items() if state == "disable"}


def read_document(given: Any, root_folder: Path | None) -> Document:
    """Read a file or text. Included files must be in ``root_folder``, by default the folder of the file."""
    text, source, folder = text_or_file(given, "an MJCF")
    folder = folder or root_folder
    root = parse_xml(text, source, MAX_DEPTH, "<mujoco>")
    if root.tag != "mujoco":
        cure = " Use pc.buildModelFromUrdf." if root.tag == "robot" else ""
        raise LoadError(f"{source} is not MJCF: its root element is <{root.tag}>, expected <mujoco>.{cure}")
    _include(root, source, folder, root_folder or folder)
    document = Document(root, source, folder)
    for element in root:
        check_tag(element, SECTIONS, f"{source}, <mujoco>")
        for child in element if element.tag in INSIDE else ():
            check_tag(child, INSIDE[element.tag], element.tag)
    _compile(document)
    document.elements.read_defaults(root)
    return document


def _include(root: ET.Element, source: str, folder: Path | None, allowed: Path | None) -> None:
    """Insert the file of each ``<include>``; raise an error for repeated files, and for files outside ``allowed``."""
    included: set[Path] = set()
    stack = [(root, 0)]
    while stack:
        parent, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise LoadError(f"{source}: elements are nested more than {MAX_DEPTH} deep. The maximum is {MAX_DEPTH}.")
        waiting, children = list(parent)[::-1], []
        while waiting:
            child = waiting.pop()
            if child.tag == "include":
                waiting.extend(list(_included(child, source, folder, allowed, included))[::-1])
            else:
                children.append(child)
        parent[:] = children
        stack.extend((child, depth + 1) for child in children)


def _included(
    include: ET.Element, source: str, folder: Path | None, allowed: Path | None, seen: set[Path]
) -> ET.Element:
    name = include.get("file")
    if not name:
        raise LoadError(f'{source}: an <include> has no attribute file. Write <include file="..."/>.')
    if folder is None or allowed is None:
        raise LoadError(f"{source} includes {name!r}, whose folder is unknown. Pass a path instead, or root_folder=.")
    path = (folder / name).resolve()
    if not path.is_relative_to(allowed.resolve()):
        raise LoadError(
            f"{source} includes {name!r}, which is outside {str(allowed)!r}. Only files in that folder are read, for "
            "security reasons. Set root_folder= to a folder that contains all files."
        )
    if path in seen:
        raise LoadError(f"{source} includes {name!r} twice or in a cycle. MuJoCo allows each file only once.")
    seen.add(path)
    return parse_xml(read(path, "an MJCF", repr(name)), repr(name), MAX_DEPTH, "<mujoco>")


def _compile(document: Document) -> None:
    attributes: dict[str, str] = {}
    for element in document.root.findall("compiler"):
        check_attributes(element, "compiler", "compiler")
        attributes.update(element.attrib)
    settings = document.compiler = Element("compiler", attributes, "compiler", document.elements.units)
    if settings.coordinate != "local":
        raise LoadError("compiler: coordinate must be local. Convert the file with a MuJoCo version before 2.3.4.")
    if settings.angle not in ("degree", "radian"):
        raise LoadError(f"compiler: angle must be degree or radian, got {settings.angle!r}.")
    sequence = settings.eulerseq
    if len(sequence) != 3 or not set(sequence) <= set("xyzXYZ"):
        raise LoadError(f"compiler: eulerseq must be three letters of xyzXYZ, got {sequence!r}.")
    document.elements.units = Units(settings.angle == "radian", sequence)


class NotPlainError(LoadError):
    """The document contains an element that only MuJoCo's compiler can expand."""

    def __init__(self, tag: str, owner: str) -> None:
        super().__init__(
            f"{owner}: only MuJoCo's compiler can expand <{tag}>. Install mujoco, or expand the file with mujoco: "
            "spec = mujoco.MjSpec.from_file(file); spec.compile(); text = spec.to_xml()"
        )


MAX_COPIES = 10_000
"""Largest number of copies of an element, because MuJoCo's compiler can fill the memory and cannot be interrupted."""


def flattened(given: Any, document: Document, reason: NotPlainError) -> str:
    """Expand the document with MuJoCo's compiler and return the text; raise ``reason`` if MuJoCo is not installed."""
    try:
        import mujoco
    except ImportError:
        raise reason from None
    _check_size(document)
    try:
        spec = mujoco.MjSpec.from_string(given) if is_xml(given) else mujoco.MjSpec.from_file(str(given))
        spec.compile()
        return str(spec.to_xml())
    except Exception as error:  # MuJoCo's compiler raises exceptions of many classes.
        raise LoadError(f"{reason} MuJoCo {mujoco.__version__} raised: {error}") from None


def _check_size(document: Document) -> None:
    stack = [(document.root, 1)]
    while stack:
        element, copies = stack.pop()
        if element.tag in ("replicate", "composite", "flexcomp"):
            for count in element.get("count", "").split():
                copies *= max(1, int(count)) if count.isdecimal() else 1
        if copies > MAX_COPIES:
            raise LoadError(
                f"<{element.tag} count={element.get('count')!r}> makes {copies:.3g} copies. The limit is "
                f"{MAX_COPIES:,}; reduce the count."
            )
        stack.extend((child, copies) for child in element)
