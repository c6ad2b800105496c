"""The commands with their options and help; what they do is in the modules of ``_cli``, imported when they run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}
POSITIVE = click.FloatRange(min=0.0, min_open=True)
ROBOT = click.argument("robot", metavar="ROBOT|FILE")
DROP_ROTORS = click.option(
    "--drop-rotors", is_flag=True, help="Leave the rotors out of the approximations, mass and all."
)
WORKERS = click.option("--workers", type=click.IntRange(1), help="Processes; 1 starts none.  [default: all cores]")


def output(command: str) -> Callable[[Any], Any]:
    """Return the option of the folder of results, by default named after the command and the robot."""
    said = f"Folder of the results.  [default: ./{command}_ROBOT]"
    return click.option("-o", "--output", type=click.Path(path_type=Path), help=said)


def folder_of(output: Path | None, command: str, robot: str) -> Path:
    """Return that folder; of a file the name without its folder and ending counts."""
    return Path(f"{command}_{Path(robot).stem or 'robot'}") if output is None else output
