"""Robots of the package robot_descriptions, by the names of its modules, such as ``g1_mj_description``."""

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

from ...errors import LoadError, did_you_mean

ENDING = "_description"
PACKAGE = "robot_descriptions"


def names() -> tuple[str, ...]:
    """Return the names of its robots, none where it is not installed."""
    found = find_spec(PACKAGE)
    places = (found and found.submodule_search_locations) or ()
    return tuple(m.name for m in iter_modules(places) if m.name.endswith(ENDING))


def described(file: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Return the path of the robot that a name stands for, fetched if need be; all else is returned as it is.

    Raises:
        LoadError: robot_descriptions is not installed, has no such robot, no URDF or MJCF of it, or cannot fetch it.
    """
    if not (isinstance(file, str) and file.isidentifier() and file.endswith(ENDING)) or os.path.lexists(file):
        return file
    if find_spec(PACKAGE) is None:
        raise LoadError(f"{file!r} is no file, and {PACKAGE}, which has such names, is missing: pip install {PACKAGE}")
    if file not in (known := names()):
        raise LoadError(f"{PACKAGE} has no robot {file!r}, and there is no such file.{did_you_mean(file, known)}")
    try:
        module = import_module(f"{PACKAGE}.{file}")
    except Exception as error:  # git's, the network's, the disk's
        raise LoadError(f"{PACKAGE} cannot fetch {file!r}: {' '.join(str(error).split())[:300]}") from error
    path = getattr(module, "URDF_PATH", None) or getattr(module, "MJCF_PATH", None)
    if path is None:
        raise LoadError(
            f"{file!r} of {PACKAGE} has neither URDF_PATH nor MJCF_PATH: expand its xacro, and give the file."
        )
    return Path(path)
