"""The command ``atlas``."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .. import common
from . import CONTEXT, POSITIVE, output

if TYPE_CHECKING:
    from rich.console import Console

    from ...studies.atlas import AtlasResult, Entry


@click.command(context_settings=CONTEXT)
@click.option(
    "--only", multiple=True, metavar="ROBOT", help="These robots only, by the names of --list; several times."
)
@click.option("--list", "listed", is_flag=True, help="Say which robots there are, and which of their files are here.")
@click.option(
    "--files", multiple=True, type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="FOLDER",
    help="Where checkouts of repositories are, by NAME or OWNER/NAME, such as mujoco_menagerie; several times.",
)  # fmt: skip
@click.option("--any-version", is_flag=True, help="Also compute files whose checksum the sheets do not know.")
@click.option("--drop", type=POSITIVE, metavar="HEIGHT", help="Also compare a landing where shapes are known, m.")
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True, help="Processes; 1 starts none.")
@output("atlas", of_robot=False)
def atlas(
    only: tuple[str, ...], listed: bool, files: tuple[Path, ...], any_version: bool, drop: float | None, workers: int,
    output: Path,
) -> None:  # fmt: skip
    """How wrong is armature, robot by robot, for robots that people own?

    For each robot there is a sheet with its motors and the source of each number, and with the armature that others
    published. The robot's own file is read from where it is on this machine: the cache of robot_descriptions, the package
    example-robot-data, the robots of this package, or --files; nothing is fetched. Files of unknown versions are refused.

    Writes index.html, a table that can be sorted, a page per robot, its audit, and all numbers as JSON and CSV.

    \b
    Examples:
      pin-clusters atlas --list
      pin-clusters atlas --files ~/checkouts
      pin-clusters atlas --only mit_mini_cheetah --only uiuc_tello -o /tmp/atlas
    """  # noqa: D301 (click wants the character)
    from ...studies import atlas as made
    from .. import tables

    out = common.console()
    names = only or made.sheets()
    if listed:
        _list(names, files, out)
        return
    with common.output_folder(output):
        with common.ProgressBar("atlas") as progress:
            ready = list[str]()

            def done(entry: Entry) -> None:
                ready.append(entry.name)
                progress(len(ready), len(names))

            found = made.run(names, files, any_version=any_version, drop=drop, workers=workers, done=done)
        with common.written(output):
            paths = found.write(output)
    _show(found, out)
    for e in found.entries:
        if e.state in ("not here", "other version", "failed"):
            click.secho(f"warning: {e.name}: {e.verdict}", fg="yellow", err=True)
    known = sum(e.state == "known" for e in found.entries)
    tables.say(out, f"{known} of {len(found.entries)} robots in {found.seconds:.0f} s.")
    common.say_written(out, *paths[:3])


def _list(names: tuple[str, ...], files: tuple[Path, ...], out: Console) -> None:
    """Print the sheets, and whether the files are here."""
    from ...studies import atlas as made
    from .. import tables

    rows = []
    for sheet in map(made.sheet, names):
        found = made.find(sheet, files)
        here = "-" if not sheet.file else "no" if found is None else "yes" if found.known else "another version"
        rows.append((sheet.name, sheet.robot, "no" if sheet.unknown else "yes", here, sheet.origin))
    tables.put(
        out,
        tables.table_of(
            "Robots of the atlas", "lllll", ("name", "robot", "motors known", "file here", "its file"), rows
        ),
    )
    tables.say(out, f"Sheets, which --motors takes: {made.sheet(names[0]).path.parent}")


def _show(found: AtlasResult, out: Console) -> None:
    """Print the table: largest errors of torque along the sine, as per cent of the joint's peak."""
    from .. import tables

    rows = []
    for e in found.entries:
        if e.state != "known":
            rows.append((e.name, e.state, *[""] * 5))
            continue
        worst, shown = e.worst, [e.worst, *(e.named(x) for x in ("none", "diagonal", "block"))]
        span = f"{min(j.low for j in e.published):.2g} to {max(j.high for j in e.published):.2g}" if worst else "none"
        errors = [j.worst("sine")[1] if j else math.nan for j in shown]
        rows.append(
            (
                e.name,
                span,
                *("" if math.isnan(x) else f"{x:.2g}" for x in errors),
                worst.worst("sine")[0] if worst else "",
            )
        )
    heads = ("robot", "published over right", "published %", "none %", "right %", "block %", "worst published at")
    tables.put(
        out,
        tables.table_of(
            "Largest RMS torque error, % of the joint's peak torque, sine of 0.5 rad, 1.5 Hz", "llrrrrl", heads, rows
        ),
    )
