"""Folders where compiled code is kept between processes.

Environment:
    PIN_CLUSTERS_CACHE: Folder of compiled code, instead of the user's cache folder.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path


def candidates() -> list[Path]:
    """List the places for compiled code, best first."""
    chosen = os.environ.get("PIN_CLUSTERS_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    places: list[Path] = []
    if chosen:
        places.append(Path(chosen))
    else:
        with suppress(RuntimeError):  # no home folder
            places.append((Path(base) if base else Path.home() / ".cache") / "pin_clusters")
    with suppress(FileNotFoundError):  # no temporary folder: nothing can be written
        user = os.getuid() if hasattr(os, "getuid") else "user"
        places.append(Path(tempfile.gettempdir()) / f"pin_clusters-{user}")
    return places


def usable(place: Path, name: str) -> bool:
    """Whether code can be kept in a folder of a place that is the user's own: what is found there is executed."""
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if hasattr(os, "getuid") and place.stat().st_uid != os.getuid():
            return False
        (place / name).mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=place / name):
            return True
    except OSError:
        return False
