"""Inertias of meshes, read by coal, with MuJoCo's four rules; needed only where a body has no inertial."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pinocchio as pin

from ....errors import InertiaError, LoadError, did_you_mean
from .._arguments import content
from .._numbers import LARGEST, number
from ._document import Document
from ._elements import Element, of_quaternion

KINDS = (".stl", ".obj", ".msh")
MAX_BYTES = 2**24  # MuJoCo's own limit of an STL, 200,000 triangles, has 10 MB; an OBJ of 16 MB takes 10 s
MAX_POINTS = 2**18  # a convex hull of as many takes 10 s
Soup = tuple[np.ndarray, np.ndarray]
"""Vertices, shape (n, 3), and triangles, shape (m, 3)."""


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
        element = self.assets.get(name)
        if element is None:
            raise LoadError(f"{owner}: there is no mesh {name!r}.{did_you_mean(name, self.assets)}")
        if (name, shell) not in self.known:
            what = element.owner
            rule = "shell" if shell else element.inertia
            if self.document.compiler.exactmeshinertia and rule == "legacy":
                rule = "exact"
            vertices, triangles = self._soup(name, element, owner)
            vertices = vertices - element.refpos
            if element.refquat is not None:
                vertices = vertices @ of_quaternion(element.refquat, "refquat", what)
            vertices = vertices * element.scale
            if not (np.abs(vertices) <= LARGEST).all():  # nor NaN, which files of floats may hold
                raise LoadError(f"{what}: its vertices must be finite numbers, and none beyond {LARGEST:g}.")
            self.known[name, shell] = mesh_inertia(vertices, triangles, rule, what)
        return self.known[name, shell]

    def _soup(self, name: str, element: Element, owner: str) -> Soup:
        what = element.owner
        if "builtin" in element or "plugin" in element:
            raise LoadError(f"{what} is made by MuJoCo. Give the body of {owner} an <inertial>.")
        if "vertex" in element:
            vertices = _in_threes(element.vertex, "vertex", what)
            if "face" not in element:
                return _hull(vertices, what)
            return vertices, _indices(_in_threes(element.face, "face", what), len(vertices), what)
        path = self._path(element)
        if path is None or not path.is_file():
            raise LoadError(
                f"{owner}: its body has no <inertial>, so its inertia is that of mesh {name!r}, whose file "
                f"{element.given.get('file')!r} is missing. Get it, or give the body an <inertial>."
            )
        return _load(path, what)

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


def _indices(faces: np.ndarray, count: int, what: str) -> np.ndarray:
    """Return the corners of triangles as whole numbers; one that is no vertex would be another one, or an error."""
    wrong = ~((faces >= 0) & (faces < count) & (faces == np.floor(faces)))
    if wrong.any():
        raise LoadError(f"{what}: a face names vertex {faces[wrong][0]:g}; its vertices are 0 to {count - 1}.")
    return faces.astype(int)


def _load(path: Path, what: str) -> Soup:
    """Read a file of one of MuJoCo's formats; the library of shapes would open others, of any size, as well."""
    kind, name = path.suffix.lower(), path.name
    if kind not in KINDS:
        raise LoadError(f"{what}: {name!r} must be one of {', '.join(KINDS)}. Convert it.")
    try:
        data = content(path, MAX_BYTES)
        return {".stl": _stl, ".obj": _obj, ".msh": _msh}[kind](data, name, what)
    except OSError as error:
        raise LoadError(f"{what}: cannot read {name!r}: {error.strerror}.") from None


def _stl(data: bytes, name: str, what: str) -> Soup:
    """Read an STL, binary or as text: three corners of each triangle."""
    count = int.from_bytes(data[80:84], "little")
    if count and len(data) == 84 + 50 * count:
        triangle = np.dtype([("normal", "<f4", 3), ("corners", "<f4", 9), ("", "<u2")])
        corners = np.frombuffer(data, triangle, count, 84)["corners"].astype(float)
    else:
        found = re.findall(rb"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)", data) if data.lstrip()[:5].lower() == b"solid" else []
        if not found or len(found) % 3:
            raise _unread(name, what, f"its {len(data)} bytes are no triangles of an STL")
        corners = np.array([number(x.decode("utf-8", "replace"), "a corner", what) for p in found for x in p])
    vertices = corners.reshape(-1, 3)
    return vertices, np.arange(len(vertices)).reshape(-1, 3)


def _obj(data: bytes, name: str, what: str) -> Soup:
    """Read points and faces of an OBJ, in a file of their own: other lines make readers open more files."""
    import coal  # Pinocchio's own library of shapes

    lines = [line.partition(b"#")[0].split() for line in re.sub(rb"\\\r?\n", b" ", data).splitlines()]
    kept = [line for line in lines if line[:1] in ([b"v"], [b"f"])]
    if not any(line[0] == b"f" for line in kept):
        return _points([line[1:4] for line in kept], name, what)
    # in their order, as a face may count its points from the last one; without indices of normals and textures
    plain = b"\n".join(b" ".join(x.partition(b"/")[0] for x in line) for line in kept)
    if strange := re.search(rb"[^\s\d.eE+vf-]+", plain):
        raise _unread(name, what, f"{strange[0].decode('utf-8', 'replace')!r:.60} is no number")
    try:
        with tempfile.TemporaryDirectory() as folder:
            own = Path(folder, "mesh.obj")
            own.write_bytes(plain)
            mesh = coal.MeshLoader().load(str(own), np.ones(3))
        vertices = np.array(mesh.vertices())
        triangles = np.array([[t[0], t[1], t[2]] for t in map(mesh.tri_indices, range(mesh.num_tris))], dtype=int)
    except (RuntimeError, ValueError, AttributeError) as error:
        reason = " ".join(str(error).rpartition("message: ")[2].partition("Hint:")[0].split())
        raise _unread(name, what, reason.replace(str(own), name).rstrip(".")) from None
    return vertices, triangles


def _unread(name: str, what: str, reason: str) -> LoadError:
    return LoadError(f"{what}: {name!r} cannot be read: {reason}. Convert it to STL or OBJ.")


def _points(given: Sequence[Sequence[bytes]], name: str, what: str) -> Soup:
    """Return the convex hull of an OBJ without faces."""
    if len(given) < 4 or any(len(p) < 3 for p in given):
        raise LoadError(f"{what}: {name!r} has no faces, and no four points (v x y z) to make a convex hull of.")
    owner = f"{what}, {name!r}"
    return _hull(np.array([[number(x.decode("utf-8", "replace"), "a point", owner) for x in p] for p in given]), what)


def _msh(data: bytes, name: str, what: str) -> Soup:
    """Read MuJoCo's own binary format: four counts, then vertices, normals, texture coordinates, triangles."""
    counts = np.frombuffer(data, np.int32, 4) if len(data) >= 16 else np.zeros(4, dtype=np.int32)
    n, normals, textures, faces = (int(c) for c in counts)
    right = min(n, faces) > 0 and min(normals, textures) >= 0
    if not right or len(data) != 4 * (4 + 3 * n + 3 * normals + 2 * textures + 3 * faces):
        raise LoadError(f"{what}: {name!r} is no .msh file of MuJoCo.")
    vertices = np.frombuffer(data, np.float32, 3 * n, 16).reshape(-1, 3).astype(float)
    start = 4 * (4 + 3 * n + 3 * normals + 2 * textures)
    corners = np.frombuffer(data, np.int32, 3 * faces, start).reshape(-1, 3)
    return vertices, _indices(corners, n, f"{what}, {name!r}")


def _hull(vertices: np.ndarray, what: str) -> Soup:
    from scipy.spatial import ConvexHull, QhullError

    vertices = np.unique(vertices, axis=0)
    if len(vertices) > MAX_POINTS:
        raise LoadError(f"{what}: its {len(vertices)} points are too many for a convex hull, beyond {MAX_POINTS}.")
    try:
        hull = ConvexHull(vertices)
    except QhullError:
        raise InertiaError(f"{what}: its points lie in a plane, so its convex hull has no volume.") from None
    faces = hull.simplices.copy()
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return vertices, faces


def mesh_inertia(vertices: np.ndarray, triangles: np.ndarray, rule: str, what: str) -> pin.Inertia:
    """Return the inertia of a mesh of density 1, per volume or per area, by one of MuJoCo's rules.

    ``"exact"`` adds up the volumes between each triangle and the centre of the surface with their signs, ``"convex"``
    does so on the convex hull. ``"legacy"`` counts all as positive, and once more from the centre of mass that this
    gives, which is kept: MuJoCo's own numbers for meshes that are not closed.
    """
    if rule == "convex":
        vertices, triangles = _hull(vertices, what)
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
