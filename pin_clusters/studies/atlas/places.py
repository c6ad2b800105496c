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


class Found(NamedTuple):
    """The file of a robot: its SHA-256, and whether that is one that the sheet was made for."""

    path: Path
    digest: str
    known: bool


def find(sheet: Sheet, folders: Sequence[str | os.PathLike[str]] = ()) -> Found | None:
    """Return the file of a robot, the first of a known version or else the first; None if there is none.

    Looked at are the robots of the package, the folders that are given, the cache of robot_descriptions, and
    example-robot-data. A folder holds checkouts by ``OWNER/NAME`` or ``NAME`` of their repositories, is one itself, or
    has the files in folders named as the sheets.
    """
    versions, first = sheet.file.get("sha256", "").split(), None
    for path in filter(Path.is_file, _candidates(sheet, folders)):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest in versions:
            return Found(path, digest, True)
        first = first or Found(path, digest, False)
    return first


def _candidates(sheet: Sheet, folders: Sequence[str | os.PathLike[str]]) -> Iterator[Path]:
    file = sheet.file
    if "shipped" in file:
        yield from (Path(str(robot_models()), file["shipped"], name) for name in ("model.urdf", "model.xml"))
    if not {"repository", "path"} <= file.keys():
        return
    repository, path = file["repository"], Path(file["path"])
    name = repository.rpartition("/")[2]
    for folder in map(Path, folders):
        yield from (folder / x for x in (repository / path, name / path, path, Path(sheet.name, path.name)))
    cache = os.environ.get("ROBOT_DESCRIPTIONS_CACHE", "~/.cache/robot_descriptions")
    yield Path(cache).expanduser() / name / path
    if repository == "Gepetto/example-robot-data":
        for root in (Path(pin.__file__).parents[4], Path(sys.prefix)):
            yield root / "share" / "example-robot-data" / path
