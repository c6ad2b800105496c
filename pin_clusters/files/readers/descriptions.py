"""Find robots in the package robot_descriptions by module name, such as ``g1_mj_description``."""

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules

from ...errors import LoadError, did_you_mean

ENDING = "_description"
PACKAGE = "robot_descriptions"


def names() -> tuple[str, ...]:
    spec = find_spec(PACKAGE)
    places = (spec and spec.submodule_search_locations) or ()
    return tuple(m.name for m in iter_modules(places) if m.name.endswith(ENDING))


def described(file: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """Return the path of a robot of robot_descriptions, downloaded if necessary; return other arguments unchanged."""
    if not (isinstance(file, str) and file.isidentifier() and file.endswith(ENDING)) or os.path.lexists(file):
        return file
    if find_spec(PACKAGE) is None:
        raise LoadError(f"No such file: {file!r}. To load robots of {PACKAGE}, install it: pip install {PACKAGE}")
    if file not in (available := names()):
        raise LoadError(f"No such file or robot of {PACKAGE}: {file!r}.{did_you_mean(file, available)}")
    try:
        module = import_module(f"{PACKAGE}.{file}")
    except Exception as error:  # Git, network and disk errors have many classes.
        raise LoadError(f"{PACKAGE} cannot download {file!r}: {' '.join(str(error).split())[:300]}") from error
    path = getattr(module, "URDF_PATH", None) or getattr(module, "MJCF_PATH", None)
    if path is None:
        raise LoadError(f"{file!r} of {PACKAGE} has no URDF or MJCF file. Expand its xacro, and pass the file.")
    return Path(path)
