"""The command ``pin-clusters``."""

from typing import Any

import click

from pin_clusters_command import INTERRUPTED

from .._support.version import __version__
from ..errors import PinClustersError
from . import common
from .commands import CONTEXT, accuracy, atlas, design, export, identify, paper, robot, simulate, sweep


class _Commands(click.Group):
    """A group that turns the user's mistakes into one line and exit code 1, and Ctrl-C into one and 130."""

    def invoke(self, ctx: click.Context) -> Any:
        with common.warnings_as_lines():
            try:
                return super().invoke(ctx)
            except PinClustersError as error:
                common.error_line(error)
                ctx.exit(1)
            except KeyboardInterrupt as stop:  # what long work has to say about it is in the exception
                common.error_line(str(stop) or "interrupted.")
                ctx.exit(INTERRUPTED)


@click.group(cls=_Commands, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="pin-clusters")
def main() -> None:
    """Exact dynamics of robots with gears, belts and closed loops, on top of Pinocchio.

    \b
    Examples:
      pin-clusters study mit_humanoid_leg     what the armature approximation gets wrong
      pin-clusters study tello                the same for closed loops and differentials
      pin-clusters audit mit_humanoid         is armature enough? one page that says so
      pin-clusters atlas                      the same of 33 robots that people own
      pin-clusters mechanism ankle_2rsu       how far, how strong, what its rods carry: one page
      pin-clusters identify leg.urdf log.csv  friction, inertias and more, from a log
      pin-clusters info mini_cheetah          what a robot is made of
      pin-clusters info my_robot.urdf         the same of URDF, URDF+, MJCF, SDF, YAML
      pin-clusters info                       versions, and whether the C extension takes the calls
      pin-clusters motors my_robot.urdf       a file of its motors, to fill in
      pin-clusters bench mit_humanoid         time per call against Pinocchio
      pin-clusters view tello                 look at it in the browser
      pin-clusters simulate mini_cheetah      drop it on the ground
      pin-clusters sweep ratio mit_humanoid   what armature misses, against the gear ratio
      pin-clusters paper --quick              the papers' tables and figures, measured
      pin-clusters export mini_cheetah        C code of a robot, for a controller
      pin-clusters convert tello tello.urdf   URDF+ or MJCF, for other programs

    Exit codes: 0 done, 1 a mistake in the input (one line on stderr says which), 2 wrong usage, 130 Ctrl-C.
    """  # noqa: D301 (click wants the character)


for command in (
    robot.info,
    robot.bench,
    robot.view,
    simulate.simulate,
    export.export,
    export.convert,
    export.motors,
    accuracy.study,
    accuracy.audit,
    atlas.atlas,
    design.mechanism,
    identify.identify,
    sweep.sweep,
    paper.paper,
):
    main.add_command(command)


if __name__ == "__main__":
    main()
