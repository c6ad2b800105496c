"""Catalogue of the motors that are included in the package."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from .._support.shipped import robot_models
from ..errors import LoadError, UnknownNameError, did_you_mean
from .motor import Motor


@cache
def motors() -> Mapping[str, Motor]:
    """Return the read-only catalogue of motors by name; ``Motor.source`` cites the source of a motor's values.

    Raises:
        LoadError: The catalogue is missing from this installation.

    Example:
        >>> import pin_clusters as pc
        >>> pc.motors()["mini_cheetah_hip"].ratio
        6.0
    """
    import yaml

    folder = robot_models()
    if folder is None or not (file := folder.joinpath("motors.yaml")).is_file():
        raise LoadError("this installation lacks motors.yaml, the catalogue of motors. Reinstall pin_clusters.")
    catalogue = {}
    for name, entry in yaml.safe_load(file.read_text(encoding="utf-8")).items():
        sources = [entry.pop("about"), *(f"{k}: {x}" for k, x in entry.pop("source").items())]
        catalogue[name] = Motor(name=name, source="; ".join(sources), **entry)
    return MappingProxyType(catalogue)


def motor_of(given: Motor | str, owner: str) -> Motor:
    if not isinstance(given, Motor) and given not in motors():
        raise UnknownNameError(f"{owner}: pc.motors() contains no motor {given!r}.{did_you_mean(given, motors())}")
    return given if isinstance(given, Motor) else motors()[given]
