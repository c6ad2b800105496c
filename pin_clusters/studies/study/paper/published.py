"""The tables and figures of the papers, measured here beside what was published, and each statement with its verdict.

The papers: Chignoli et al., arXiv 2311.13732 (cluster algorithms); Yamane and Nakamura (virtual work); Kroeg,
Gattringer and Mueller (inverse input matrices); Moss, lecture slides (articulated bodies). ``run`` measures, ``write``
writes ``paper.json``, ``paper.md`` and a PNG per figure into a folder. All but the measuring works on what JSON keeps.
"""

import dataclasses
import time
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ...._support.arrays import whole_number
from ...._support.memory import available
from ...._support.whole_files import whole
from ....compiler.choice import engine
from ....errors import ArgumentTypeError, PinClustersWarning, UnknownNameError, did_you_mean
from ....verification.timing import Progress
from ...pages.results import write_json
from ..plots import new_figure, save_figure
from . import crossover, inputs, lengths, passive, shapes, sinusoids, tables, virtual_work
from ._effort import EFFORTS, Effort
from ._machine import machine
from ._models import chain
from ._numbers import MISPRINTS
from ._part import CONFIRMED, CORRECTED, Part, Statement

__all__ = ["PARTS", "Estimate", "Part", "Statement", "draw", "expected", "page", "run", "statements", "write"]

_MODULES = (tables, lengths, shapes, sinusoids, virtual_work, passive, inputs, crossover)
PARTS = tuple(
    Part(
        key=m.__name__.rpartition(".")[2],
        title=m.TITLE,
        timed=m.TIMED,
        measure=m.measure,
        figures=m.FIGURES,
        tables=m.tables,
        statements=m.statements,
        says=m.says,
        seconds=m.SECONDS,
    )
    for m in _MODULES
)
_KEYS = tuple(part.key for part in PARTS)
HOUR = 3600.0
_SAMPLE, _GROWTH = 100, 2.1
"""Links of a chain, and the power with which the time grows that it takes to make the model of a chain."""
_TABLES = 60.0
"""Bytes per square of the number of links that the tables of such a model take."""
_TITLE = "# The papers' tables and figures, measured here"
_ABOUT = {"full": "A full run", "quick": "A quick run, for a first impression", "tiny": "A trial run"}


def _chosen(only: Iterable[str] | None) -> list[Part]:
    """Return the parts of these names, in order."""
    wanted = list(_KEYS if only is None else only) or list(_KEYS)
    for name in wanted:
        if name not in _KEYS:
            raise UnknownNameError(f"there is no part {name!r}.{did_you_mean(str(name), _KEYS, limit=len(_KEYS))}")
    return [part for part in PARTS if part.key in wanted]


def _measured(results: dict[str, Any]) -> list[tuple[Part, dict[str, Any]]]:
    """Return the parts that are in the results, each with what it found."""
    return [(part, results["parts"][part.key]) for part in PARTS if part.key in results["parts"]]


def _spent(quick: bool | Effort, longest: int | None) -> Effort:
    effort = quick if isinstance(quick, Effort) else EFFORTS["quick" if quick else "full"]
    if longest is None:
        return effort
    return dataclasses.replace(effort, longest=whole_number("longest", longest, 2, of=" of links"))


@dataclasses.dataclass(frozen=True)
class Estimate:
    """What a run will take."""

    seconds: float  # time
    memory: float  # largest table of the longest chain, [bytes]
    longest: int  # its links

    @property
    def said(self) -> str:
        """In words."""
        text = f"about {self.seconds / 60.0:.0f} min" if self.seconds < HOUR else f"about {self.seconds / HOUR:.1f} h"
        return text if self.memory < 1e9 else f"{text}, and {self.memory / 1e9:.1f} GB for {self.longest} links"


def expected(
    *, quick: bool | Effort = False, only: Iterable[str] | None = None, longest: int | None = None
) -> Estimate:
    """Estimate time and memory of a run, with arguments as in ``run``.

    A chain of 100 links is made first if longer chains than usual are asked for: their time follows from its time.
    """
    parts, effort = _chosen(only), _spent(quick, longest)
    seconds = sum(part.seconds[0 if effort.name == "full" else 1] for part in parts)
    if not any(part.key == "lengths" for part in parts):
        return Estimate(seconds, 0.0, effort.longest)
    more = [n for n in lengths.wanted(effort) if n > EFFORTS[effort.name].longest]
    if more:
        start = time.perf_counter()
        chain(_SAMPLE)
        one = time.perf_counter() - start
        seconds += sum(one * (n / _SAMPLE) ** _GROWTH for n in more)
    return Estimate(seconds, _TABLES * float(effort.longest) ** 2, effort.longest)


def _refuse(took: Estimate, *, patient: bool) -> None:
    """Raise an ``ArgumentTypeError`` for a run of more than an hour, unless it is wanted, and for too much memory."""
    memory = available()
    if memory is not None and took.memory > 0.8 * memory:
        raise ArgumentTypeError(
            f"longest={took.longest}: the tables of that chain would take {took.memory / 1e9:.1f} GB, and "
            f"{memory / 1e9:.1f} GB can be had. Take a shorter chain."
        )
    if took.seconds > HOUR and not patient:
        raise ArgumentTypeError(
            f"longest={took.longest}: the run would take {took.said}. Take a shorter chain, or say that you have "
            "the time: patient=True (--patient)."
        )


@engine("tables")  # its robots differ
def run(
    *,
    quick: bool | Effort = False,
    only: Iterable[str] | None = None,
    longest: int | None = None,
    patient: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
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
    took = expected(quick=effort, only=[part.key for part in parts])
    _refuse(took, patient=patient)
    found, seconds = {}, {}
    start = time.perf_counter()

    def done() -> None:
        if progress is not None:
            total = max(1, round(took.seconds))
            progress(min(total - 1, round(time.perf_counter() - start)), total)

    for part in parts:
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PinClustersWarning)  # the robots have inertias as published
            found[part.key] = part.measure(effort, done)
        seconds[part.key] = round(time.perf_counter() - begun, 1)
        done()
    return {"machine": machine(), "effort": dataclasses.asdict(effort), "seconds": seconds, "parts": found}


def statements(results: dict[str, Any]) -> list[Statement]:
    """Return all statements of the papers on which the results have something to say."""
    return [s for part, found in _measured(results) for s in part.statements(found)]


def write(results: dict[str, Any], folder: Path) -> list[Path]:
    """Write ``paper.json``, ``paper.md`` and a PNG per figure directly into a folder that exists; return the files.

    Raises:
        OSError: They cannot be written.
    """
    files = [folder / "paper.json", folder / "paper.md"]
    write_json(results, files[0])
    with whole(files[1]) as (part,):
        part.write_text(f"{_TITLE}\n\n{page(results)}\n", encoding="utf-8")
    return files + draw(results, folder)


def draw(results: dict[str, Any], folder: Path, prefix: str = "") -> list[Path]:
    """Draw all figures of the results into a folder; return the files.

    Raises:
        OSError: They cannot be written.
    """
    files = []
    for part, found in _measured(results):
        for name, draw_one in part.figures.items():
            figure = new_figure()
            draw_one(figure, found)
            files.append(folder / f"{prefix}{name}.png")
            save_figure(figure, files[-1], facecolor="white")
    return files


def page(results: dict[str, Any], pictures: str = "") -> str:
    """Return the report as Markdown, without a title; ``pictures`` stands before the names of the figures' files."""
    said = statements(results)
    count = {word: sum(s.verdict == word for s in said) for word in (CONFIRMED, CORRECTED)}
    text = [
        _where(results),
        "Times are medians with their spread (half the distance of the quartiles). Ratios are medians over repeats "
        "that ran at the same moment. Published times are not compared, as processors and compilers differ, but "
        "percentages, ratios and orders of growth are. The verdicts are computed from the numbers beside them.",
        "## Statements",
        f"{len(said)} statements, {count[CONFIRMED]} confirmed, {count[CORRECTED]} corrected.",
        _table(
            [
                ("statement", "source", "measured", "verdict"),
                *((s.text, s.source, s.measured, f"**{s.verdict}**") for s in said),
            ],
            "---",
        ),
    ]
    for part, found in _measured(results):
        text += [f"## {part.title}", part.timed]
        text += [f"![{part.title}]({pictures}{name}.png)" for name in part.figures]
        for head, rows in part.tables(found):
            text += [f"{head}:", _table(rows)]
        text += part.says(found)
    text += [
        "## Misprints",
        "Found while the equations were programmed; what is meant is what the tests of this package hold to.",
        _table([("where", "printed", "meant"), *MISPRINTS], "---"),
    ]
    return "\n\n".join(text)


def _where(results: dict[str, Any]) -> str:
    """Return where and when it was measured, and how."""
    m, effort = results["machine"], results["effort"]
    return (
        f"Measured on {m['cpu']}, {m['system']}, one thread, {m['lanes']} SIMD lanes; Python {m['python']}, "
        f"Pinocchio {m['pinocchio']}, Numba {m['numba']}, NumPy {m['numpy']}, pin_clusters {m['pin_clusters']} "
        f"(commit {m['commit']}); {m['date']}. {_ABOUT[effort['name']]}: {effort['repeats']} repeats of blocks of "
        f"{1e3 * effort['block']:g} ms, all functions in alternation, "
        f"{sum(results['seconds'].values()):.0f} s in total."
    )


def _table(rows: Iterable[Sequence[str]], side: str = "---:") -> str:
    """Return a Markdown table; all columns but the first are aligned by that rule, to the right by default."""
    head, *body = rows
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, ["---", *[side] * (len(head) - 1)], *body))
