"""The command ``atlas``."""

from pathlib import Path

import click

from .. import common
from . import CONTEXT, POSITIVE, output


@click.command(context_settings=CONTEXT)
@click.option(
    "--only", multiple=True, metavar="ROBOT", help="These robots only, by the names of --list; several times."
)
@click.option("--list", "listed", is_flag=True, help="Say which robots there are, and whose files are here.")
@click.option(
    "--files",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="FOLDER",
    help="Where checkouts of repositories are, by NAME or OWNER/NAME, such as mujoco_menagerie; several times.",
)
@click.option("--any-version", is_flag=True, help="Also compute files whose checksum the sheets do not know.")
@click.option("--drop", type=POSITIVE, metavar="HEIGHT", help="Also compare a landing where shapes are known, m.")
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True, help="Processes; 1 starts none.")
@output("atlas", of_robot=False)
def atlas(
    only: tuple[str, ...],
    listed: bool,
    files: tuple[Path, ...],
    any_version: bool,
    drop: float | None,
    workers: int,
    output: Path,
) -> None:
    """How wrong is armature, robot by robot, for robots that people own?

    For each robot there is a sheet with its motors and the source of each number, and with the armature that others
    published. The robot's own file is read where it is on this machine: the cache of robot_descriptions, the package
    example-robot-data, the robots of this package, or --files; nothing is fetched, unknown versions are refused. Writes
    index.html, a table that can be sorted, a page per robot, its audit, and all numbers as JSON and CSV.

    \b
    Examples:
      pin-clusters atlas --list
      pin-clusters atlas --files ~/checkouts
      pin-clusters atlas --only mit_mini_cheetah --only uiuc_tello -o /tmp/atlas
    """  # noqa: D301 (click wants the character)
    from ...studies import atlas as made
    from ...studies.atlas.entries import row, two
    from .. import tables

    out, names = common.console(), only or made.sheets()
    if listed:
        listing = []
        for sheet in map(made.sheet, names):
            found = made.find(sheet, files)
            here = "-" if not sheet.file else "no" if found is None else "yes" if found.known else "another version"
            listing.append((sheet.name, sheet.robot, "no" if sheet.unknown else "yes", here, sheet.origin))
        heads = ("name", "robot", "motors known", "file here", "its file")
        tables.put(out, tables.table_of("Robots of the atlas", "lllll", heads, listing))
        tables.say(out, f"Sheets, which --motors takes: {made.sheet(names[0]).path.parent}")
        return
    with common.output_folder(output):
        with common.ProgressBar("atlas") as progress:
            result = made.run(names, files, any_version=any_version, drop=drop, workers=workers, progress=progress)
        rows = []
        for e in result.entries:
            span, *errors = row(e).values()
            rows.append((e.name, span if e.judged else e.state, *map(two, errors)))
            if e.state in ("not here", "other version", "failed"):
                click.secho(f"warning: {e.name}: {e.verdict}", fg="yellow", err=True)
        title = "Largest RMS error of the torque of a joint, % of its peak: sine of 0.5 rad and 1.5 Hz, and others"
        tables.put(out, tables.table_of(title, "ll" + "r" * 8, ("robot", *row(result.entries[0])), rows))
        tables.say(
            out, f"{sum(bool(e.judged) for e in result.entries)} of {len(names)} robots in {result.seconds:.0f} s."
        )
        with common.written(output):
            paths = result.write(output)
    common.say_written(out, *paths[:3])
