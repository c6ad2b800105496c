"""Several text files at once: all whole, or none."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def write_all(folder: str | Path, texts: Mapping[str, str]) -> tuple[Path, ...]:
    """Write texts, by the names of their files, into a folder that is made if it does not exist.

    They go to temporary files first, so that nothing is left half-written; what cannot be written is an ``OSError``.

    Returns:
        The paths, in the order of the texts.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written: dict[Path, str] = {}
    try:
        for file_name, text in texts.items():
            path = folder / file_name
            handle, name = tempfile.mkstemp(dir=folder, prefix=f".{path.name}.")
            written[path] = name
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            mask = os.umask(0o077)  # temporary files are readable by their owner only
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)
        paths = tuple(written)
        for path in paths:
            os.replace(written[path], path)
            del written[path]
    finally:
        for name in written.values():
            Path(name).unlink(missing_ok=True)
    return paths
