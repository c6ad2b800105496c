"""Where a user has the files of robots; nothing is fetched, and of each file the checksum is compared."""

import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pinocchio as pin

from ..._support.shipped import robot_models
from .sheets import Sheet

_DATA = "Gepetto/example-robot-data"


class Found(NamedTuple):
    """The file of a robot."""

    path: Path
    where: str  # in words, without the folders of this machine
    digest: str  # SHA-256
    known: bool  # whether it is one that the sheet was made for


def find(sheet: Sheet, folders: Sequence[str | os.PathLike[str]] = ()) -> Found | None:
    """Return the file of a robot, the first of a known version or else the first; None if there is none.

    Looked at are the robots of the package, the folders that are given, the cache of robot_descriptions, and the package
    example-robot-data. A folder holds checkouts by ``OWNER/NAME`` or ``NAME`` of their repositories, is one itself, or
    has the files in folders that have the names of the sheets.
    """
    versions, first = sheet.file.get("sha256", "").split(), None
    for where, path in _candidates(sheet, folders):
        if path.is_file():
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            found = Found(path, where, digest, digest in versions)
            if found.known:
                return found
            first = first or found
    return first


def _candidates(sheet: Sheet, folders: Sequence[str | os.PathLike[str]]) -> Iterator[tuple[str, Path]]:
    file = sheet.file
    if "shipped" in file:
        for name in ("model.urdf", "model.xml"):
            yield "pin_clusters", Path(str(robot_models())) / file["shipped"] / name
    if not {"repository", "path"} <= file.keys():
        return
    repository, path = file["repository"], file["path"]
    name = repository.rpartition("/")[2]
    for folder in map(Path, folders):
        for part in (Path(repository, path), Path(name, path), Path(path), Path(sheet.name, Path(path).name)):
            yield f"{repository}, {path}", folder / part
    cache = os.environ.get("ROBOT_DESCRIPTIONS_CACHE", "~/.cache/robot_descriptions")
    yield f"robot_descriptions, {name}, {path}", Path(cache).expanduser() / name / path
    if repository == _DATA:
        for root in (Path(pin.__file__).parents[4], Path(sys.prefix)):
            yield f"example-robot-data, {path}", root / "share" / "example-robot-data" / path
