"""Reproduce the papers' tables and figures, compare them with the published values, and check each statement.

The papers are Chignoli et al., arXiv 2311.13732 (cluster algorithms); Yamane and Nakamura (virtual work); Kroeg,
Gattringer and Mueller (inverse input matrices); and Moss's lecture slides (articulated bodies). ``write`` writes
``paper.json``, ``paper.md`` and a PNG per figure into a folder. Only ``run`` measures; other functions use its result.
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
_SAMPLE, _GROWTH = 100, 2.1  # Number of links of the timed chain; growth exponent of the construction time
_TABLES = 60.0  # Memory of a model's tables, divided by the squared number of links, [bytes]
_TITLE = "# The papers' tables and figures, measured here"
_ABOUT = {"full": "A full run", "quick": "A quick run, for a first impression", "tiny": "A trial run"}


def _chosen(only: Iterable[str] | None) -> list[Part]:
    names = list(_KEYS if only is None else only) or list(_KEYS)
    for name in names:
        if name not in _KEYS:
            raise UnknownNameError(f"there is no part {name!r}.{did_you_mean(str(name), _KEYS, limit=len(_KEYS))}")
    return [part for part in PARTS if part.key in names]


def _measured(results: dict[str, Any]) -> list[tuple[Part, dict[str, Any]]]:
    return [(part, results["parts"][part.key]) for part in PARTS if part.key in results["parts"]]


def _spent(quick: bool | Effort, longest: int | None) -> Effort:
    effort = quick if isinstance(quick, Effort) else EFFORTS["quick" if quick else "full"]
    if longest is None:
        return effort
    return dataclasses.replace(effort, longest=whole_number("longest", longest, 2, of=" of links"))


@dataclasses.dataclass(frozen=True)
class Estimate:
    """Estimated run time and memory of the measurement."""

    seconds: float  # run time, [s]
    memory: float  # largest table of the longest chain, [bytes]
    longest: int  # number of links of the longest chain

    @property
    def said(self) -> str:
        text = f"about {self.seconds / 60.0:.0f} min" if self.seconds < HOUR else f"about {self.seconds / HOUR:.1f} h"
        return text if self.memory < 1e9 else f"{text}, and {self.memory / 1e9:.1f} GB for {self.longest} links"


def expected(
    *, quick: bool | Effort = False, only: Iterable[str] | None = None, longest: int | None = None
) -> Estimate:
    parts, effort = _chosen(only), _spent(quick, longest)
    seconds = sum(part.seconds[0 if effort.name == "full" else 1] for part in parts)
    if not any(part.key == "lengths" for part in parts):
        return Estimate(seconds, 0.0, effort.longest)
    longer = [n for n in lengths.wanted(effort) if n > EFFORTS[effort.name].longest]
    if longer:
        start = time.perf_counter()
        chain(_SAMPLE)
        sample_time = time.perf_counter() - start
        seconds += sum(sample_time * (n / _SAMPLE) ** _GROWTH for n in longer)
    return Estimate(seconds, _TABLES * float(effort.longest) ** 2, effort.longest)


def _refuse(took: Estimate, *, patient: bool) -> None:
    memory = available()
    if memory is not None and took.memory > 0.8 * memory:
        raise ArgumentTypeError(
            f"longest={took.longest}: the tables of that chain would take {took.memory / 1e9:.1f} GB, but only "
            f"{memory / 1e9:.1f} GB are available. Choose a shorter chain."
        )
    if took.seconds > HOUR and not patient:
        raise ArgumentTypeError(
            f"longest={took.longest}: the run would take {took.said}. Choose a shorter chain, or allow long runs by "
            "patient=True (--patient)."
        )


@engine("tables")  # each robot differs, so robot-specific code would not pay off
def run(
    *,
    quick: bool | Effort = False,
    only: Iterable[str] | None = None,
    longest: int | None = None,
    patient: bool = False,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Measure the parts of the report; return ``machine``, ``effort``, ``seconds`` and ``parts`` as JSON data.

    Args:
        quick: Use fewer sizes and repeats, for a first impression.
        only: Names of the parts to measure, see ``PARTS``; by default, all parts.
        longest: Number of links in the longest chain; by default 1000, or 300 with ``quick``.
        patient: Allow runs of more than an hour; otherwise, such runs raise ``ArgumentTypeError``.
        progress: Callback that is called repeatedly with the completed and the total time, [s].
    """
    parts, effort = _chosen(only), _spent(quick, longest)
    took = expected(quick=effort, only=[part.key for part in parts])
    _refuse(took, patient=patient)
    results, seconds = {}, {}
    start = time.perf_counter()

    def done() -> None:
        if progress is not None:
            total = max(1, round(took.seconds))
            progress(min(total - 1, round(time.perf_counter() - start)), total)

    for part in parts:
        begun = time.perf_counter()
        with warnings.catch_warnings():
            # The robots keep their published inertias, even if these are implausible.
            warnings.simplefilter("ignore", PinClustersWarning)
            results[part.key] = part.measure(effort, done)
        seconds[part.key] = round(time.perf_counter() - begun, 1)
        done()
    return {"machine": machine(), "effort": dataclasses.asdict(effort), "seconds": seconds, "parts": results}


def statements(results: dict[str, Any]) -> list[Statement]:
    return [s for part, part_results in _measured(results) for s in part.statements(part_results)]


def write(results: dict[str, Any], folder: Path) -> list[Path]:
    files = [folder / "paper.json", folder / "paper.md"]
    write_json(results, files[0])
    with whole(files[1]) as (part,):
        part.write_text(f"{_TITLE}\n\n{page(results)}\n", encoding="utf-8")
    return files + draw(results, folder)


def draw(results: dict[str, Any], folder: Path, prefix: str = "") -> list[Path]:
    files = []
    for part, part_results in _measured(results):
        for name, draw_one in part.figures.items():
            figure = new_figure()
            draw_one(figure, part_results)
            files.append(folder / f"{prefix}{name}.png")
            save_figure(figure, files[-1], facecolor="white")
    return files


def page(results: dict[str, Any], pictures: str = "") -> str:
    all_statements = statements(results)
    count = {word: sum(s.verdict == word for s in all_statements) for word in (CONFIRMED, CORRECTED)}
    text = [
        _where(results),
        "Times are medians with their spread (half the interquartile range). Ratios are medians over repeats "
        "that ran at the same time. Percentages, ratios and orders of growth are compared with the published values; "
        "times are not, because processors and compilers differ. The verdicts are computed from the measured values.",
        "## Statements",
        f"{len(all_statements)} statements, {count[CONFIRMED]} confirmed, {count[CORRECTED]} corrected.",
        _table(
            [
                ("statement", "source", "measured", "verdict"),
                *((s.text, s.source, s.measured, f"**{s.verdict}**") for s in all_statements),
            ],
            "---",
        ),
    ]
    for part, part_results in _measured(results):
        text += [f"## {part.title}", part.timed]
        text += [f"![{part.title}]({pictures}{name}.png)" for name in part.figures]
        for head, rows in part.tables(part_results):
            text += [f"{head}:", _table(rows)]
        text += part.says(part_results)
    text += [
        "## Misprints",
        "These misprints were noticed during the implementation of the equations. The tests of this package confirm "
        "the corrections.",
        _table([("place", "printed", "correct"), *MISPRINTS], "---"),
    ]
    return "\n\n".join(text)


def _where(results: dict[str, Any]) -> str:
    m, effort = results["machine"], results["effort"]
    return (
        f"Measured on {m['cpu']}, {m['system']}, one thread, {m['lanes']} SIMD lanes; Python {m['python']}, "
        f"Pinocchio {m['pinocchio']}, Numba {m['numba']}, NumPy {m['numpy']}, pin_clusters {m['pin_clusters']} "
        f"(commit {m['commit']}); {m['date']}. {_ABOUT[effort['name']]}: {effort['repeats']} repeats of blocks of "
        f"{1e3 * effort['block']:g} ms, all functions in alternation, "
        f"{sum(results['seconds'].values()):.0f} s in total."
    )


def _table(rows: Iterable[Sequence[str]], side: str = "---:") -> str:
    head, *body = rows
    return "\n".join("| " + " | ".join(line) + " |" for line in (head, ["---", *[side] * (len(head) - 1)], *body))
