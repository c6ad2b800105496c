"""Motions that ship with the package: ``motions/*.csv`` beside the models of their robots."""

from typing import TYPE_CHECKING, Any

from ....errors import UnknownNameError, did_you_mean
from ....files.readers.library import folders
from .files import parse_csv
from .recorded import Recorded

if TYPE_CHECKING:
    from importlib.abc import Traversable


def motions() -> tuple[str, ...]:
    """Return the names of the motions that ship with the package, sorted; ``motion`` loads them."""
    return tuple(sorted(_files()))


def motion(name: str, **options: Any) -> Recorded:
    """Return a motion that ships with the package.

    They are made, not measured (``benchmarks/make_motions.py``), for the robot of that name, with a floating base.

    Args:
        name: One of ``motions``.
        options: ``dt``, ``cutoff``, ``missing``, as in ``Recorded``.

    Raises:
        UnknownNameError: There is no such motion.

    Example:
        >>> from pin_clusters.studies.study import trajectories
        >>> trajectories.motion("mini_cheetah_trot").moves_base
        True
    """
    files = _files()
    if name not in files:
        raise UnknownNameError(f"there is no motion {name!r}.{did_you_mean(str(name), motions(), limit=40)}")
    text = files[name].read_text(encoding="utf-8")
    return Recorded.from_columns(parse_csv(text, name), **({"name": name} | options))


def robot_of(name: str) -> str:
    """Return the robot that a shipped motion was made for."""
    return name.rpartition("_")[0]


def _files() -> "dict[str, Traversable]":
    """Return the files of the motions: ``robot_models/ROBOT/motions/KIND.csv`` is ``ROBOT_KIND``."""
    places = {robot: folder.joinpath("motions") for robot, folder in folders().items()}
    return {
        f"{robot}_{file.name.removesuffix('.csv')}": file
        for robot, place in places.items()
        if place.is_dir()
        for file in place.iterdir()
    }
