"""The command ``export``."""

from __future__ import annotations

from pathlib import Path

import click

from .. import common
from . import CONTEXT, INDEPENDENT, ROBOT, folder_of, names, output


@click.command(context_settings=CONTEXT)
@ROBOT
@click.option(
    "--functions", metavar="NAME,NAME,...", callback=names, default="rnea,aba", show_default=True,
    help="What is exported: names of pc.tracing.FUNCTIONS, and step.",
)  # fmt: skip
@output("export")
@click.option(
    "--real", type=click.Choice(["double", "float"]), default="double", show_default=True, help="All numbers."
)
@click.option("--frames", metavar="NAME,...", callback=names, help="Frames, for functions that are about some.")
@click.option("--target", metavar="CPU|TRIPLE[,CPU]", help="Machine of ROBOT.o and ROBOT.so.  [default: this one]")
@INDEPENDENT
@click.option("--name", help="What names of files and functions begin with.  [default: the robot's]")
def export(
    robot: str, functions: tuple[str, ...], output: Path | None, real: str, frames: tuple[str, ...] | None,
    target: str | None, independent: tuple[str, ...] | None, name: str | None,
) -> None:  # fmt: skip
    """Write C code of a robot for a controller.

    The folder gets ROBOT.c and ROBOT.h (C99, which need sin, cos and sqrt of the C library and nothing else), ROBOT.hpp
    (the same on Eigen's vectors), ROBOT.o and ROBOT.so in machine code, CMakeLists.txt, ROBOT.pc for pkg-config, and
    test/ROBOT_test.c, which compares with numbers of this package. All is written, or nothing.

    Each function is `void ROBOT_aba(const double *q, const double *v, const double *tau, double *ddq)`: exact, without
    allocation, loops, or anything kept between calls. With closed loops q must be assembled; `step` moves it, with a
    fixed number of Newton steps, and returns the residual.

    \b
    Examples:
      pin-clusters export mini_cheetah
      pin-clusters export tello --functions rnea,aba,step -o tello_c
      pin-clusters export mit_humanoid_leg --real float --target armv7-linux-gnueabihf,cortex-a9
      pin-clusters export my_robot.urdf --functions computeFrameJacobian --frames foot
    """  # noqa: D301 (click wants the character)
    from ..._engine.operations import BY_NAME
    from ...programs import codegen
    from .. import compile

    model = common.with_independent(common.load(robot), independent)
    folder = folder_of(output, "export", robot)
    # whose numbers go into the test
    declared = [BY_NAME[function] for function in functions if function in BY_NAME]
    with compile.prepared(model, *(one.operation.name for one in declared if one.specialised)):
        made = codegen.export(model, folder, functions, real=real, frames=frames, target=target, name=name)
    for note in made.notes:
        click.secho(f"note: {note}", fg="yellow", err=True)
    common.say_written(common.console(), *made.files)
