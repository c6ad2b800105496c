"""The command ``convert``."""

from __future__ import annotations

from pathlib import Path

import click

from .. import common
from . import CONTEXT, INDEPENDENT


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
    robot: str, target: Path, approximation: str | None, meshes: bool, timestep: float | None, force: bool,
    independent: tuple[str, ...] | None,
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
    from .. import convert as command

    command.run(robot, target, common.console(), approximation, meshes, timestep, force, independent)
