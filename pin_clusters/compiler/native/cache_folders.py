"""Folders where compiled code is kept between processes.

Environment:
    PIN_CLUSTERS_CACHE: Folder of compiled code, instead of the user's cache folder.
"""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from . import own_folder
from .telling import say


def candidates() -> list[Path]:
    """List the places for compiled code, best first; absolute, as a program may change its working folder."""
    chosen = os.environ.get("PIN_CLUSTERS_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    places: list[Path] = []
    if chosen:
        places.append(Path(chosen))
    else:
        with suppress(RuntimeError):  # no home folder
            places.append((Path(base) if base else Path.home() / ".cache") / "pin_clusters")
    with suppress(FileNotFoundError):  # no temporary folder: nothing can be written
        user = os.geteuid() if hasattr(os, "geteuid") else "user"
        places.append(Path(tempfile.gettempdir()) / f"pin_clusters-{user}")
    return [place.absolute() for place in places]


_said: set[str] = set()


def find(name: str, what: str, without: str) -> Path | None:
    """Return the folder of a name in the best place that serves; None if none does. Says once why it falls back.

    Args:
        name: Of the folder.
        what: What is kept there, for a message.
        without: What comes of it where none serves.
    """
    faults: list[str] = []
    found: Path | None = None
    for place in candidates():
        fault = _fault(place, place / name)
        if not fault:
            found = place / name
            break
        faults.append(fault)
    fault = faults[0] if faults else "cannot write to a folder of the user or a temporary one" if found is None else ""
    if fault and fault not in _said:
        _said.add(fault)
        instead = f"{what} are kept in {found.parent}" if found is not None else without
        say(f"{fault}; {instead}. PIN_CLUSTERS_CACHE can name a folder that only you can write to.")
    return found


def _fault(place: Path, folder: Path) -> str:
    """Return why code cannot be kept in a folder of a place, "" if it can."""
    try:
        own_folder.check(folder)
    except own_folder.NotOwnError as error:
        return f"{place} is not used: {error}, and code that is kept there is run"
    except OSError:
        return f"cannot write to {place}"
    return ""
