"""The command ``simulate``, and its options, which ``view`` has too."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from .. import common
from . import CONTEXT, POSITIVE, ROBOT, of_robot

_OPTIONS = (
    click.option("--ground/--no-ground", default=None, help="A plane to fall on.  [default: if the base floats]"),
    click.option("--base", type=click.Choice(["fixed", "floating"]), help="[default: as the robot has it]"),
    click.option("--friction", type=click.FloatRange(0.0), default=0.8, show_default=True, help="Of the ground."),
    click.option("--height", type=float, default=0.0, show_default=True, help="Of the ground, m."),
    click.option("--drop", type=click.FloatRange(0.0), metavar="HEIGHT", help="Above the ground, m.  [default: 0.1]"),
    click.option(
        "--pose", multiple=True, metavar="JOINT=VALUE,...", help="Of the start, rad (m).  [default: the reference pose]"
    ),
    click.option(
        "--touching",
        multiple=True,
        metavar="NAME[=X,Y,Z;...]",
        help="What touches: frames, or points of frames or joints, m.  [default: the robot's shapes]",
    ),
    click.option(
        "--limits",
        type=click.Choice(["all", "position", "effort", "none"]),
        default="position",
        show_default=True,
        help="Joints stop at the ends of their ranges; torques at what motors give.",
    ),
    click.option("--kp", type=float, help="Of all driven joints, N m/rad (N/m).  [default: by weight]"),
    click.option("--kd", type=float, help="Of all driven joints, N m s/rad (N s/m).  [default: by kp]"),
    click.option("--dt", type=POSITIVE, default=1e-3, show_default=True, help="Step, s."),
)


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a simulation."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command(context_settings=CONTEXT)
@ROBOT
@click.option(
    "--out", multiple=True, type=click.Path(path_type=Path), metavar="FILE", help=".csv, .npz, .html or .png."
)
@click.option("--duration", type=POSITIVE, default=1.0, show_default=True, help="s.")
@options
@click.option(
    "--method", type=click.Choice(["rk4", "rkmk4", "semi_implicit", "moreau"]), help="[default: by the ground]"
)
@click.option("--ghost", metavar="RUNG", help="Of .html: an approximation beside it, translucent: diagonal, block, ...")
@of_robot
def simulate(
    robot: str,
    out: tuple[Path, ...],
    base: str | None,
    independent: tuple[str, ...] | None,
    **how: Any,
) -> None:
    """Simulate a robot that holds its pose: dropped on the ground, with exact gears and loops.

    Prints touch-downs, how well the laws of contact were kept, and what became of the loops. --out, several times,
    writes the motion: .csv as a table, .npz whole, .html as a page that plays, .png as curves.

    Motors hold the start by PD. By default kp is five times the robot's weight times the distance of its centre of mass
    from the joint, kd 0.04 s times that, both less where a light joint could not follow; torques that carry the robot
    in that pose are added, unless --kp is 0. Joints with springs are free. In --pose and --touching * is any text.

    \b
    Examples:
      pin-clusters simulate mini_cheetah --touching "*_knee=0,0,-0.195" --drop 0.3 --out drop.html
      pin-clusters simulate mini_cheetah --touching "*_knee=0,0,-0.195" --pose "*_hip=-0.8,*_knee=1.6"
      pin-clusters simulate four_bar --pose crank=0.5 --kp 0 --kd 0 --out swing.csv --out swing.npz
      pin-clusters simulate my_robot.urdf --base floating --friction 0.4 --duration 3
    """  # noqa: D301 (click wants the character)
    from .. import drop as work

    for file in out:
        if file.suffix.lower() not in work.FILES:
            raise click.UsageError(f"--out {file}: the ending says the format, one of {', '.join(work.FILES)}.")
        common.check_writable(file, "--out")
    if how["ghost"] and not any(file.suffix.lower() == ".html" for file in out):
        raise click.UsageError("--ghost is drawn in a page: say --out FILE.html too.")
    model = common.as_asked(work.load(robot, base), robot, independent)
    drop, console = work.of(model, **how), common.console()
    found, notes = work.run(drop)
    work.summarise(found, notes, console)
    if out:
        work.write(drop, found, notes, out)
        common.say_written(console, *out)
