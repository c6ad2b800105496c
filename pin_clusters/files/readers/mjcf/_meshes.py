"""Computes inertias of meshes by MuJoCo's four rules, for bodies without ``<inertial>``; coal reads the files."""

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
        """Compute the inertia of a mesh with density 1, in the frame of its file."""
        element = self._asset(name, owner)
        if (name, shell) not in self.known:
            rule = "shell" if shell else element.inertia
            if self.document.compiler.exactmeshinertia and rule == "legacy":
                rule = "exact"
            self.known[name, shell] = mesh_inertia(*self.soup(name, owner), rule, element.owner)
        return self.known[name, shell]

    def soup(self, name: str, owner: str) -> Soup:
        element = self._asset(name, owner)
        vertices, triangles = self._soup(name, element, owner)
        vertices = vertices - element.refpos
        if element.refquat is not None:
            vertices = vertices @ of_quaternion(element.refquat, "refquat", element.owner)
        vertices = vertices * element.scale
        if not (np.abs(vertices) <= LARGEST).all():  # The comparison is false for NaN too.
            raise LoadError(f"{element.owner}: its vertices must be finite numbers of at most {LARGEST:g}.")
        return vertices, triangles

    def plain_file(self, name: str, owner: str) -> tuple[Path | str | None, tuple[float, ...]]:
        """Return the file and the scale of a mesh; the file is None if other attributes also transform the mesh."""
        element = self._asset(name, owner)
        plain = "file" in element and not any(key in element for key in ("vertex", "refpos", "refquat", "builtin"))
        scale = tuple(element.scale.tolist())
        return (self._path(element) or element.given["file"]) if plain else None, scale

    def _asset(self, name: str | None, owner: str) -> Element:
        if name is None:
            raise LoadError(f"{owner}: type is mesh, but the attribute mesh is missing. Specify a mesh.")
        element = self.assets.get(name)
        if element is None:
            raise LoadError(f"{owner}: there is no mesh {name!r}.{did_you_mean(name, self.assets)}")
        return element

    def _soup(self, name: str, element: Element, owner: str) -> Soup:
        label = element.owner
        if "builtin" in element or "plugin" in element:
            raise LoadError(f"MuJoCo generates {label}. Add an <inertial> to the body of {owner}.")
        if "vertex" in element:
            vertices = _in_threes(element.vertex, "vertex", label)
            if "face" not in element:
                return hull_of(vertices, label)
            return vertices, indices(_in_threes(element.face, "face", label), len(vertices), label)
        path = self._path(element)
        if path is None or not path.is_file():
            raise LoadError(
                f"{owner}: its body has no <inertial>, so its inertia depends on mesh {name!r}, whose file "
                f"{element.given.get('file')!r} is missing. Add the file, or add an <inertial> to the body."
            )
        return load_mesh(path, label)

    def _path(self, element: Element) -> Path | None:
        file, folder = element.given.get("file"), self.document.folder
        if not file:
            return None
        if self.document.compiler.strippath:
            file = Path(file.replace("\\", "/")).name
        return None if folder is None and not Path(file).is_absolute() else (folder or Path()) / self.place / file

    def warn(self) -> None:
        files = {name: self._path(element) for name, element in self.assets.items() if "file" in element}
        missing = [name for name, file in files.items() if not (file and file.is_file())]
        self.document.notes.about(missing, "these mesh files are missing, so their bodies are drawn as primitives: {}.")


def _in_threes(given: np.ndarray, key: str, what: str) -> np.ndarray:
    if len(given) % 3:
        raise LoadError(f"{what}: the number of values in {key} must be a multiple of 3, got {len(given)}.")
    return given.reshape(-1, 3)


def mesh_inertia(vertices: np.ndarray, triangles: np.ndarray, rule: str, what: str) -> pin.Inertia:
    """Compute the inertia of a mesh with density 1, per volume or per area (``"shell"``), by one of MuJoCo's rules.

    ``"exact"`` adds the signed volumes of the tetrahedra between each triangle and the centroid of the surface.
    ``"convex"`` does the same for the convex hull. ``"legacy"`` adds absolute volumes, first with the centroid and then
    with the resulting centre of mass as apex. As in MuJoCo, the centre of mass is not updated a second time.
    """
    if rule == "convex":
        vertices, triangles = hull_of(vertices, what)
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    normals = np.cross(b - a, c - a)
    areas = 0.5 * np.linalg.norm(normals, axis=1)
    area = float(areas.sum())
    if not area > 0.0:
        raise InertiaError(f"{what}: its surface area is zero.")
    middle = areas @ (a + b + c) / (3.0 * area)
    if rule == "shell":
        mass, centre, about = _moments((a, b, c), areas, None)
    else:
        mass, centre, about = _moments((a, b, c), _volumes((a, b, c), middle, rule == "legacy"), middle)
    if not mass > 0.0:
        raise InertiaError(f"{what}: its volume is {mass:g} m^3. Reverse its triangles, or use inertia='shell'.")
    if rule == "legacy":
        mass, shifted, about = _moments((a, b, c), _volumes((a, b, c), centre, True), centre)
        about = about + mass * np.outer(shifted - centre, shifted - centre)  # MuJoCo uses the centre of the first pass.
    return pin.Inertia(mass, centre, np.trace(about) * np.eye(3) - about)


Corners = tuple[np.ndarray, np.ndarray, np.ndarray]


def _volumes(corners: Corners, apex: np.ndarray, positive: bool) -> np.ndarray:
    a, b, c = corners
    volumes = np.einsum("ij,ij->i", a - apex, np.cross(b - a, c - a)) / 6.0
    return np.abs(volumes) if positive else np.asarray(volumes)


def _moments(corners: Corners, weight: np.ndarray, apex: np.ndarray | None) -> tuple[float, np.ndarray, np.ndarray]:
    """Compute mass, centre of mass and central second moments of triangles, or of tetrahedra that share an apex."""
    points = [*corners] if apex is None else [*corners, np.broadcast_to(apex, corners[0].shape)]
    k, mass = len(points), float(weight.sum())
    total = np.sum(points, axis=0)
    centre = weight @ total / (k * mass) if mass else np.zeros(3)
    points = [p - centre for p in points]
    total = np.sum(points, axis=0)
    # Second moments of a simplex with k corners p: (sum(p p') + sum(p) sum(p)') / (k (k + 1)).
    second = np.sum([np.einsum("i,ij,ik->jk", weight, p, p) for p in (*points, total)], axis=0)
    return mass, centre, second / (k * (k + 1))
