"""The command ``atlas``: audits of commercial and research robots."""

from pathlib import Path

import click

from .. import common
from . import CONTEXT, POSITIVE, output


@click.command(context_settings=CONTEXT)
@click.option("--only", multiple=True, metavar="ROBOT", help="Audit only this robot, a name from --list; repeatable.")
@click.option("--list", "listed", is_flag=True, help="List the robots and whether their files are on this machine.")
@click.option(
    "--files",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="FOLDER",
    help="Folder with checkouts of repositories, in folders NAME or OWNER/NAME such as mujoco_menagerie; repeatable.",
)
@click.option("--any-version", is_flag=True, help="Also audit files whose checksum is unknown.")
@click.option(
    "--download/--no-download",
    default=True,
    show_default=True,
    help="Download missing files of the MuJoCo Menagerie if the package mujoco_menagerie is installed.",
)
@click.option("--drop", type=POSITIVE, metavar="HEIGHT", help="Also compare landings from HEIGHT, m (needs shapes).")
@click.option("--workers", type=click.IntRange(1), default=2, show_default=True, help="Number of processes.")
@output("atlas", of_robot=False)
def atlas(
    only: tuple[str, ...],
    listed: bool,
    files: tuple[Path, ...],
    any_version: bool,
    download: bool,
    drop: float | None,
    workers: int,
    output: Path,
) -> None:
    """Audit the published armature of commercial and research robots.

    The sheet of a robot (YAML) contains its motors, the source of each number, and the published armature. The robot
    file is read from this machine: from the caches of robot_descriptions and mujoco_menagerie, the package
    example-robot-data, the robots of this package, or --files. Files of unknown versions are skipped. If the package
    mujoco_menagerie is installed (pip install 'pin-clusters[menagerie]'), it downloads missing files of the MuJoCo
    Menagerie; otherwise, nothing is downloaded. The command writes index.html (a sortable table), a page and an audit
    per robot, and all numbers as JSON and CSV.

    \b
    Examples:
      pin-clusters atlas --list
      pin-clusters atlas --files ~/checkouts
      pin-clusters atlas --only mit_mini_cheetah --only uiuc_tello -o /tmp/atlas
    """  # noqa: D301 (click needs the backspace character)
    from ...studies import atlas as made
    from ...studies.atlas.entries import row, two
    from .. import tables

    out, names = common.console(), only or made.sheets()
    if listed:
        listing = []
        for sheet in map(made.sheet, names):
            file = made.find(sheet, files)
            state = "-" if not sheet.file else "no" if file is None else "yes" if file.known else "another version"
            listing.append((sheet.name, sheet.robot, "no" if sheet.unknown else "yes", state, sheet.origin))
        heads = ("name", "robot", "motors known", "file found", "source of the file")
        tables.put(out, tables.table_of("Robots of the atlas", "lllll", heads, listing))
        tables.say(out, f"Folder of the sheets, which are files for --motors: {made.sheet(names[0]).path.parent}")
        return
    with common.output_folder(output):
        with common.ProgressBar("atlas") as progress:
            result = made.run(
                names,
                files,
                any_version=any_version,
                drop=drop,
                workers=workers,
                download=download,
                progress=progress,
            )
        rows = []
        for e in result.entries:
            span, *errors = row(e).values()
            rows.append((e.name, span if e.judged else e.state, *map(two, errors)))
            if e.state in ("not here", "other version", "failed"):
                click.secho(f"warning: {e.name}: {e.verdict}", fg="yellow", err=True)
        title = "RMS torque error at the worst joint, % of its peak torque: sine (0.5 rad, 1.5 Hz) and other motions"
        tables.put(out, tables.table_of(title, "ll" + "r" * 8, ("robot", *row(result.entries[0])), rows))
        tables.say(
            out,
            f"Audited {sum(bool(e.judged) for e in result.entries)} of {len(names)} robots in {result.seconds:.0f} s.",
        )
        with common.written(output):
            paths = result.write(output)
    common.say_written(out, *paths[:3])
