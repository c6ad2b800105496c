"""The whole atlas: robots computed in processes, and all files of it."""

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
from ..study.rungs import Progress
from ..sweeps.pool import InProcess, Processes
from .compared import Examined, examine
from .entries import MOTIONS, NONE, PUBLISHED, Entry
from .page import index, robot
from .places import find
from .sheets import sheet, sheets


@dataclass(frozen=True, eq=False)
class AtlasResult(Result):
    """What was found of each robot.

    Attributes:
        examined: In the order of the sheets.
        seconds: How long all of it took.
    """

    examined: tuple[Examined, ...]
    seconds: float

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The robots, those with the largest errors first, those without numbers last."""

        def order(e: Entry) -> tuple[bool, float, str]:
            return not e.judged, -e.error(PUBLISHED if e.worst else NONE) if e.judged else 0.0, e.name

        return tuple(sorted((x.entry for x in self.examined), key=order))

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers as plain numbers and text, ready for JSON."""
        robots: dict[str, Any] = finite({e.name: e.as_dict() for e in self.entries})
        return {"version": __version__, "robots": robots}

    def csv(self) -> str:
        """Return a line per robot and set of armature, largest errors of joints and frames in per cent."""
        heads = [x for m in MOTIONS for x in (f"{m} [%]", f"{m}: joint")]
        heads += ["inertia at ends [%]", "touch-down [%]"]
        lines = [["robot", "state", "armature", "low", "high", *heads, "file", "sha256"]]
        for e in self.entries:
            rest = [f'"{e.file}"', e.digest]
            lines += [] if e.judged else [[e.name, e.state, *[""] * (len(lines[0]) - 4), *rest]]
            for j in e.judged:
                name = '"{}"'.format(j.where.replace('"', "'")) if j.where else j.name
                errors = [x for m in MOTIONS for x in (f"{j.worst(m)[1]:.6g}", j.worst(m)[0])]
                numbers = [f"{j.low:.6g}", f"{j.high:.6g}", *errors, f"{j.push:.6g}", f"{j.landing:.6g}"]
                lines.append([e.name, e.state, name, *("" if x == "nan" else x for x in numbers), *rest])
        return "\n".join(map(",".join, lines)) + "\n"

    def write(self, folder: str | Path) -> tuple[Path, ...]:
        """Write the pages, ``atlas.json`` and ``atlas.csv``, each whole or not at all; return paths, the index first.

        Raises:
            OSError: A file cannot be written; the others are written.
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
    progress: Progress | None = None,
) -> AtlasResult:
    """Compute the robots of the atlas whose files are at hand.

    Args:
        only: Names of sheets; by default all.
        folders: Where else files may be, see ``find``.
        any_version: Also compute files that the sheets do not know.
        drop: Also let robots fall from this height, [m]; those that cannot have failed.
        workers: Processes; 1 starts none.

    Raises:
        UnknownNameError: There is no such sheet.
        LoadError: A sheet is ill-formed; the message has its line.

    Example:
        >>> from pin_clusters import atlas
        >>> atlas.run(["mit_cheetah_3"]).entries[0].state
        'no file'
    """
    start, found = time.perf_counter(), dict[str, Examined]()
    # what is wrong with a sheet is said before anything slow; large robots first, so that none is left at the end
    motors = {name: len(sheet(name).motors) for name in (sheets() if only is None else only)}
    workers = min(workers, len(motors))
    with InProcess() if workers < 2 else Processes(workers) as pool:
        order = sorted(motors, key=lambda n: -motors[n])
        futures = {pool.submit(_one, name, tuple(map(str, folders)), any_version, drop): name for name in order}
        for future in as_completed(futures):
            found[futures[future]] = future.result()
            if progress:
                progress(len(found), len(motors))
    return AtlasResult(tuple(found[name] for name in motors), time.perf_counter() - start)


def _one(name: str, folders: tuple[str, ...], any_version: bool, drop: float | None) -> Examined:
    of = sheet(name)
    with engine("tables"):  # kernels for all robots: each would be traced otherwise
        return examine(of, find(of, folders), any_version, drop)
