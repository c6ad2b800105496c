"""``pin-clusters export``: a folder of C code for one robot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from ..model import ClusterModel
from ..programs import codegen
from . import common

_KERNELS = {"rnea": "rnea", "aba": "aba", "crba": "crba", "computeMinverse": "minverse", "energies": "energy"}


def kernels(functions: Sequence[str]) -> list[str]:
    """Return the kernels whose numbers go into the test of an export."""
    return [_KERNELS[name] for name in functions if name in _KERNELS]


def run(model: ClusterModel, folder: Path, out: Console, functions: Sequence[str], **options: Any) -> None:
    """Export, and say what was written."""
    made = codegen.export(model, folder, functions, **options)
    for note in made.notes:
        click.secho(f"note: {note}", fg="yellow", err=True)
    common.say_written(out, *made.files)
