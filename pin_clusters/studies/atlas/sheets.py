"""The sheets of the atlas: files of motors that also say where the robot's file is and what others published."""

from pathlib import Path
from typing import Any, NamedTuple

from ..._support.shipped import robot_models
from ...errors import LoadError, UnknownNameError, did_you_mean
from ...files.readers.motors import read_motors


class Sheet(NamedTuple):
    """What is known of a robot, by the keys of ``files.motor_keys.FILE``; ``--motors`` takes its path as it is."""

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
    """Return the sheet of a robot; what does not fit the keys of files of motors is a ``LoadError`` with its line."""
    files = _files()
    if name not in files:
        raise UnknownNameError(f"the atlas has no robot {name!r}.{did_you_mean(name, files, limit=len(files))}")
    found = read_motors(files[name])
    return Sheet(
        name,
        files[name],
        found.get("robot", name),
        found.get("file", {}),
        tuple(found.get("published", ())),
        tuple(found["motors"]),
        tuple(found.get("notes", ())),
        found.get("unknown") == "true",
    )
