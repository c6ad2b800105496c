"""Compute the results of all robots in worker processes, and write the pages and tables."""

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ..._support.version import __version__
from ...compiler.choice import engine
from ..pages.results import Result, as_json, finite, write_texts
from ..study.approximate_dynamics import Progress
from ..sweeps.pool import InProcess, Processes
from .compared import Examined, examine
from .entries import MOTIONS, NONE, PUBLISHED, Entry
from .page import index, robot
from .places import fetch, find
from .sheets import sheet, sheets


@dataclass(frozen=True, eq=False)
class AtlasResult(Result):
    """The results of all robots.

    Attributes:
        examined: Results of each robot, in the order of the sheets.
        seconds: Computing time, [s].
    """

    examined: tuple[Examined, ...]
    seconds: float

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Entries of the robots, sorted by largest error; robots without results come last."""

        def order(e: Entry) -> tuple[bool, float, str]:
            return not e.judged, -e.error(PUBLISHED if e.worst else NONE) if e.judged else 0.0, e.name

        return tuple(sorted((x.entry for x in self.examined), key=order))

    def as_dict(self) -> dict[str, Any]:
        robots: dict[str, Any] = finite({e.name: e.as_dict() for e in self.entries})
        return {"version": __version__, "robots": robots}

    def csv(self) -> str:
        """Return CSV text with one line per robot and armature set, with the largest errors in per cent."""
        heads = [x for m in MOTIONS for x in (f"{m} [%]", f"{m}: joint")]
        heads += ["inertia at ends [%]", "touch-down [%]"]
        lines = [["robot", "state", "armature", "low", "high", *heads, "file", "sha256"]]
        for e in self.entries:
            file_cells = [f'"{e.file}"', e.digest]
            lines += [] if e.judged else [[e.name, e.state, *[""] * (len(lines[0]) - 4), *file_cells]]
            for j in e.judged:
                name = '"{}"'.format(j.where.replace('"', "'")) if j.where else j.name
                errors = [x for m in MOTIONS for x in (f"{j.worst(m)[1]:.6g}", j.worst(m)[0])]
                numbers = [f"{j.low:.6g}", f"{j.high:.6g}", *errors, f"{j.push:.6g}", f"{j.landing:.6g}"]
                lines.append([e.name, e.state, name, *("" if x == "nan" else x for x in numbers), *file_cells])
        return "\n".join(map(",".join, lines)) + "\n"

    def write(self, folder: str | Path) -> tuple[Path, ...]:
        """Write the pages, ``atlas.json`` and ``atlas.csv``; return the paths, with the index page first.

        Raises:
            OSError: A file cannot be written; the other files are still written.
        """
        texts: dict[str, Callable[[], str]] = {
            "index.html": lambda: index(self.entries, {x.entry.name: x.picture for x in self.examined}),
            "atlas.json": lambda: as_json(self.as_dict(), allow_nan=False),
            "atlas.csv": self.csv,
        }
        for x in self.examined:
            texts[f"{x.entry.name}.html"] = partial(robot, x)
            texts |= {f"{x.entry.name}/{name}": partial(str, text) for name, text in x.audit.items()}
        return write_texts({Path(folder) / name: text for name, text in texts.items()})


def run(
    only: Sequence[str] | None = None,
    folders: Sequence[str | os.PathLike[str]] = (),
    *,
    any_version: bool = False,
    drop: float | None = None,
    workers: int = 2,
    download: bool = False,
    progress: Progress | None = None,
) -> AtlasResult:
    """Compute the results for all robots of the atlas whose files are on this machine.

    Args:
        only: Names of the sheets to compute; by default, all sheets.
        folders: Additional folders to search for robot files; see ``find``.
        any_version: Also use robot files with checksums that the sheets do not list.
        drop: Height of an additional simulated fall, [m]; robots that cannot fall are reported as failed.
        workers: Number of worker processes; 1 means that the current process does all the work.
        download: Download missing files of the MuJoCo Menagerie if the package mujoco_menagerie is installed. If a
            download fails, a warning is emitted and no other download starts.

    Raises:
        UnknownNameError: A name in ``only`` is not the name of a sheet.
        LoadError: A sheet is invalid; the message states the line.

    Example:
        >>> from pin_clusters import atlas
        >>> atlas.run(["mit_cheetah_3"]).entries[0].state
        'no file'
    """
    start, examined = time.perf_counter(), dict[str, Examined]()
    # All sheets are read first, so that errors occur early. Large robots start first to balance the workers.
    motors = {name: len(sheet(name).motors) for name in (sheets() if only is None else only)}
    if download:
        all(fetch(sheet(name), folders) for name in motors)  # Stops at the first failure.
    workers = min(workers, len(motors))
    with InProcess() if workers < 2 else Processes(workers) as pool:
        order = sorted(motors, key=lambda n: -motors[n])
        futures = {pool.submit(_one, name, tuple(map(str, folders)), any_version, drop): name for name in order}
        for future in as_completed(futures):
            examined[futures[future]] = future.result()
            if progress:
                progress(len(examined), len(motors))
    return AtlasResult(tuple(examined[name] for name in motors), time.perf_counter() - start)


def _one(name: str, folders: tuple[str, ...], any_version: bool, drop: float | None) -> Examined:
    robot_sheet = sheet(name)
    with engine("tables"):  # generic kernels, because compiling code for each robot would take longer
        return examine(robot_sheet, find(robot_sheet, folders), any_version, drop)
