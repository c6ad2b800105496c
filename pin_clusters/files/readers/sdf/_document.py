"""Reads an SDF document, inserts the included files, and chooses the model."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ....errors import LoadError
from .._arguments import MAX_BYTES, content, read_file, too_long
from .._notes import Notes, listing
from .._numbers import numbers
from .._xml import only_child, parse_xml
from ._values import flag, text_of

MAX_DEPTH = 20  # largest nesting depth of included files
MAX_INCLUDES = 1000  # limited, because n files that each include the next file twice contain 2^n models
SCENERY = ("sun", "ground_plane")  # models in every Gazebo installation, which are not part of a robot
VERSIONS = ((1, 2), (1, 12))


@dataclass
class Document:
    model: ET.Element  # the ``<model>``, in which each <include> is replaced by the included model
    version: tuple[int, int]  # version of the format, such as (1, 6)
    source: str  # label of the file for messages
    gravity: np.ndarray | None = None  # gravity of the world, shape (3,), [m/s^2], or None
    versions: dict[int, tuple[int, int]] = field(default_factory=dict)  # versions of included models, by ``id``
    folder: Path | None = None  # folder of the file; None for text
    folders: dict[int, Path] = field(default_factory=dict)  # folders of included models, by ``id``, for meshes


def read_document(text: str | bytes, source: str, folder: Path | None, notes: Notes) -> Document:
    """Read a document and its included files, which must be in its folder or a subfolder; text cannot include files."""
    root = parse_xml(text, source, start="<sdf version=...>", any_prefix=True)
    version = _version(root, source)
    worlds = root.findall("world")
    models = root.findall("model")
    if len(worlds) > 1 or (worlds and models):
        raise LoadError(f"{source} has several worlds, or a world and models. Keep only the part with the robot.")
    reader = _Includes(folder, source, notes)
    container = worlds[0] if worlds else root
    reader.put_in(container, version, 0)
    model = _the_robot(container, source, notes)
    gravity = None
    if worlds and (stated := only_child(worlds[0], "gravity", "world")) is not None:
        gravity = np.array(numbers(stated.text, "gravity", "world", 3))
    if worlds and (tied := [e.get("name") or "?" for e in worlds[0].findall("joint")]):
        raise LoadError(f"world: joints between models ({listing(tied)}) are not supported. Move them into the model.")
    version = reader.versions.get(id(model), version)
    return Document(model, version, source, gravity, reader.versions, folder, reader.folders)


def _version(root: ET.Element, source: str) -> tuple[int, int]:
    if root.tag != "sdf":
        raise LoadError(f"{source} is not an SDF: its root element is <{root.tag}>, expected <sdf>.")
    text = root.get("version") or ""
    parts = re.fullmatch(r"([0-9]{1,9})\.([0-9]{1,9})", text)
    if parts is None:
        raise LoadError(f'{source}: <sdf> needs a version such as version="1.7", got {text!r:.60}.')
    version = int(parts[1]), int(parts[2])
    if not VERSIONS[0] <= version <= VERSIONS[1]:
        first, last = (".".join(map(str, v)) for v in VERSIONS)
        raise LoadError(f"{source} has SDF version {text}, expected {first} to {last}. Convert it with gz sdf -p.")
    return version


def _the_robot(place: ET.Element, source: str, notes: Notes) -> ET.Element:
    models = place.findall("model")
    if not models:
        raise LoadError(f"{source} has no <model>. Add the <model> of the robot.")
    moving = [m for m in models if not flag(m, "static", False, "model")]
    if len(models) > 1 and len(moving) != 1:
        names = listing([m.get("name") or "?" for m in moving or models])
        raise LoadError(f"{source} has several models: {names}. Keep only the robot.")
    robot = moving[0] if moving else models[0]
    ignored = [m.get("name") or "?" for m in models if m is not robot]
    notes.about(ignored, "these static models are ignored: {}.")
    return robot


class _Includes:
    """Replaces each ``<include>`` by the model of its file."""

    def __init__(self, folder: Path | None, source: str, notes: Notes) -> None:
        self.folder, self.source, self.notes = folder, source, notes
        self.versions: dict[int, tuple[int, int]] = {}
        self.folders: dict[int, Path] = {}
        self.count = self.size = 0  # number and total size [bytes] of the included files so far

    def put_in(self, place: ET.Element, version: tuple[int, int], depth: int, folder: Path | None = None) -> None:
        base = folder or self.folder
        for i, child in enumerate(list(place)):
            if child.tag == "include":
                model = self._included(child, depth, base)
                place.remove(child)
                if model is not None:
                    place.insert(i, model)
            elif child.tag == "model":
                self.put_in(child, version, depth, base)

    def _included(self, include: ET.Element, depth: int, here: Path | None) -> ET.Element | None:
        uri = text_of(include, "uri", "<include>")
        owner = f"<include> of {uri!r}"
        if depth >= MAX_DEPTH:
            raise LoadError(f"{owner}: includes are nested more than {MAX_DEPTH} deep. Check for cyclic includes.")
        self.count += 1
        if self.count > MAX_INCLUDES:
            raise LoadError(
                f"{owner}: the document and its included files have more than {MAX_INCLUDES} includes. The maximum is "
                f"{MAX_INCLUDES}."
            )
        if include.get("merge") in ("true", "1"):
            raise LoadError(f'{owner}: merge="true" is not supported. Include the file as a nested model, or copy it.')
        if unknown := [
            e.tag for e in include if e.tag not in ("uri", "name", "pose", "static", "placement_frame", "plugin")
        ]:
            raise LoadError(f"{owner}: <{unknown[0]}> is not supported. Replace the <include> by a copy of the model.")
        file = self._file(uri, owner, here)
        if file is None:
            return None
        try:
            text = content(file)
        except OSError as error:
            raise LoadError(f"{owner}: cannot read {file.name!r}: {error.strerror}.") from None
        self.size += len(text)
        if self.size > MAX_BYTES:
            raise too_long(f"{owner} with all earlier includes", self.size)
        root = parse_xml(text, owner, start="<sdf version=...>", any_prefix=True)
        version = _version(root, owner)
        models = root.findall("model")
        if len(models) != 1:
            raise LoadError(f"{owner}: the file has {len(models)} models, expected one.")
        model = models[0]
        self.put_in(model, version, depth + 1, file.parent)
        for inner in model.iter("model"):
            self.versions.setdefault(id(inner), version)
            self.folders.setdefault(id(inner), file.parent)
        _override(model, include)
        return model

    def _file(self, uri: str, owner: str, here: Path | None) -> Path | None:
        """Find the file of a URI in the folder of the document; return None for Gazebo's scenery models."""
        scheme, separator, location = uri.partition("://")
        name = location if separator else uri
        if separator and scheme not in ("model", "file"):
            raise LoadError(f"{owner}: files are not downloaded. Copy the model into the folder of the file.")
        if self.folder is None or here is None:
            if name in SCENERY:
                return None
            raise LoadError(f"{owner}: XML text cannot include files. Pass the path of a file instead.")
        root = self.folder.resolve()
        for base in (here, root) if scheme == "model" or not separator else (root,):
            file = (base / name.lstrip("/") if separator else base / name).resolve()
            if file.is_dir():
                file = next(_described(file), file).resolve()
            if not file.is_relative_to(root):
                raise LoadError(
                    f"{owner}: the file is outside the folder of the document. Only files in that folder are read, for "
                    "security reasons. Copy the file there."
                )
            if file.is_file():
                return file
        if name in SCENERY:
            self.notes.messages.append(f"{name!r} is a scenery model of Gazebo and is ignored.")
            return None
        raise LoadError(f"{owner}: there is no such file in the folder of {self.source}. Copy the file there.")


def _described(folder: Path) -> Iterator[Path]:
    """Find the SDF file of a model folder: the last file listed in ``model.config``, else the first .sdf file."""
    config = folder / "model.config"
    if config.is_file():
        root = parse_xml(read_file(config, "a model.config")[1], f"{folder.name}/model.config", start="<model>")
        named = [e.text.strip() for e in root.findall("sdf") if e.text]
        if named:
            yield folder / named[-1]
            return
    yield from sorted(folder.glob("*.sdf"))[:1]


def _override(model: ET.Element, include: ET.Element) -> None:
    name = include.findtext("name")
    if name and name.strip():
        model.set("name", name.strip())
    for tag in ("pose", "static"):
        child = include.find(tag)
        if child is not None:
            for old in model.findall(tag):
                model.remove(old)
            model.append(child)
    frame = include.findtext("placement_frame")
    if frame and frame.strip():
        model.set("placement_frame", frame.strip())
