"""Load the motions that ship with the package, from ``motions/*.csv`` in the robots' folders."""

from typing import TYPE_CHECKING, Any

from ....errors import UnknownNameError, did_you_mean
from ....files.readers.library import folders
from .files import parse_csv
from .recorded import Recorded

if TYPE_CHECKING:
    from importlib.abc import Traversable


def motions() -> tuple[str, ...]:
    """List the motions that ship with the package, sorted by name; ``motion`` loads them."""
    return tuple(sorted(_files()))


def motion(name: str, **options: Any) -> Recorded:
    """Load a motion that ships with the package.

    The motions are synthetic (``benchmarks/make_motions.py``) and move robots with a floating base. A motion's name
    begins with the name of its robot.

    Args:
        name: One of the names that ``motions`` returns.
        options: ``dt``, ``cutoff`` and ``missing``, as in ``Recorded``.

    Raises:
        UnknownNameError: No motion has this name.

    Example:
        >>> from pin_clusters.studies.study import trajectories
        >>> trajectories.motion("mini_cheetah_trot").moves_base
        True
    """
    files = _files()
    if name not in files:
        raise UnknownNameError(f"no motion is named {name!r}.{did_you_mean(str(name), motions(), limit=40)}")
    text = files[name].read_text(encoding="utf-8")
    return Recorded.from_columns(parse_csv(text, name), **({"name": name} | options))


def robot_of(name: str) -> str:
    return name.rpartition("_")[0]


def _files() -> "dict[str, Traversable]":
    motion_folders = {robot: folder.joinpath("motions") for robot, folder in folders().items()}
    return {
        f"{robot}_{file.name.removesuffix('.csv')}": file
        for robot, motion_folder in motion_folders.items()
        if motion_folder.is_dir()
        for file in motion_folder.iterdir()
    }
