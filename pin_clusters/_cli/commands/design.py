"""The command ``mechanism``: ranges, deliverable torques and loads of a linkage."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import common
from . import CONTEXT, ROBOT, folder_of, of_robot, output

if TYPE_CHECKING:
    from rich.console import Console

    from ...studies.design import MechanismResult


@click.command(context_settings=CONTEXT)
@ROBOT
@output("mechanism")
@of_robot
@click.option(
    "--motion",
    metavar="NAME|FILE",
    help="Motion for the loads of bearings and rods, see --trajectory of `study`.  [default: through the range]",
)
def mechanism(robot: str, output: Path | None, independent: tuple[str, ...] | None, motion: str | None) -> None:
    """Write a page about a linkage: ranges, ratios, deliverable torques, loads.

    The page shows the range of each joint within the limits of all joints, and the cause of each end: a limit, a
    singularity (dead centre) or a bifurcation (change point). It shows ratios, torque ratios and inertia over the
    range, the deliverable torques of differentials, the loads of bearings and rods along a motion, and joint
    displacements per millimetre of length error. mechanism.html works offline; the numbers are also written as CSV.

    Each independent joint moves while the other independent joints rest. For two independent joints, such as the cranks
    of an ankle, the page also shows their combined range. --independent selects other independent joints.

    \b
    Examples:
      pin-clusters mechanism four_bar
      pin-clusters mechanism four_bar --independent coupler
      pin-clusters mechanism ankle_2rsu --output /tmp/ankle
      pin-clusters mechanism my_robot.urdf --motion gait.csv
    """  # noqa: D301 (click needs the backspace character)
    from ...studies.design import mechanism
    from .. import study

    folder, out = folder_of(output, "mechanism", robot), common.console()
    trajectory = None if motion is None else study.trajectory_of(motion, {})
    model = common.load(robot, None) if trajectory is None else study.load(robot, None, trajectory)
    model = common.with_options(model, robot, independent)
    with common.output_folder(folder):
        with common.ProgressBar("mechanism") as progress:
            result = mechanism(model, trajectory, progress=progress)
        _show(result, out)
        with common.written(folder):
            files = result.write(folder)
    common.say_written(out, *files)


def _show(result: "MechanismResult", out: "Console") -> None:
    from ...studies.design.words import number, part, row
    from .. import tables

    rotors = {c.name for p in result.parts for s in p.sweeps for c in s.joints if c.rotor}
    rows = []
    for r in result.ranges:
        if r.joint in rotors:
            continue
        rows.append((r.joint, *row(r, result.part(r.joint).region)))
    heads = ("joint", "from", "to", "ends at", "one at a time")
    tables.put(out, tables.table_of("Range of each joint", "lrrll", heads, rows))
    worst = max(result.loads.parts, key=lambda x: x.force)
    force = f"{number(worst.force)} N at {part(worst.part)}"
    tables.say(out, f"Largest force: {force}, {worst.force_time:.2f} s into the motion ({result.loads.motion}).")
    for note in result.notes:
        tables.say(out, note)
