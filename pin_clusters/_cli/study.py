"""``pin-clusters study``: run the study and write its results."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .. import study
from ..study import report
from . import common, tables

if TYPE_CHECKING:
    from rich.console import Console

    from ..study import StudyResult


def run(
    robot: str,
    folder: Path,
    out: Console,
    *,
    amplitude: float,
    frequency: float,
    duration: float,
    dt: float,
    drop_rotors: bool,
) -> None:
    """Run the study of a robot or file, print the table and write ``study.json`` and ``study.png``.

    Raises:
        PinClustersError: The robot cannot be loaded or studied, or the folder cannot be written.
    """
    study.Sine(amplitude, frequency, duration, dt)  # before anything slow
    model = common.load(robot, root_joint=None)
    with common.output_folder(folder):
        with common.ProgressBar("inverse dynamics") as progress:
            result = study.run(
                model, amplitude=amplitude, frequency=frequency, duration=duration, dt=dt, drop_rotors=drop_rotors,
                progress=progress,
            )  # fmt: skip
        show(result, out)
        try:
            report.write_json(result, folder / "study.json")
            from ..study import plots

            plots.save(result, folder / "study.png")
        except OSError as e:
            raise common.OutputError(f"cannot write to {folder}: {e.strerror or e}.") from e
    out.print(f"Written: {folder / 'study.json'}, {folder / 'study.png'}", soft_wrap=True)


def show(result: StudyResult, out: Console) -> None:
    """Print the table and the verdict; many joints go down the page instead of across it."""
    from rich.markup import escape

    sine = result.sine
    about = "as" if result.centre is None else "about the reference pose by"
    tables.say(
        out,
        f"[bold]{escape(result.robot)}[/]: inverse dynamics with a fixed base, each joint moving {about} "
        f"{sine.amplitude:g} sin(2 pi {sine.frequency:g} Hz t) for {sine.duration:g} s ({sine.samples} samples)",
        markup=True,
    )
    if cut := report.cut(result):
        tables.say(out, cut)
    rows = [("", *result.joints), *report.table(result)]
    across = len(result.joints) <= 8
    if not across:
        rows = list(zip(*rows, strict=True))
    table = tables.table_of(escape(f"RMS torque error, {report.unit(result)}"))
    for i, head in enumerate(rows[0]):
        table.add_column(escape(head), justify="left" if i == 0 else "right")
    for i, row in enumerate(rows[1:], start=1):
        # the last line of the table is not an error
        table.add_row(*map(escape, row), end_section=across and i == len(rows) - 2)
    tables.put(out, table)
    for rung in (r for r in result.approximate if r in report.DEFINITIONS):
        tables.say(out, f"{report.LABELS[rung]}: {report.DEFINITIONS[rung]}.")
    tables.say(out, report.verdict(result))
