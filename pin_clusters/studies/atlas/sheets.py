"""The sheets of the atlas: files of motors that also say where the robot's file is and what others published."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..._support.shipped import robot_models
from ...errors import LoadError, UnknownNameError, did_you_mean
from ...files.readers.motors import read_motors


@dataclass(frozen=True)
class Sheet:
    """What is known of a robot: the keys of ``files.motor_keys.FILE``.

    Attributes:
        name: Of the sheet.
        path: Where it is; ``--motors`` takes it as it is.
        robot: What robot it is.
        file: Where the robot's file comes from; empty if there is none.
        published: Armature that files of others give it.
        motors: As in any file of motors.
        notes: What else is to be known.
        unknown: Whether no number of its motors is known.
    """

    name: str
    path: Path
    robot: str
    file: dict[str, Any]
    published: tuple[dict[str, Any], ...]
    motors: tuple[dict[str, Any], ...]
    notes: tuple[str, ...]
    unknown: bool

    @property
    def origin(self) -> str:
        """Where the robot's file comes from, in a few words."""
        if "shipped" in self.file:
            return f"pin_clusters, {self.file['shipped']}"
        return ", ".join(self.file[key] for key in ("repository", "path") if key in self.file)


def _files() -> dict[str, Path]:
    place = robot_models()
    found = {x.stem: x for x in sorted(Path(str(place.joinpath("atlas"))).glob("*.yaml"))} if place else {}
    if not found:
        raise LoadError("the sheets of the atlas are missing from this installation. Reinstall it.")
    return found


def sheets() -> tuple[str, ...]:
    """Return the names of the robots of the atlas."""
    return tuple(_files())


def sheet(name: str) -> Sheet:
    """Return the sheet of a robot.

    Raises:
        UnknownNameError: There is none of that name.
        LoadError: It does not fit the keys of files of motors; the message has its line.
    """
    files = _files()
    if name not in files:
        raise UnknownNameError(f"the atlas has no robot {name!r}.{did_you_mean(name, files, limit=len(files))}")
    found = read_motors(files[name])
    return Sheet(
        name, files[name], found.get("robot", name), found.get("file", {}), tuple(found.get("published", ())),
        tuple(found["motors"]), tuple(found.get("notes", ())), found.get("unknown") == "true",
    )  # fmt: skip
