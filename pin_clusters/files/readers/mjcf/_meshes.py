"""Inertias of meshes, read by coal, with MuJoCo's four rules; needed only where a body has no inertial."""

from pathlib import Path

import numpy as np
import pinocchio as pin

from ...._support.hulls import Soup, hull_of
from ....errors import InertiaError, LoadError, did_you_mean
from .._mesh_files import indices, load_mesh
from .._numbers import LARGEST
from ._document import Document
from ._elements import Element, of_quaternion


class Meshes:
    """The ``<mesh>`` assets of a document."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.assets: dict[str, Element] = {}
        self.known: dict[tuple[str, bool], pin.Inertia] = {}
        for element in document.sections["asset"]:
            if element.tag == "mesh":
                name = element.get("name") or Path(element.get("file", "").replace("\\", "/")).stem
                self.assets[name] = document.elements.of(element, "mesh", f"mesh {name!r}")
        self.place = document.compiler.given.get("meshdir", document.compiler.assetdir)

    def unit_density(self, name: str, owner: str, shell: bool) -> pin.Inertia:
        """Return the inertia of a mesh of density 1 in the frame of its file."""
        element = self._asset(name, owner)
        if (name, shell) not in self.known:
            rule = "shell" if shell else element.inertia
            if self.document.compiler.exactmeshinertia and rule == "legacy":
                rule = "exact"
            self.known[name, shell] = mesh_inertia(*self.soup(name, owner), rule, element.owner)
        return self.known[name, shell]

    def soup(self, name: str, owner: str) -> Soup:
        """Return the vertices and triangles of a mesh where they are in a geom."""
        element = self._asset(name, owner)
        vertices, triangles = self._soup(name, element, owner)
        vertices = vertices - element.refpos
        if element.refquat is not None:
            vertices = vertices @ of_quaternion(element.refquat, "refquat", element.owner)
        vertices = vertices * element.scale
        if not (np.abs(vertices) <= LARGEST).all():  # nor NaN, which files of floats may hold
            raise LoadError(f"{element.owner}: its vertices must be finite numbers, and none beyond {LARGEST:g}.")
        return vertices, triangles

    def plain_file(self, name: str, owner: str) -> tuple[Path | str | None, tuple[float, ...]]:
        """Return the file and scale of a mesh that is as its file has it; None if more is done to it."""
        element = self._asset(name, owner)
        plain = "file" in element and not any(key in element for key in ("vertex", "refpos", "refquat", "builtin"))
        scale = tuple(element.scale.tolist())
        return (self._path(element) or element.given["file"]) if plain else None, scale

    def _asset(self, name: str | None, owner: str) -> Element:
        if name is None:
            raise LoadError(f"{owner}: it is a mesh, but mesh= is missing. Name one.")
        element = self.assets.get(name)
        if element is None:
            raise LoadError(f"{owner}: there is no mesh {name!r}.{did_you_mean(name, self.assets)}")
        return element

    def _soup(self, name: str, element: Element, owner: str) -> Soup:
        what = element.owner
        if "builtin" in element or "plugin" in element:
            raise LoadError(f"{what} is made by MuJoCo. Give the body of {owner} an <inertial>.")
        if "vertex" in element:
            vertices = _in_threes(element.vertex, "vertex", what)
            if "face" not in element:
                return hull_of(vertices, what)
            return vertices, indices(_in_threes(element.face, "face", what), len(vertices), what)
        path = self._path(element)
        if path is None or not path.is_file():
            raise LoadError(
                f"{owner}: its body has no <inertial>, so its inertia is that of mesh {name!r}, whose file "
                f"{element.given.get('file')!r} is missing. Get it, or give the body an <inertial>."
            )
        return load_mesh(path, what)

    def _path(self, element: Element) -> Path | None:
        file, folder = element.given.get("file"), self.document.folder
        if not file:
            return None
        if self.document.compiler.strippath:
            file = Path(file.replace("\\", "/")).name
        return None if folder is None and not Path(file).is_absolute() else (folder or Path()) / self.place / file

    def warn(self) -> None:
        """Take note of meshes whose files are missing; what is drawn is made without meshes anyway."""
        files = {name: self._path(element) for name, element in self.assets.items() if "file" in element}
        missing = [name for name, file in files.items() if not (file and file.is_file())]
        self.document.notes.about(missing, "the files of these meshes are missing; bodies are drawn as primitives: {}.")


def _in_threes(given: np.ndarray, key: str, what: str) -> np.ndarray:
    if len(given) % 3:
        raise LoadError(f"{what}: {key} must be three numbers each, got {len(given)} in all.")
    return given.reshape(-1, 3)


def mesh_inertia(vertices: np.ndarray, triangles: np.ndarray, rule: str, what: str) -> pin.Inertia:
    """Return the inertia of a mesh of density 1, per volume or per area, by one of MuJoCo's rules.

    ``"exact"`` adds up the volumes between each triangle and the centre of the surface with their signs, ``"convex"``
    does so on the convex hull. ``"legacy"`` counts all as positive, and once more from the centre of mass that this
    gives, which is kept: MuJoCo's own numbers for meshes that are not closed.
    """
    if rule == "convex":
        vertices, triangles = hull_of(vertices, what)
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    normals = np.cross(b - a, c - a)
    areas = 0.5 * np.linalg.norm(normals, axis=1)
    area = float(areas.sum())
    if not area > 0.0:
        raise InertiaError(f"{what}: its surface is zero.")
    middle = areas @ (a + b + c) / (3.0 * area)
    if rule == "shell":
        mass, centre, about = _moments((a, b, c), areas, None)
    else:
        mass, centre, about = _moments((a, b, c), _volumes((a, b, c), middle, rule == "legacy"), middle)
    if not mass > 0.0:
        raise InertiaError(
            f"{what}: its volume is {mass:g} m^3. Are its triangles turned inside out? Use inertia=shell."
        )
    if rule == "legacy":
        mass, again, about = _moments((a, b, c), _volumes((a, b, c), centre, True), centre)
        about = about + mass * np.outer(again - centre, again - centre)  # about the first centre, as MuJoCo has it
    return pin.Inertia(mass, centre, np.trace(about) * np.eye(3) - about)


Corners = tuple[np.ndarray, np.ndarray, np.ndarray]


def _volumes(corners: Corners, apex: np.ndarray, positive: bool) -> np.ndarray:
    """Return the volume between each triangle and a point."""
    a, b, c = corners
    volumes = np.einsum("ij,ij->i", a - apex, np.cross(b - a, c - a)) / 6.0
    return np.abs(volumes) if positive else np.asarray(volumes)


def _moments(corners: Corners, weight: np.ndarray, apex: np.ndarray | None) -> tuple[float, np.ndarray, np.ndarray]:
    """Return mass, centre, and second moments about it, of triangles, or of the tetrahedra to an apex."""
    points = [*corners] if apex is None else [*corners, np.broadcast_to(apex, corners[0].shape)]
    k, mass = len(points), float(weight.sum())
    total = np.sum(points, axis=0)
    centre = weight @ total / (k * mass) if mass else np.zeros(3)
    points = [p - centre for p in points]
    total = np.sum(points, axis=0)
    # of a simplex: (sum of squares of the corners + square of their sum) / (k (k + 1))
    second = np.sum([np.einsum("i,ij,ik->jk", weight, p, p) for p in (*points, total)], axis=0)
    return mass, centre, second / (k * (k + 1))
