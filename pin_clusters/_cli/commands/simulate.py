"""Define the command ``simulate``, and its options, which ``view`` also uses."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from .. import common
from . import CONTEXT, POSITIVE, ROBOT, of_robot

_OPTIONS = (
    click.option("--ground/--no-ground", default=None, help="Add a ground plane.  [default: if the base floats]"),
    click.option("--base", type=click.Choice(["fixed", "floating"]), help="[default: base of the robot]"),
    click.option("--friction", type=click.FloatRange(0.0), default=0.8, show_default=True, help="Coulomb friction."),
    click.option("--height", type=float, default=0.0, show_default=True, help="Height of the ground, m."),
    click.option("--drop", type=click.FloatRange(0.0), metavar="HEIGHT", help="Drop height, m.  [default: 0.1]"),
    click.option("--pose", multiple=True, metavar="JOINT=VALUE,...", help="Start pose, rad (m).  [default: reference]"),
    click.option(
        "--touching",
        multiple=True,
        metavar="NAME[=X,Y,Z;...]",
        help="Contact points relative to a joint or frame, m; by default its origin.  [default: the collision shapes]",
    ),
    click.option(
        "--limits",
        type=click.Choice(["all", "position", "effort", "none"]),
        default="position",
        show_default=True,
        help="Enforce the position limits of joints, the torque limits of motors (effort), or all limits.",
    ),
    click.option("--kp", type=float, help="Stiffness of all driven joints, N m/rad (N/m).  [default: by weight]"),
    click.option("--kd", type=float, help="Damping of all driven joints, N m s/rad (N s/m).  [default: by kp]"),
    click.option("--dt", type=POSITIVE, default=1e-3, show_default=True, help="Time step, s."),
)


def options(command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


@click.command(context_settings=CONTEXT)
@ROBOT
@click.option(
    "--out", multiple=True, type=click.Path(path_type=Path), metavar="FILE", help="Write a .csv, .npz, .html or .png."
)
@click.option("--duration", type=POSITIVE, default=1.0, show_default=True, help="Duration, s.")
@options
@click.option(
    "--method", type=click.Choice(["rk4", "rkmk4", "semi_implicit", "moreau"]), help="[default: by the ground]"
)
@click.option("--ghost", metavar="APPROXIMATION", help="For .html: also show an approximation: diagonal, block, ...")
@of_robot
def simulate(
    robot: str,
    out: tuple[Path, ...],
    base: str | None,
    independent: tuple[str, ...] | None,
    **how: Any,
) -> None:
    """Simulate a robot that holds its pose or falls on the ground.

    The command prints touch-downs, errors of the contact laws, and the residual of the loops. --out writes the motion
    as a table (.csv), all arrays (.npz), an animated page (.html) or curves (.png).

    PD control holds the start pose. By default, kp is five times the robot's weight times the distance of its centre of
    mass from the joint, and kd is 0.04 s times kp. The gains are smaller at light joints that would otherwise be
    unstable. The static (gravity-compensation) torques of the start pose are added unless --kp is 0. Joints with
    springs are not controlled. In --pose and --touching, * matches any text.

    \b
    Examples:
      pin-clusters simulate mini_cheetah --touching "*_knee=0,0,-0.195" --drop 0.3 --out drop.html
      pin-clusters simulate mini_cheetah --touching "*_knee=0,0,-0.195" --pose "*_hip=-0.8,*_knee=1.6"
      pin-clusters simulate four_bar --pose crank=0.5 --kp 0 --kd 0 --out swing.csv --out swing.npz
      pin-clusters simulate my_robot.urdf --base floating --friction 0.4 --duration 3
    """  # noqa: D301 (click needs the backspace character)
    from .. import drop as work

    for file in out:
        if file.suffix.lower() not in work.FILES:
            raise click.UsageError(f"--out {file}: the file extension must be one of {', '.join(work.FILES)}.")
        common.check_writable(file, "--out")
    if how["ghost"] and not any(file.suffix.lower() == ".html" for file in out):
        raise click.UsageError("--ghost requires an HTML page. Add --out FILE.html.")
    model = common.with_options(work.load(robot, base), robot, independent)
    drop, console = work.of(model, **how), common.console()
    result, notes = work.run(drop)
    work.summarise(result, notes, console)
    if out:
        work.write(drop, result, notes, out)
        common.say_written(console, *out)
