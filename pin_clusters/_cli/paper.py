"""``pin-clusters paper``: the papers' tables and figures, measured and written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from .. import loaders
from .._kernels import compiling
from ..study import published
from . import common, compile, tables

_PLAIN = ("rnea", "aba", "crba", "columns", "energy", "simulate", "frame_jacobian", "tree")
_LOOPS = ("rnea", "aba", "columns")


def run(
    folder: Path, out: Console, *, quick: bool, only: Sequence[str] = (), longest: int | None = None,
    patient: bool = False,
) -> None:  # fmt: skip
    """Say how long it takes, measure, print the statements and write ``paper.json``, ``paper.md`` and the figures."""
    with common.output_folder(folder):
        took = published.expected(quick=quick, only=only or None, longest=longest)
        tables.say(out, f"This takes {took.said}, without what is compiled; results go to {folder}.")
        robots = [loaders.load(name) for name in ("geared_chain", "tello_with_arms")]
        compiling.announce(
            [k for model, names in zip(robots, (_PLAIN, _LOOPS), strict=True) for k in compile.needed(model, *names)]
        )
        with common.ProgressBar("paper") as progress:
            results = published.run(quick=quick, only=only or None, longest=longest, patient=patient, progress=progress)
        show(published.statements(results), out)
        with common.written(folder):
            files = published.write(results, folder)
    common.say_written(out, *files)


def show(statements: Sequence[published.Statement], out: Console) -> None:
    """Print the statements with their verdicts."""
    table = tables.table_of("What the papers state", "lll", "statement", "measured", "verdict")
    for s in statements:
        table.add_row(escape(s.text), escape(s.measured), s.verdict)
    tables.put(out, table)
