"""Read triangle meshes from STL, OBJ and MuJoCo's MSH files, and from COLLADA files with the library coal."""

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..._support.hulls import Soup, hull_of
from ...errors import LoadError
from ._arguments import content
from ._numbers import number

KINDS = (".stl", ".obj", ".msh")
MAX_BYTES = 2**24  # An STL with 200,000 triangles (MuJoCo's limit) has 10 MB; a 16 MB OBJ takes 10 s.


def load_mesh(path: Path, what: str, collada: bool = False) -> Soup:
    kind, name = path.suffix.lower(), path.name
    if kind not in KINDS and not (collada and kind == ".dae"):
        raise LoadError(f"{what}: the file type of {name!r} must be one of {', '.join(KINDS)}. Convert the file.")
    try:
        data = content(path, MAX_BYTES)
        if kind == ".dae":
            return _by_coal(path, name, what)
        return {".stl": _stl, ".obj": _obj, ".msh": _msh}[kind](data, name, what)
    except OSError as error:
        raise LoadError(f"{what}: cannot read {name!r}: {error.strerror}.") from None


def _stl(data: bytes, name: str, what: str) -> Soup:
    count = int.from_bytes(data[80:84], "little")
    if count and len(data) == 84 + 50 * count:
        triangle = np.dtype([("normal", "<f4", 3), ("corners", "<f4", 9), ("", "<u2")])
        corners = np.frombuffer(data, triangle, count, 84)["corners"].astype(float)
    else:
        rows = re.findall(rb"\bvertex\s+(\S+)\s+(\S+)\s+(\S+)", data) if data.lstrip()[:5].lower() == b"solid" else []
        if not rows or len(rows) % 3:
            raise _unread(name, what, f"it is not a valid STL file with triangles ({len(data)} bytes)")
        corners = np.array([number(x.decode("utf-8", "replace"), "a corner", what) for p in rows for x in p])
    vertices = corners.reshape(-1, 3)
    return vertices, np.arange(len(vertices)).reshape(-1, 3)


def _obj(data: bytes, name: str, what: str) -> Soup:
    """Read points and faces of an OBJ from a filtered copy, because some lines would make coal open further files."""
    lines = [line.partition(b"#")[0].split() for line in re.sub(rb"\\\r?\n", b" ", data).splitlines()]
    data_lines = [line for line in lines if line[:1] in ([b"v"], [b"f"])]
    if not any(line[0] == b"f" for line in data_lines):
        return _points([line[1:4] for line in data_lines], name, what)
    # The order of lines matters, because negative indices of a face count from the last point. Indices of normals
    # and textures are removed.
    plain = b"\n".join(b" ".join(x.partition(b"/")[0] for x in line) for line in data_lines)
    if strange := re.search(rb"[^\s\d.eE+vf-]+", plain):
        raise _unread(name, what, f"{strange[0].decode('utf-8', 'replace')!r:.60} is not a number")
    with tempfile.TemporaryDirectory() as folder:
        filtered = Path(folder, "mesh.obj")
        filtered.write_bytes(plain)
        return _by_coal(filtered, name, what)


def _by_coal(path: Path, name: str, what: str) -> Soup:
    import coal  # always installed, because Pinocchio depends on coal

    try:
        mesh = coal.MeshLoader().load(str(path), np.ones(3))
        triangles = np.array([[t[0], t[1], t[2]] for t in map(mesh.tri_indices, range(mesh.num_tris))], dtype=int)
        return np.array(mesh.vertices()), triangles
    except (RuntimeError, ValueError, AttributeError) as error:
        reason = " ".join(str(error).rpartition("message: ")[2].partition("Hint:")[0].split())
        raise _unread(name, what, reason.replace(str(path), name).rstrip(".")) from None


def _unread(name: str, what: str, reason: str) -> LoadError:
    return LoadError(f"{what}: {name!r} cannot be read: {reason}. Convert it to STL or OBJ.")


def _points(given: Sequence[Sequence[bytes]], name: str, what: str) -> Soup:
    if len(given) < 4 or any(len(p) < 3 for p in given):
        raise LoadError(f"{what}: {name!r} needs faces (lines f) or at least four vertices (lines v x y z).")
    owner = f"{what}, {name!r}"
    return hull_of(np.array([[number(x.decode("utf-8", "replace"), "a point", owner) for x in p] for p in given]), what)


def _msh(data: bytes, name: str, what: str) -> Soup:
    """Read MuJoCo's binary format, which contains four counts, vertices, normals, texture coordinates and triangles."""
    counts = np.frombuffer(data, np.int32, 4) if len(data) >= 16 else np.zeros(4, dtype=np.int32)
    n, normals, textures, faces = (int(c) for c in counts)
    right = min(n, faces) > 0 and min(normals, textures) >= 0
    if not right or len(data) != 4 * (4 + 3 * n + 3 * normals + 2 * textures + 3 * faces):
        raise LoadError(f"{what}: {name!r} is not a valid MuJoCo .msh file.")
    vertices = np.frombuffer(data, np.float32, 3 * n, 16).reshape(-1, 3).astype(float)
    start = 4 * (4 + 3 * n + 3 * normals + 2 * textures)
    corners = np.frombuffer(data, np.int32, 3 * faces, start).reshape(-1, 3)
    return vertices, indices(corners, n, f"{what}, {name!r}")


def indices(faces: np.ndarray, count: int, what: str) -> np.ndarray:
    wrong = ~((faces >= 0) & (faces < count) & (faces == np.floor(faces)))
    if wrong.any():
        raise LoadError(f"{what}: a face refers to vertex {faces[wrong][0]:g}; expected 0 to {count - 1}.")
    return faces.astype(int)
