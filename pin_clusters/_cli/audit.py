"""``pin-clusters audit``: is armature enough? A page that says so."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from ..studies import audit
from ..studies.study import Trajectory
from ..studies.study.accuracy import Base
from . import common, compile, study, tables


def run(
    robot: str,
    folder: Path,
    out: Console,
    *,
    threshold: float,
    trajectory: Trajectory,
    base: Base | None = None,
    frames: Sequence[str] | None = None,
    drop_rotors: bool = False,
    independent: Sequence[str] | None = None,
) -> None:
    """Audit a robot or file, print the verdict and write ``audit.html`` and ``audit.json``."""
    # as it is, floating or not, where nothing is said: what its base does is for the study to say
    as_is = base is None and not Path(robot).is_file()
    if as_is:
        model = common.load(robot, independent=independent)
    else:
        model = study.load(robot, base, trajectory, independent)
    audit.check(model)
    compile.announce(model, "rnea", "aba", "crba", "energy", "simulate", "moved", "tree")
    with common.output_folder(folder):
        with common.ProgressBar("audit") as progress:
            result = audit.run(
                model, trajectory, threshold=threshold, base=base, frames=frames, drop_rotors=drop_rotors,
                progress=progress,
            )  # fmt: skip
        with common.written(folder):
            files = audit.write(result, folder)
        tables.say(out, result.verdict.sentence)
        tables.say(out, result.verdict.advice)
    common.say_written(out, *files)
