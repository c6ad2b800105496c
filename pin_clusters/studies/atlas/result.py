"""The whole atlas: robots computed in processes, and all files of it."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..._engine.choice import engine
from ..._support.version import __version__
from ..._support.whole_files import whole
from ..pages.results import Result, as_json, finite
from ..sweeps.pool import InProcess, Processes
from .compared import NONE, Entry, Examined, examine
from .places import find
from .sheets import sheet, sheets

PROCESSES = 2


@dataclass(frozen=True, eq=False)
class AtlasResult(Result):
    """What was found of each robot.

    Attributes:
        examined: In the order of the sheets.
        seconds: How long all of it took.
    """

    examined: tuple[Examined, ...]
    seconds: float = field(default=0.0)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The robots, those with the largest errors first, those without numbers last."""

        def order(e: Entry) -> tuple[float, str]:
            shown = e.worst or e.named(NONE)
            return (-shown.worst("sine")[1] if shown else 1.0, e.name)

        return tuple(sorted((x.entry for x in self.examined), key=order))

    def as_dict(self) -> dict[str, Any]:
        """Return all numbers as plain numbers and text, ready for JSON."""
        return finite({"version": __version__, "robots": {e.name: e.as_dict() for e in self.entries}})

    def csv(self) -> str:
        """Return a line per robot and set of armature, largest errors of joints and frames in per cent."""
        heads = "robot,state,set,low,high,sine [%],joint,chirp [%],joint,gait [%],joint,inertia at ends [%],file,sha256"
        lines = [heads]
        for e in self.entries:
            rest = [f'"{e.file}"', e.digest]
            if not e.judged:
                lines.append(",".join([e.name, e.state, *[""] * 10, *rest]))
            for j in e.judged:
                errors = [x for m in ("sine", "chirp", "gait") for x in (f"{j.worst(m)[1]:.6g}", j.worst(m)[0])]
                name = '"{}"'.format(j.where.replace('"', "'")) if j.where else j.name
                numbers = [f"{j.low:.6g}", f"{j.high:.6g}", *errors, f"{j.push:.6g}"]
                lines.append(",".join([e.name, e.state, name, *numbers, *rest]).replace("nan", ""))
        return "\n".join(lines) + "\n"

    def write(self, folder: str | Path) -> tuple[Path, ...]:
        """Write the pages, ``atlas.json`` and ``atlas.csv``, all or none; return their paths, the index first.

        Raises:
            OSError: A file cannot be written.
        """
        from .page import index, robot

        texts = {
            "index.html": index(self),
            "atlas.json": as_json(self.as_dict(), allow_nan=False),
            "atlas.csv": self.csv(),
        }
        for x in self.examined:
            texts[f"{x.entry.name}.html"] = robot(x)
            texts |= {f"{x.entry.name}/{name}": text for name, text in x.audit.items()}
        paths = tuple(Path(folder) / name for name in texts)
        for path in paths:
            path.parent.mkdir(parents=True, exist_ok=True)
        with whole(*paths) as parts:
            for part, text in zip(parts, texts.values(), strict=True):
                part.write_text(text, encoding="utf-8", newline="\n")
        return paths


def run(
    only: Sequence[str] | None = None,
    folders: Sequence[str | os.PathLike[str]] = (),
    *,
    any_version: bool = False,
    drop: float | None = None,
    workers: int = PROCESSES,
    done: Callable[[Entry], None] = lambda entry: None,
) -> AtlasResult:
    """Compute the robots of the atlas whose files are at hand.

    Args:
        only: Names of sheets; by default all.
        folders: Where else files may be, see ``find``.
        any_version: Also compute files that the sheets do not know.
        drop: Also let robots with a floating base and collision shapes fall from this height, [m].
        workers: Processes; 1 starts none.
        done: Called with each robot that is done.

    Raises:
        UnknownNameError: There is no such sheet.
        LoadError: A sheet is ill-formed; the message has its line.

    Example:
        >>> from pin_clusters import atlas
        >>> entry = atlas.run(["mit_mini_cheetah"], workers=1).entries[0]
        >>> entry.state, [line.turns for line in entry.joints]
        ('known', [((6.0, 6.3e-05),), ((9.33, 6.3e-05),)])
    """
    start = time.perf_counter()
    names = list(dict.fromkeys(sheets() if only is None else only))
    for name in names:
        sheet(name)  # what is wrong with one is said before anything slow
    found = dict[str, Examined]()
    pool = InProcess() if workers == 1 or len(names) == 1 else Processes(min(workers, len(names)))
    with pool:
        # the largest robots first, so that none is left alone at the end
        order = sorted(names, key=lambda n: -len(sheet(n).motors))
        futures = {pool.submit(_one, name, tuple(map(str, folders)), any_version, drop): name for name in order}
        for future in as_completed(futures):
            found[futures[future]] = future.result()
            done(found[futures[future]].entry)
    return AtlasResult(tuple(found[name] for name in names), time.perf_counter() - start)


def _one(name: str, folders: tuple[str, ...], any_version: bool, drop: float | None) -> Examined:
    of = sheet(name)
    with engine("tables"):  # kernels for all robots: each would be traced otherwise
        return examine(of, find(of, folders), any_version, drop)
