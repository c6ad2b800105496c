"""Find robot files on the user's machine and check their checksums; only ``fetch`` downloads files."""

import hashlib
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pinocchio as pin

from ..._support.shipped import robot_models
from ...errors import PinClustersWarning
from .sheets import Sheet

MENAGERIE = "google-deepmind/mujoco_menagerie"


class Found(NamedTuple):
    """The file of a robot: its path, its SHA-256, and whether the sheet lists this SHA-256."""

    path: Path
    digest: str
    known: bool


def find(sheet: Sheet, folders: Sequence[str | os.PathLike[str]] = ()) -> Found | None:
    """Return the robot's file, preferably one whose checksum the sheet lists; None if no file is found.

    The search covers the robots in the package, the given folders, the caches of robot_descriptions and
    mujoco_menagerie, and example-robot-data. Each given folder is a git checkout, or contains checkouts named
    ``OWNER/NAME`` or ``NAME``, or contains folders that are named like the sheets and contain the robot files.
    """
    versions, unlisted = sheet.file.get("sha256", "").split(), None
    for path in filter(Path.is_file, _candidates(sheet, folders)):
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest in versions:
            return Found(path, digest, True)
        unlisted = unlisted or Found(path, digest, False)
    return unlisted


def fetch(sheet: Sheet, folders: Sequence[str | os.PathLike[str]] = ()) -> bool:
    """If a file of the MuJoCo Menagerie is missing and the package mujoco_menagerie is installed, download it.

    Returns:
        False if the download fails, which also emits a ``PinClustersWarning``.
    """
    found = find(sheet, folders)
    if sheet.file.get("repository") != MENAGERIE or sheet.unknown or (found and found.known):
        return True
    try:
        _menagerie(sheet.file["path"], download=True)
    except Exception as error:  # The package raises errors of several libraries.
        warnings.warn(f"mujoco_menagerie cannot download {sheet.name}: {error}", PinClustersWarning, stacklevel=2)
        return False
    return True


def _menagerie(path: str, download: bool = False) -> Path | None:
    """Return the path of a file of the package mujoco_menagerie; None without the package or the robot."""
    try:
        import mujoco_menagerie
    except ImportError:
        return None
    robot, _, name = path.partition("/")
    if robot not in mujoco_menagerie.names():
        return None
    entry, cache = mujoco_menagerie.get(robot), mujoco_menagerie.Cache()
    if download:
        return Path(entry.path(cache), name)
    return Path(cache.root / robot if cache.root else cache.model_path(entry), name)


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
    if repository == MENAGERIE and (of_package := _menagerie(file["path"])):
        yield of_package
    if repository == "Gepetto/example-robot-data":
        for root in (Path(pin.__file__).parents[4], Path(sys.prefix)):
            yield root / "share" / "example-robot-data" / path
