"""The tables and figures of the papers, measured here beside what was published, and each statement with its verdict.

The papers: Chignoli et al., arXiv 2311.13732 (cluster algorithms); Yamane and Nakamura (virtual work); Kroeg,
Gattringer and Mueller (inverse input matrices); Moss, lecture slides (articulated bodies). ``run`` measures, ``write``
writes ``paper.json``, ``paper.md`` and a PNG per figure into a folder. All but the measuring works on what JSON keeps.
"""

import dataclasses
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ...._support.arrays import whole_number
from ...._support.whole_files import whole
from ....compiler.choice import engine
from ....errors import UnknownNameError, did_you_mean
from ....verification.timing import Progress
from ...pages.results import write_json
from ..plots import new_figure, save_figure
from . import crossover, inputs, lengths, passive, shapes, sinusoids, tables, virtual_work
from ._effort import EFFORTS, Effort
from ._estimate import Estimate, estimate, refuse
from ._machine import machine
from ._page import TITLE, markdown
from ._part import Part, Statement

__all__ = ["PARTS", "Estimate", "Part", "Statement", "draw", "expected", "page", "run", "statements", "write"]

_MODULES = (tables, lengths, shapes, sinusoids, virtual_work, passive, inputs, crossover)
PARTS = tuple(
    Part(
        key=m.__name__.rpartition(".")[2], title=m.TITLE, timed=m.TIMED, measure=m.measure, figures=m.FIGURES,
        tables=m.tables, statements=m.statements, says=m.says, seconds=m.SECONDS,
    )
    for m in _MODULES
)  # fmt: skip
_KEYS = tuple(part.key for part in PARTS)


def _chosen(only: Iterable[str] | None) -> list[Part]:
    """Return the parts of these names, in order."""
    wanted = list(_KEYS if only is None else only) or list(_KEYS)
    for name in wanted:
        if name not in _KEYS:
            raise UnknownNameError(f"there is no part {name!r}.{did_you_mean(str(name), _KEYS, limit=len(_KEYS))}")
    return [part for part in PARTS if part.key in wanted]


def _spent(quick: bool | Effort, longest: int | None) -> Effort:
    effort = quick if isinstance(quick, Effort) else EFFORTS["quick" if quick else "full"]
    if longest is None:
        return effort
    return dataclasses.replace(effort, longest=whole_number("longest", longest, 2, of=" of links"))


def expected(
    *, quick: bool | Effort = False, only: Iterable[str] | None = None, longest: int | None = None
) -> Estimate:
    """Return what a run will take; arguments as in ``run``."""
    return estimate(_chosen(only), _spent(quick, longest))


@engine("tables")  # its robots differ
def run(
    *, quick: bool | Effort = False, only: Iterable[str] | None = None, longest: int | None = None,
    patient: bool = False, progress: Progress | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Measure.

    Args:
        quick: Fewer sizes and repeats, for a first impression.
        only: Names of parts, see ``PARTS``; all by default.
        longest: Links of the longest chain; by default 1000, 300 if it is to be quick.
        patient: Also what takes more than an hour.
        progress: Called with (done, total) now and then, in seconds.

    Returns:
        Plain numbers and text, ready for JSON: ``machine``, ``effort``, ``seconds``, ``parts``.

    Raises:
        UnknownNameError: There is no such part.
        ArgumentTypeError: A number is not allowed, or the run would take more than an hour, or too much memory.
    """
    parts, effort = _chosen(only), _spent(quick, longest)
    took = estimate(parts, effort)
    refuse(took, patient=patient)
    found, seconds = {}, {}
    start = time.perf_counter()

    def done() -> None:
        if progress is not None:
            total = max(1, round(took.seconds))
            progress(min(total - 1, round(time.perf_counter() - start)), total)

    for part in parts:
        begun = time.perf_counter()
        found[part.key] = part.measure(effort, done)
        seconds[part.key] = round(time.perf_counter() - begun, 1)
        done()
    return {"machine": machine(), "effort": dataclasses.asdict(effort), "seconds": seconds, "parts": found}


def statements(results: dict[str, Any]) -> list[Statement]:
    """Return all statements of the papers on which the results have something to say."""
    return [s for part in PARTS if part.key in results["parts"] for s in part.statements(results["parts"][part.key])]


def write(results: dict[str, Any], folder: Path) -> list[Path]:
    """Write ``paper.json``, ``paper.md`` and a PNG per figure directly into a folder that exists; return the files.

    Raises:
        OSError: They cannot be written.
    """
    files = [folder / "paper.json", folder / "paper.md"]
    write_json(results, files[0])
    with whole(files[1]) as (part,):
        part.write_text(f"{TITLE}\n\n{page(results)}\n", encoding="utf-8")
    return files + draw(results, folder)


def page(results: dict[str, Any], pictures: str = "") -> str:
    """Return the report as Markdown, without a title; ``pictures`` stands before the names of the figures' files."""
    return markdown(results, PARTS, statements(results), pictures)


def draw(results: dict[str, Any], folder: Path, prefix: str = "") -> list[Path]:
    """Draw all figures of the results into a folder; return the files.

    Raises:
        OSError: They cannot be written.
    """
    files = []
    for part in PARTS:
        if part.key not in results["parts"]:
            continue
        for name, draw_one in part.figures.items():
            figure = new_figure()
            draw_one(figure, results["parts"][part.key])
            files.append(folder / f"{prefix}{name}.png")
            save_figure(figure, files[-1], facecolor="white")
    return files
