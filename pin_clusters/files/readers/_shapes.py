"""Converts the collision shapes of files to a ``pin.GeometryModel`` with shapes of the library coal."""

import os
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import coal  # always installed, because Pinocchio depends on coal
import numpy as np
import pinocchio as pin

from ..._support.hulls import hull
from ..._support.trees import unit
from ...errors import InertiaError, LoadError
from ._mesh_files import load_mesh
from ._notes import Notes
from ._numbers import number, numbers
from ._xml import only_child

DIMENSIONS: dict[str, dict[str, int]] = {
    "box": {"size": 3},
    "sphere": {"radius": 1},
    "cylinder": {"radius": 1, "length": 1},
    "capsule": {"radius": 1, "length": 1},
    "ellipsoid": {"radii": 3},
}
"""Dimensions of each URDF and SDF shape, and how many numbers each has; the length of a capsule excludes the caps."""
_MAKE: dict[str, Callable[..., Any]] = {
    "box": coal.Box,
    "sphere": coal.Sphere,
    "cylinder": coal.Cylinder,
    "capsule": coal.Capsule,
    "ellipsoid": coal.Ellipsoid,
}


class Shape(NamedTuple):
    name: str
    place: pin.SE3  # in the frame of the link
    geometry: Any  # coal shape
    path: str = ""  # path of a mesh file
    scale: tuple[float, ...] = (1.0, 1.0, 1.0)


Shapes = Mapping[str, Sequence[Shape]]
"""Shapes by link; a name that is not a link denotes the world."""


def collision_of(tree: pin.Model, shapes: Shapes) -> pin.GeometryModel:
    """Build a geometry model without collision pairs, in the order of the file; unnamed shapes get default names."""
    model = pin.GeometryModel()
    for link, link_shapes in shapes.items():
        k = tree.getFrameId(link, pin.FrameType.BODY) if tree.existFrame(link, pin.FrameType.BODY) else 0
        frame = tree.frames[k]
        for i, s in enumerate(link_shapes):
            name = s.name if s.name and not model.existGeometryName(s.name) else f"{link}_{i}"
            pose, scale = frame.placement * s.place, np.array(s.scale)
            model.addGeometryObject(pin.GeometryObject(name, frame.parentJoint, k, pose, s.geometry, s.path, scale))
    return model


def primitive(kind: str, sizes: Sequence[float], owner: str) -> Any:
    needed = sum(DIMENSIONS[kind].values())
    if len(sizes) < needed or not all(x > 0.0 for x in sizes[:needed]):
        raise LoadError(f"{owner}: a {kind} needs {needed} positive numbers, got {' '.join(f'{x:g}' for x in sizes)}.")
    return _MAKE[kind](*map(float, sizes[:needed]))


def sized(kind: str, given: Callable[[str], str | None], owner: str) -> Any:
    """Build a shape of a type in ``DIMENSIONS``; ``given`` maps the name of a dimension to its text in the file."""
    sizes = [
        numbers(given(key), key, owner, n) if n > 1 else (number(given(key), key, owner),)
        for key, n in DIMENSIONS[kind].items()
    ]
    return primitive(kind, [x for several in sizes for x in several], owner)


def shape_in(element: ET.Element, owner: str) -> ET.Element:
    geometry = only_child(element, "geometry", owner)
    inner = [] if geometry is None else list(geometry)
    if len(inner) != 1:
        raise LoadError(f"{owner}: its <geometry> has {len(inner)} shapes, expected one.")
    return inner[0]


def half_space(normal: Sequence[float], owner: str) -> Any:
    n = unit(np.array(normal))
    if n is None:
        raise LoadError(f"{owner}: the normal of the plane is zero. Specify a direction, such as 0 0 1.")
    return coal.Halfspace(n, 0.0)


class Maker:
    """Builds the shapes of one file; a missing shape raises no error, because the dynamics do not depend on shapes."""

    def __init__(self, folder: Path | None, notes: Notes) -> None:
        self.folder, self.notes = folder, notes
        self._hulls: dict[tuple[Path, tuple[float, ...]], Any] = {}
        self._without: list[str] = []

    @contextmanager
    def attempt(self) -> Iterator[None]:
        try:
            yield
        except (LoadError, InertiaError) as error:
            self._without.append(str(error).rstrip("."))

    def say(self) -> None:
        if self._without:
            remainder = f"; and {len(self._without) - 3} more" if len(self._without) > 3 else ""
            self.notes.messages.append(f"some collision shapes are missing: {'; '.join(self._without[:3])}{remainder}.")

    def mesh(self, name: str, place: pin.SE3, uri: str, scale: Sequence[float], owner: str) -> Shape:
        path = self._path(uri)
        if path is None:
            raise LoadError(f"{owner}: the mesh file {uri!r:.200} is missing")
        key = path, tuple(map(float, scale))
        if key not in self._hulls:
            points = load_mesh(path, owner, collada=True)[0] * np.array(scale)
            self._hulls[key] = hull(points, f"{owner}, mesh {path.name!r}")
        return Shape(name, place, self._hulls[key], str(path), key[1])

    def _path(self, uri: str) -> Path | None:
        """Find the file of a URI: in a package, in a folder above the robot's file, or relative to the robot's file."""
        scheme, separator, tail = uri.partition("://")
        base = self.folder.resolve() if self.folder is not None else None
        around = [] if base is None else [base, *base.parents]
        if separator and scheme in ("package", "model"):
            package, _, inside = tail.partition("/")
            roots = [*around, *map(Path, filter(None, os.environ.get("ROS_PACKAGE_PATH", "").split(os.pathsep)))]
            places = [p for root in roots for p in ([root / inside] if root.name == package else []) + [root / tail]]
        elif separator and scheme != "file":
            return None  # Files are not downloaded.
        else:
            places = [root / (tail if separator else uri) for root in around[:1] or [Path("/")]]
        try:
            return next((p for p in places if p.is_file()), None)
        except (OSError, ValueError):  # The URI is not a valid file name.
            return None
