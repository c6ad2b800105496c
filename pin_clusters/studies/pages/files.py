"""Several text files at once: all whole, or none."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ..._support.whole_files import whole


def write_all(folder: str | Path, texts: Mapping[str, str]) -> tuple[Path, ...]:
    """Write texts, by the names of their files, into a folder that is made if it does not exist.

    Nothing is left half-written; what cannot be written is an ``OSError``.

    Returns:
        The paths, in the order of the texts.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    paths = tuple(folder / name for name in texts)
    with whole(*paths) as parts:
        for part, text in zip(parts, texts.values(), strict=True):
            part.write_text(text, encoding="utf-8", newline="\n")
    return paths
