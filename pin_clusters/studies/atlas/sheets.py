"""Read the sheets of the atlas: motor files that also contain published armature and the robot file's origin."""

from pathlib import Path
from typing import Any, NamedTuple

from ..._support.shipped import robot_models
from ...errors import LoadError, UnknownNameError, did_you_mean
from ...files.readers.motors import read_motors


class Sheet(NamedTuple):
    """Content of a sheet; ``files.motor_keys.FILE`` describes its keys. The option ``--motors`` also accepts sheets."""

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
        """Short description of the robot file's origin."""
        if "shipped" in self.file:
            return f"pin_clusters, {self.file['shipped']}"
        return ", ".join(self.file[key] for key in ("repository", "path") if key in self.file)


def _files() -> dict[str, Path]:
    folder = robot_models()
    files = {x.stem: x for x in sorted(Path(str(folder.joinpath("atlas"))).glob("*.yaml"))} if folder else {}
    if not files:
        raise LoadError("the sheets of the atlas are missing from this installation. Reinstall pin_clusters.")
    return files


def sheets() -> tuple[str, ...]:
    """List the names of the sheets, one per robot."""
    return tuple(_files())


def sheet(name: str) -> Sheet:
    """Read the sheet of a robot. An invalid sheet raises ``LoadError``; the message states the line."""
    files = _files()
    if name not in files:
        raise UnknownNameError(f"the atlas has no robot {name!r}.{did_you_mean(name, files, limit=len(files))}")
    content = read_motors(files[name])
    return Sheet(
        name,
        files[name],
        content.get("robot", name),
        content.get("file", {}),
        tuple(content.get("published", ())),
        tuple(content["motors"]),
        tuple(content.get("notes", ())),
        content.get("unknown") == "true",
    )
