"""The command ``identify``: parameters of a robot from a log."""

from pathlib import Path
from typing import Any

import click

from .. import common
from . import CONTEXT, POSITIVE, ROBOT, folder_of, of_robot, output


@click.command(context_settings=CONTEXT)
@ROBOT
@click.argument("log", type=click.Path(path_type=Path))
@output("identify")
@click.option("--what", multiple=True, metavar="KIND", help="Parameters: mass, '*knee*: coulomb', ...; repeatable.")
@click.option("--cutoff", type=POSITIVE, help="Filter cut-off, Hz.  [default: 2.5 times the motion's bandwidth]")
@click.option("--torque-constant", multiple=True, metavar="MOTOR=K", help="N m/A, if currents are logged; repeatable.")
@click.option("--span", type=(float, float), help="Start and end of the part of the log to use, s.")
@click.option(
    "--test", type=click.FloatRange(0, 1, True, True), default=0.3, show_default=True, help="Validation fraction."
)
@click.option("--degrees", is_flag=True, help="Angles of the log are in degrees.")
@click.option("--allow-saturated", is_flag=True, help="Accept columns that are constant at their extreme values.")
@click.option("--floating", is_flag=True, help="The base moves, and the log contains its motion.")
@of_robot
def identify(
    robot: str,
    log: Path,
    output: Path | None,
    what: tuple[str, ...],
    torque_constant: tuple[str, ...],
    floating: bool,
    independent: tuple[str, ...] | None,
    **options: Any,
) -> None:
    """Identify friction and inertias from a log of motion and torques.

    LOG is a .csv or .npz file, or the CSV file of a ROS bag's joint states. Its columns are time, JOINT (position),
    JOINT.v, JOINT.a, and MOTOR.tau, MOTOR.current or JOINT.tau. Kinds of parameters: rotor_inertia, viscous, coulomb
    (default: these three), mass, inertial, armature, efficiency, back_efficiency, joint_viscous, joint_coulomb, spring.
    The command writes identify.html, which works offline, and identify.json.

    \b
    Examples:
      pin-clusters identify mit_humanoid_leg leg.csv
      pin-clusters identify my_robot.urdf log.csv --motors my_robot.motors.yaml --what mass --what coulomb
    """  # noqa: D301 (click needs the backspace character)
    from ...studies.identify import identify
    from .. import tables

    folder, out = folder_of(output, "identify", robot), common.console()
    pairs = [x.rpartition("=") for x in torque_constant]
    try:
        options["torque_constant"] = {name: float(k) for name, _, k in pairs}
    except ValueError as error:
        raise click.UsageError(f"--torque-constant must be MOTOR=K: {error}.") from None
    model = common.with_options(common.load(robot, "default" if floating else None), robot, independent)
    with common.output_folder(folder):
        result = identify(model, log, **options | ({"what": what} if what else {}))
        numbers = zip(result.parameters, result.prior, result.estimate, result.error, result.units, strict=True)
        rows = [(name, *(f"{x:.4g}" for x in of), unit) for name, *of, unit in numbers]
        heads = ("parameter", "model", "estimate", "standard error", "unit")
        tables.put(out, tables.table_of(f"{result.robot}, from {result.log}", "lrrrl", heads, rows))
        ends = zip(result.parameters, *result.interval, strict=True)
        moved = [f"{name} ({low:.3g} to {high:.3g})" for name, low, high in ends if name in result.moved]
        groups = ("Not identifiable separately", result.unidentifiable), ("Weak", result.weak), ("At bounds", moved)
        for text, names in groups:
            tables.say(out, f"{text}: {', '.join(names)}.") if names else None
        with common.written(folder):
            files = result.write(folder)
    common.say_written(out, *files)
