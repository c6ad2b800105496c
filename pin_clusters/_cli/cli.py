"""The command ``pin-clusters``."""

from typing import Any

import click

from pin_clusters_command import INTERRUPTED

from .._support.version import __version__
from ..errors import PinClustersError
from . import common
from .commands import CONTEXT, accuracy, atlas, design, export, identify, mujoco, paper, robot, simulate, sweep, worlds


class _Commands(click.Group):
    """A command group that prints package errors in one line (exit code 1) and handles Ctrl-C (exit code 130)."""

    def invoke(self, ctx: click.Context) -> Any:
        with common.warnings_as_lines():
            try:
                return super().invoke(ctx)
            except PinClustersError as error:
                common.error_line(error)
                ctx.exit(1)
            except KeyboardInterrupt as stop:  # For a sweep, the message contains the number of finished robots.
                common.error_line(str(stop) or "interrupted.")
                ctx.exit(INTERRUPTED)


@click.group(cls=_Commands, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="pin-clusters")
def main() -> None:
    """Exact dynamics of robots with gears, belts and closed loops, on top of Pinocchio.

    \b
    Examples:
      pin-clusters study mit_humanoid_leg     torque errors of armature approximations
      pin-clusters study tello                torque errors with closed loops and differentials
      pin-clusters audit mit_humanoid         one-page verdict: is armature accurate enough?
      pin-clusters atlas                      audits of 33 commercial and research robots
      pin-clusters mechanism ankle_2rsu       ranges, deliverable torques and loads of a linkage
      pin-clusters identify leg.urdf log.csv  friction and inertias from a log
      pin-clusters info mini_cheetah          clusters, rotors and reflected inertia
      pin-clusters info my_robot.urdf         reads URDF, URDF+, MJCF, SDF and YAML
      pin-clusters info                       versions, and whether the C extension is active
      pin-clusters motors my_robot.urdf       template of a motor file
      pin-clusters bench mit_humanoid         time per call against Pinocchio
      pin-clusters view tello                 show the robot in the browser
      pin-clusters simulate mini_cheetah      drop the robot on the ground
      pin-clusters worlds mini_cheetah        steps per second of many robots side by side
      pin-clusters mujoco mit_humanoid        errors of armature in MuJoCo, and their correction
      pin-clusters sweep ratio mit_humanoid   error of armature against the gear ratio
      pin-clusters paper --quick              measured tables and figures of the papers
      pin-clusters export mini_cheetah        C code for a controller
      pin-clusters convert tello tello.urdf   URDF+ or MJCF for other programs

    Exit codes: 0 success; 1 invalid input, described in one line on stderr; 2 wrong usage; 130 Ctrl-C.
    """  # noqa: D301 (click needs the backspace character)


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
    worlds.worlds,
    mujoco.mujoco,
):
    main.add_command(command)


if __name__ == "__main__":
    main()
