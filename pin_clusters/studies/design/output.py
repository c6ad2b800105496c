"""The page and its tables as files: all whole, or none."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ..pages.files import write_all
from .page import page
from .tables import tables

if TYPE_CHECKING:
    from .result import MechanismResult

PAGE = "mechanism.html"


def write(result: MechanismResult, folder: str | Path) -> tuple[Path, ...]:
    """Write the page and the tables into a folder, and return their paths, the page first."""
    return write_all(folder, {PAGE: page(result), **tables(result)})
