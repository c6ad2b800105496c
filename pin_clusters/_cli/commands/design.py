"""The command ``mechanism``."""

from __future__ import annotations

from pathlib import Path

import click

from .. import common
from . import CONTEXT, INDEPENDENT, ROBOT, folder_of, output


@click.command(context_settings=CONTEXT)
@ROBOT
@output("mechanism")
@INDEPENDENT
@click.option(
    "--motion", metavar="NAME|FILE",
    help="Along which bearings and rods are loaded, as --trajectory of `study`.  [default: through the range]",
)  # fmt: skip
def mechanism(robot: str, output: Path | None, independent: tuple[str, ...] | None, motion: str | None) -> None:
    """What designers ask of a linkage: a page and tables.

    How far each joint goes through the loops, with the limits of all joints, and what ends it: a limit, a dead centre,
    a change point. Ratios, torque ratios and inertia over the range; the torques that the motors can make at the joints
    of a differential; what bearings and rods carry along a motion; how far joints move for a millimetre more in a
    length. Writes mechanism.html, one page that needs no network, and the numbers as CSV.

    Each independent joint is moved with the others at rest; other ones by --independent.

    \b
    Examples:
      pin-clusters mechanism four_bar
      pin-clusters mechanism four_bar --independent coupler
      pin-clusters mechanism ankle_2rsu --output /tmp/ankle
      pin-clusters mechanism my_robot.urdf --motion gait.csv
    """  # noqa: D301 (click wants the character)
    from .. import mechanism as command

    folder = folder_of(output, "mechanism", robot)
    command.run(robot, folder, common.console(), motion=motion, independent=independent)
