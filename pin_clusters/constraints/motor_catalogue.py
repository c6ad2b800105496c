"""Motors that ship with the package, by name."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from .._support.shipped import robot_models
from ..errors import LoadError, UnknownNameError, did_you_mean
from .motor import Motor

FILE = "motors.yaml"


@cache
def motors() -> Mapping[str, Motor]:
    """Return the catalogue of motors by name, read-only; each says where its numbers come from.

    Raises:
        LoadError: This installation has no catalogue.

    Example:
        >>> import pin_clusters as pc
        >>> pc.motors()["mini_cheetah_hip"].ratio
        6.0
    """
    import yaml

    folder = robot_models()
    if folder is None or not (file := folder.joinpath(FILE)).is_file():
        raise LoadError("the motors that ship with pin_clusters are missing from this installation. Reinstall it.")
    found = {}
    for name, entry in yaml.safe_load(file.read_text(encoding="utf-8")).items():
        about, sources = entry.pop("about"), entry.pop("source")
        said = "; ".join([about, *(f"{k}: {x}" for k, x in sources.items())])
        found[name] = Motor(name=name, source=said, **entry)
    return MappingProxyType(found)


def motor_of(given: Motor | str, owner: str) -> Motor:
    """Return a motor, or that of the catalogue that has the name.

    Raises:
        UnknownNameError: There is none of that name.
    """
    if isinstance(given, Motor):
        return given
    if given not in motors():
        raise UnknownNameError(f"{owner}: there is no motor {given!r} in pc.motors().{did_you_mean(given, motors())}")
    return motors()[given]
