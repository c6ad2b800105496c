"""``pin-clusters mechanism``: what designers ask of a linkage, as a page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from ..studies.design import MechanismResult, mechanism
from ..studies.design.words import how_often, number, part, place, why
from ..studies.study import Trajectory
from . import common, compile, study, tables


def run(
    robot: str, folder: Path, out: Console, *, motion: str | None = None, independent: Sequence[str] | None = None
) -> None:
    """Print ranges and loads, and write ``mechanism.html`` and its tables."""
    trajectory: Trajectory | None = None if motion is None else study.trajectory_of(motion, {})
    if trajectory is None:
        model = common.load(robot, root_joint=None, independent=independent)
    else:
        model = study.load(robot, None, trajectory, independent)
    compile.announce(model, "rnea", "aba", "crba", "moved", "tree")
    with common.output_folder(folder):
        with common.ProgressBar("mechanism") as progress:
            result = mechanism(model, trajectory, progress=progress)
        show(result, out)
        with common.written(folder):
            files = result.write(folder)
    common.say_written(out, *files)


def show(result: MechanismResult, out: Console) -> None:
    """Print how far each joint goes, and what is carried."""
    rotors = {c.name for p in result.parts for s in p.sweeps for c in s.joints if c.rotor}
    table = tables.table_of("How far each joint goes", "lrrl", "joint", "from", "to", "what ends it")
    for r in result.ranges:
        if r.joint in rotors:
            continue
        low, high = (why(e, by, r.joint) + how_often(e) for e, by in ((r.low_end, r.low_by), (r.high_end, r.high_by)))
        reason = low if low == high else f"below: {low}; above: {high}"
        ends = ("a full", "turn") if r.turns and r.independent else (place(r.low, r.unit), place(r.high, r.unit))
        table.add_row(*map(escape, (r.joint, *ends, reason)))
    tables.put(out, table)
    worst = max(result.loads.parts, key=lambda x: x.force)
    force = f"{number(worst.force)} N at {part(worst.part)}"
    tables.say(out, f"Largest force: {force}, {worst.force_time:.2f} s into the motion ({result.loads.motion}).")
    for note in result.notes:
        tables.say(out, note)
