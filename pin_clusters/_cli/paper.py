"""``pin-clusters paper``: the papers' tables and figures, measured and written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from .._engine import preparing as compiling
from .._engine.entry_points import Kernel
from ..files import readers as loaders
from ..studies.study import published
from . import common, compile, tables

# kernels of the parts; of "tables" those for closed loops as well
_KERNELS = {
    "tables": ("rnea", "aba", "columns"),
    "lengths": ("rnea", "aba", "columns"),
    "shapes": ("rnea", "aba", "crba", "columns"),
    "sinusoids": ("rnea",),
    "virtual_work": ("aba",),
    "passive": ("simulate", "energy"),
    "inputs": ("aba", "columns", "frame_jacobian"),
    "crossover": ("rnea", "aba", "crba"),
}


def run(
    folder: Path, out: Console, *, quick: bool, only: Sequence[str] = (), longest: int | None = None,
    patient: bool = False,
) -> None:  # fmt: skip
    """Say how long it takes, measure, print the statements and write ``paper.json``, ``paper.md`` and the figures."""
    with common.output_folder(folder):
        took = published.expected(quick=quick, only=only or None, longest=longest)
        tables.say(out, f"This takes {took.said}, without what is compiled; results go to {folder}.")
        compiling.announce(_kernels(only or tuple(_KERNELS)))
        with common.ProgressBar("paper") as progress:
            results = published.run(quick=quick, only=only or None, longest=longest, patient=patient, progress=progress)
        show(published.statements(results), out)
        with common.written(folder):
            files = published.write(results, folder)
    common.say_written(out, *files)


def _kernels(parts: Sequence[str]) -> list[Kernel]:
    """Return what the parts will compile, but for the baselines, which say so themselves."""
    names = dict.fromkeys(name for part in parts for name in _KERNELS[part])
    wanted = [*compile.needed(loaders.load("geared_chain"), *names)]
    if "tables" in parts:
        wanted += compile.needed(loaders.load("tello_with_arms"), *_KERNELS["tables"])
    return wanted


def show(statements: Sequence[published.Statement], out: Console) -> None:
    """Print the statements with their verdicts."""
    table = tables.table_of("What the papers state", "lll", "statement", "measured", "verdict")
    for s in statements:
        table.add_row(escape(s.text), escape(s.measured), s.verdict)
    tables.put(out, table)
