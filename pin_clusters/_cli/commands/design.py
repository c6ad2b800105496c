"""The command ``mechanism``."""

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
    help="Along which bearings and rods are loaded, as --trajectory of `study`.  [default: through the range]",
)
def mechanism(robot: str, output: Path | None, independent: tuple[str, ...] | None, motion: str | None) -> None:
    """What designers ask of a linkage: a page and tables.

    How far each joint goes through the loops, with the limits of all joints, and what ends it: a limit, a dead centre,
    a change point. Ratios, torque ratios and inertia over the range; the torques that the motors can make at the joints
    of a differential; what bearings and rods carry along a motion; how far joints move for a millimetre more in a
    length. Writes mechanism.html, one page that needs no network, and the numbers as CSV.

    Two independent joints of a cluster, such as the cranks of an ankle, are moved together; of other clusters each with
    the others at rest. Other ones by --independent.

    \b
    Examples:
      pin-clusters mechanism four_bar
      pin-clusters mechanism four_bar --independent coupler
      pin-clusters mechanism ankle_2rsu --output /tmp/ankle
      pin-clusters mechanism my_robot.urdf --motion gait.csv
    """  # noqa: D301 (click wants the character)
    from ...studies.design import mechanism
    from .. import study

    folder, out = folder_of(output, "mechanism", robot), common.console()
    trajectory = None if motion is None else study.trajectory_of(motion, {})
    model = common.load(robot, None) if trajectory is None else study.load(robot, None, trajectory)
    model = common.as_asked(model, robot, independent)
    with common.output_folder(folder):
        with common.ProgressBar("mechanism") as progress:
            result = mechanism(model, trajectory, progress=progress)
        _show(result, out)
        with common.written(folder):
            files = result.write(folder)
    common.say_written(out, *files)


def _show(result: "MechanismResult", out: "Console") -> None:
    """Print how far each joint goes, and what is carried."""
    from ...studies.design.words import number, part, row
    from .. import tables

    rotors = {c.name for p in result.parts for s in p.sweeps for c in s.joints if c.rotor}
    rows = []
    for r in result.ranges:
        if r.joint in rotors:
            continue
        rows.append((r.joint, *row(r, result.part(r.joint).region)))
    heads = ("joint", "from", "to", "what ends it", "one at a time")
    tables.put(out, tables.table_of("How far each joint goes", "lrrll", heads, rows))
    worst = max(result.loads.parts, key=lambda x: x.force)
    force = f"{number(worst.force)} N at {part(worst.part)}"
    tables.say(out, f"Largest force: {force}, {worst.force_time:.2f} s into the motion ({result.loads.motion}).")
    for note in result.notes:
        tables.say(out, note)
