"""``pin-clusters convert``: a robot in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from ..files import writers
from . import common

FORMATS = {".urdf": "URDF+", ".xml": "MJCF", ".mjcf": "MJCF"}
"""What is written, by the ending of the file."""


def run(
    robot: str,
    target: Path,
    out: Console,
    approximation: str | None = None,
    meshes: bool = False,
    timestep: float | None = None,
    force: bool = False,
    independent: tuple[str, ...] | None = None,
) -> None:
    """Read a robot and write it; what may not be written is said before anything is read."""
    kind = FORMATS.get(target.suffix.lower())
    if kind is None:
        raise click.UsageError(f"{target} ends in {target.suffix!r}; the format is {', '.join(FORMATS)}.")
    given = {"--approximation": approximation, "--meshes": meshes, "--timestep": timestep}
    for option in (name for name, value in given.items() if value and kind != "MJCF"):
        raise click.UsageError(f"{option} has no meaning for {kind}.")
    if target.exists() and not target.is_dir() and not force:
        raise common.OutputError(f"{target} exists. Say --force to replace it, or choose another name.")
    model = common.load(robot, independent=independent)
    if kind == "URDF+":
        writers.to_urdf(model, target)
    else:
        options: dict[str, Any] = {} if timestep is None else {"timestep": timestep}
        if meshes:
            from .view import meshes_of

            options["visual_model"] = meshes_of(model, robot)
        writers.to_mjcf(model, approximation or "best", file=target, **options)  # type: ignore[arg-type]
    common.say_written(out, target)
