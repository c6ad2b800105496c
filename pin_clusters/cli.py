"""The command ``pin-clusters``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from . import __version__
from .errors import PinClustersError

_CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
_POSITIVE = click.FloatRange(min=0.0, min_open=True)


class _Commands(click.Group):
    """A group that turns the user's mistakes into one line and exit code 1."""

    def invoke(self, ctx: click.Context) -> Any:
        from ._cli import common

        with common.warnings_as_lines():
            try:
                return super().invoke(ctx)
            except PinClustersError as error:
                common.error_line(error)
                ctx.exit(1)


@click.group(cls=_Commands, context_settings=_CONTEXT)
@click.version_option(__version__, prog_name="pin-clusters")
def main() -> None:
    """Exact dynamics of robots with gears, belts and closed loops, on top of Pinocchio.

    \b
    Examples:
      pin-clusters study mit_humanoid_leg     what the armature approximation gets wrong
      pin-clusters study tello                the same for closed loops and differentials
      pin-clusters info mini_cheetah          what a robot is made of
      pin-clusters info my_robot.urdf         the same for a URDF or URDF+ file
      pin-clusters bench mit_humanoid         time per call against Pinocchio

    Exit codes: 0 done, 1 a mistake in the input (one line on stderr says which), 2 wrong usage.
    """  # noqa: D301 (click wants the character)


@main.command(context_settings=_CONTEXT)
@click.argument("robot", metavar="ROBOT|FILE")
def info(robot: str) -> None:
    """Show clusters, closed loops, rotors and reflected inertia.

    ROBOT is the name of a robot that ships with the package, FILE a URDF or URDF+ file. Warnings about the description
    go to stderr.

    \b
    Examples:
      pin-clusters info mit_humanoid
      pin-clusters info tello
      pin-clusters info robots/arm.urdf
    """  # noqa: D301 (click wants the character)
    from ._cli import common
    from ._cli import info as command

    command.show(common.load(robot), common.console())


@main.command(context_settings=_CONTEXT)
@click.argument("robot", metavar="ROBOT|FILE")
@click.option("--repeats", type=click.IntRange(3, 1000), default=25, show_default=True, help="Blocks of each function.")
def bench(robot: str, repeats: int) -> None:
    """Time rnea, aba and crba against Pinocchio.

    Pinocchio computes the approximate robot (armature, no rotors), this package the exact one; calls are
    interleaved. A robot with closed loops has no such approximation: its rivals are projection and, where it can
    express the loops, pin.constraintDynamics. The first run compiles kernels.

    \b
    Examples:
      pin-clusters bench mit_humanoid
      pin-clusters bench jvrc1 --repeats 100
      pin-clusters bench tello
    """  # noqa: D301 (click wants the character)
    from ._cli import bench as command
    from ._cli import common

    model = common.load(robot)
    with common.ProgressBar("timing") as progress:
        found = command.measure(model, repeats=repeats, progress=progress)
    command.show(model, found, common.console())


@main.command(context_settings=_CONTEXT)
@click.argument("robot", metavar="ROBOT|FILE")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Folder of the results.  [default: ./study_ROBOT]"
)
@click.option("--amplitude", type=_POSITIVE, default=0.5, show_default=True, help="Amplitude of each joint, rad (m).")
@click.option("--frequency", type=_POSITIVE, default=1.5, show_default=True, help="Frequency, Hz.")
@click.option("--duration", type=_POSITIVE, default=5.0, show_default=True, help="Duration, s.")
@click.option("--dt", type=_POSITIVE, default=5e-4, show_default=True, help="Time between samples, s.")
@click.option("--drop-rotors", is_flag=True, help="Leave the rotors out of the approximations, mass and all.")
def study(
    robot: str,
    output: Path | None,
    amplitude: float,
    frequency: float,
    duration: float,
    dt: float,
    drop_rotors: bool,
) -> None:
    """Compare exact joint torques with approximations along a sine.

    Every independent joint moves as A sin(2 pi f t), the base is fixed. The approximations: no armature; diagonal
    armature (Pinocchio, MuJoCo); block armature, with the off-diagonal terms of belts. Prints a table and writes
    study.json and study.png.

    Robots with closed loops move about their reference pose, and A is cut if the loops cannot follow so far (said on
    screen, in study.json and in the plot). Their approximations:

    \b
      unconstrained          the independent joints' own rows of the spanning tree,
                             tau = M_ii a + h_i, without what the dependents carry
      frozen loops           the coupling G0 of the reference pose at every pose, as
                             if the loops were gears: tau = G0' rnea(q, G0 v, G0 a)
                             with rnea of the spanning tree
      exact loops, no rotor  (if it has rotors) the rotors do not spin
      exact loops, armature  (if it has rotors) J ratio^2 of each rotor as armature
                             of the joints that drive it

    \b
    Examples:
      pin-clusters study mit_humanoid_leg
      pin-clusters study tello
      pin-clusters study mit_humanoid_leg --drop-rotors --output /tmp/dropped
      pin-clusters study my_robot.urdf --amplitude 0.2 --frequency 3
    """  # noqa: D301 (click wants the character)
    from ._cli import common
    from ._cli import study as command

    folder = Path(f"study_{common.short_name(robot)}") if output is None else output
    command.run(
        robot, folder, common.console(), amplitude=amplitude, frequency=frequency, duration=duration, dt=dt,
        drop_rotors=drop_rotors,
    )  # fmt: skip


if __name__ == "__main__":
    main()
