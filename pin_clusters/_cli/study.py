"""``pin-clusters study``: parse the motion (also for ``audit``, ``mechanism`` and ``view``) and print the tables."""

from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.markup import escape

from .. import approximations
from .._support.whole_files import all_of
from ..errors import UnknownNameError, did_you_mean
from ..files import readers as loaders
from ..model import ClusterModel
from ..studies import study
from ..studies.study import StudyResult, Trajectory, paper, report, trajectories
from . import common, tables

WAVES = ("sine", "chirp", "minimum-jerk")
_OPTIONS = {
    "sine": ("amplitude", "frequency", "duration", "dt", "in_phase"),
    "chirp": ("amplitude", "frequency", "duration", "dt", "in_phase"),
    "swing": ("amplitude", "duration", "dt"),
    "poses": ("poses", "duration", "dt"),
    "recorded": ("dt", "cutoff", "degrees", "hold_missing"),
}
# Arguments of the trajectory classes whose names differ from the options
_RENAMED = {("chirp", "frequency"): "end", ("recorded", "hold_missing"): "missing"}


def given(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value not in (None, False, ())}


def trajectory_of(name: str, options: dict[str, Any]) -> Trajectory:
    numbers = given(options)
    jerk = "poses" if "poses" in numbers else "swing"
    kind = {"sine": "sine", "chirp": "chirp", "minimum-jerk": jerk}.get(name, "recorded")
    for option in numbers:
        if option not in _OPTIONS[kind]:
            spelt = "--pose" if option == "poses" else "--" + option.replace("_", "-")
            raise click.UsageError(f"{spelt} does not apply to --trajectory {name}.")
    numbers = {_RENAMED.get((kind, option), option): value for option, value in numbers.items()}
    waves = {"sine": study.Sine, "chirp": study.Chirp, "swing": study.Swing}
    if kind in waves:
        return waves[kind](**numbers)
    if kind == "poses":
        return study.MinimumJerk(**(numbers | {"poses": [_pose(text) for text in numbers["poses"]]}))
    if "missing" in numbers:
        numbers["missing"] = "hold"
    if name in study.motions():
        return study.motion(name, **numbers)
    if Path(name).suffix.lower() in (".csv", ".npz") or Path(name).exists():
        return study.Recorded.from_file(name, **numbers)
    names = (*WAVES, *study.motions())
    raise UnknownNameError(
        f"No such trajectory or file: {name!r}.{did_you_mean(name, names, limit=len(names))} "
        "Or specify a .csv or .npz file."
    )


def walk_of(robot: str, name: str) -> str:
    walks = [x for x in study.motions() if trajectories.robot_of(x) == robot and x.endswith(("_walk", "_trot"))]
    if not name and not walks:
        raise click.UsageError(
            f"pin_clusters contains no walking motion of {robot}. Pass your own motion, --walk gait.csv, or drop the "
            "robot from a height, --drop 0.1 [m]."
        )
    return name or walks[0]


def _pose(text: str) -> str | dict[str, float]:
    if "=" not in text:
        return text
    coordinates = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        try:
            coordinates[name.strip()] = float(value)
        except ValueError as e:
            raise click.UsageError(f"--pose: {part.strip()!r} must be JOINT=NUMBER, as in knee=1.2,hip=-0.6.") from e
    return coordinates


def load(robot: str, base: str | None, trajectory: Trajectory) -> ClusterModel:
    if base == "fixed" or (base is None and not getattr(trajectory, "moves_base", False)):
        return common.load(robot, root_joint=None)
    return common.load(robot) if base is None and robot in loaders.robots() else common.floating(robot)


def run_experiment(name: str, robot: str | None, folder: Path, out: Console, *, drop_rotors: bool = False) -> None:
    model = None if robot is None else common.with_options(common.load(robot, root_joint=None), robot)
    with common.output_folder(folder):
        with common.ProgressBar(name) as progress:
            result = paper.run(name, model, drop_rotors=drop_rotors, progress=progress)
        tables.say(out, result.title)
        for title, rows in result.tables():
            _put(out, title, rows)
        tables.say(out, result.summary)
        files = [folder / f"{name}{ending}" for ending in (".json", ".png")]
        with common.written(folder):
            all_of(partial(result.write_json, files[0]), partial(result.save_plot, files[1]))
    common.say_written(out, *files)


def show(result: StudyResult, out: Console) -> None:
    trajectory = result.trajectory
    length = f" for {trajectory.duration:g} s" if isinstance(trajectory, trajectories.Wave) else ""
    tables.say(
        out,
        f"[bold]{escape(result.robot)}[/]: inverse dynamics with a {result.base} base, "
        f"{escape(report.motion(result))}{length} ({len(result.time)} samples)",
        markup=True,
    )
    if cut := report.cut(result):
        tables.say(out, cut)
    head = ("", *result.joints)
    _put(out, f"RMS torque error, {report.unit(result)}", [head, *report.table(result)], last=True)
    _put(out, f"Largest torque error, {report.unit(result)}", [head, *report.peak_table(result)])
    _put(out, "RMS/largest error, % of the largest exact torque", [head, *report.share_table(result)])
    for approximation in (r for r in result.approximate if r in report.DEFINITIONS):
        tables.say(out, f"{approximations.LABELS[approximation]}: {report.DEFINITIONS[approximation]}.")
    if ground := report.ground(result):
        tables.say(out, ground)
    tables.say(out, report.verdict(result))


def _put(out: Console, title: str, rows: list[tuple[str, ...]], *, last: bool = False) -> None:
    """Print a table, transposed if it has more than nine columns; if ``last``, a line separates the last row."""
    across = len(rows[0]) <= 9
    if not across:
        rows = list(zip(*rows, strict=True))
    head, *below = rows
    line = [None] * (last and across)  # a line separates the exact torques in the last row from the errors
    tables.put(out, tables.table_of(title, "l" + "r" * (len(head) - 1), head, [*below[:-1], *line, *below[-1:]]))
