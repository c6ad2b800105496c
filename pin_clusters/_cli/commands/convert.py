"""The command ``convert``."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from .. import common
from . import CONTEXT, INDEPENDENT

FORMATS = {".urdf": "URDF+", ".xml": "MJCF", ".mjcf": "MJCF"}
"""What is written, by the ending of the file."""


@click.command(context_settings=CONTEXT)
@click.argument("robot", metavar="IN")
@click.argument("target", metavar="OUT", type=click.Path(path_type=Path))
@click.option(
    "--approximation", type=click.Choice(["best", "diagonal", "exact"]),
    help="Of MJCF: what becomes of the rotors.  [default: best]",
)  # fmt: skip
@click.option("--meshes", is_flag=True, help="Of MJCF: draw the meshes of IN in place of boxes.")
@click.option("--timestep", type=float, help="Of MJCF, s.  [default: 0.001]")
@INDEPENDENT
@click.option("--force", is_flag=True, help="Replace OUT if it exists.")
def convert(
    robot: str, target: Path, approximation: Literal["best", "diagonal", "exact"] | None, meshes: bool,
    timestep: float | None, force: bool, independent: tuple[str, ...] | None,
) -> None:  # fmt: skip
    """Write a robot in another format.

    IN is the name of a robot that ships with the package, or a file; OUT says the format by its ending: .urdf for
    URDF+, which holds all of a model; .xml or .mjcf for a complete MuJoCo model. A comment at the top of OUT says what
    its format cannot hold. OUT is written whole, or not at all.

    \b
    Rotors in MuJoCo:
      best      armature of joints and of tendons: all of the mass matrix that is constant
      diagonal  armature of joints alone
      exact     bodies, tied by stiff equalities

    \b
    Examples:
      pin-clusters convert mini_cheetah mini_cheetah.xml
      pin-clusters convert ankle_2rsu ankle.xml --approximation exact
      pin-clusters convert my_robot.urdf my_robot.xml --meshes --force
      pin-clusters convert cassie_leg cassie_leg.urdf
    """  # noqa: D301 (click wants the character)
    from ...files import writers

    kind = FORMATS.get(target.suffix.lower())
    if kind is None:
        raise click.UsageError(f"{target} ends in {target.suffix!r}; the format is {', '.join(FORMATS)}.")
    given = {"--approximation": approximation, "--meshes": meshes, "--timestep": timestep}
    for option in (name for name, value in given.items() if value and kind != "MJCF"):
        raise click.UsageError(f"{option} has no meaning for {kind}.")
    if target.exists() and not target.is_dir() and not force:
        raise common.OutputError(f"{target} exists. Say --force to replace it, or choose another name.")
    model = common.with_independent(common.load(robot), independent)
    if kind == "URDF+":
        writers.to_urdf(model, target)
    else:
        options: dict[str, Any] = {} if timestep is None else {"timestep": timestep}
        if meshes:
            from ..view import meshes_of

            options["visual_model"] = meshes_of(model, robot)
        writers.to_mjcf(model, approximation or "best", file=target, **options)
    common.say_written(common.console(), target)
