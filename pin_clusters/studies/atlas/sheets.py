"""The sheets of the atlas: files of motors that also say where the robot's file is and what others published."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._support.shipped import robot_models
from ...errors import LoadError, UnknownNameError, did_you_mean
from ...files.readers.motors import read_motors


@dataclass(frozen=True)
class Sheet:
    """What is known of a robot.

    Attributes:
        name: Of the sheet.
        path: Where it is; ``--motors`` takes it as it is.
        robot: What robot it is.
        file: Where the robot's file comes from, by the keys of ``motor_keys.ORIGIN``; empty if there is none.
        published: Armature that files of others give it: ``where``, and ``armature`` by joints, [kg m^2].
        motors: As in any file of motors.
        notes: What else is to be known.
        unknown: Whether no number of its motors is known.
    """

    name: str
    path: Path
    robot: str
    file: dict[str, str]
    published: tuple[dict[str, Any], ...]
    motors: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    unknown: bool

    @property
    def origin(self) -> str:
        """Where the robot's file comes from, in a few words."""
        if "shipped" in self.file:
            return f"pin_clusters, {self.file['shipped']}"
        return ", ".join(self.file[key][:40] for key in ("repository", "path") if key in self.file)

    @classmethod
    def read(cls, path: Path) -> "Sheet":
        """Read a sheet; what does not fit the keys of files of motors is a ``LoadError`` with its line."""
        found = read_motors(path)
        return cls(
            path.stem, path, found.get("robot", path.stem), found.get("file", {}), tuple(found.get("published", ())),
            tuple(found["motors"]), tuple(found.get("notes", ())), found.get("unknown") == "true",
        )  # fmt: skip


def _files() -> dict[str, Path]:
    place = robot_models()
    folder = place.joinpath("atlas") if place else None
    if folder is None or not folder.is_dir():
        raise LoadError("the sheets of the atlas are missing from this installation. Reinstall it.")
    return {path.stem: path for path in sorted(Path(str(folder)).glob("*.yaml"))}


def sheets() -> tuple[str, ...]:
    """Return the names of the robots of the atlas."""
    return tuple(_files())


def sheet(name: str) -> Sheet:
    """Return the sheet of a robot, by its name; another one is an ``UnknownNameError``."""
    files = _files()
    if name not in files:
        raise UnknownNameError(f"the atlas has no robot {name!r}.{did_you_mean(name, files, limit=len(files))}")
    return Sheet.read(files[name])
