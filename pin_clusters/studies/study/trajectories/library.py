"""Motions that ship with the package."""

from __future__ import annotations

import importlib.resources
from typing import Any

from ....errors import UnknownNameError, did_you_mean
from .files import parse_csv
from .recorded import Recorded


def motions() -> tuple[str, ...]:
    """Return the names of the motions that ship with the package, sorted; ``motion`` loads them."""
    return tuple(sorted(x.name[:-4] for x in _folder().iterdir() if x.name.endswith(".csv")))


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
    if name not in motions():
        raise UnknownNameError(f"there is no motion {name!r}.{did_you_mean(str(name), motions(), limit=40)}")
    text = _folder().joinpath(f"{name}.csv").read_text(encoding="utf-8")
    return Recorded.from_columns(parse_csv(text, name), **({"name": name} | options))


def robot_of(name: str) -> str:
    """Return the robot that a shipped motion was made for."""
    return name.rpartition("_")[0]


def _folder() -> Any:
    return importlib.resources.files("pin_clusters.studies.study").joinpath("motions")
