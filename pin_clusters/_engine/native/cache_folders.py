"""Folders where compiled code is kept between processes.

Environment:
    PIN_CLUSTERS_CACHE: Folder of compiled code, instead of the user's cache folder.
"""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from .telling import say


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
        say(f"{fault}; {f'{what} are kept in {found.parent}' if found is not None else without}")
    return found


def _fault(place: Path, folder: Path) -> str:
    """Say why code cannot be kept in a folder of a place, "" if it can.

    What is found there is run, and its checksums stand beside it: nobody but the user may be able to write there.
    """
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)
        why = _not_ones_own(place) or _not_ones_own(folder) if hasattr(os, "getuid") else ""
        if why:
            return f"{why}, and what is kept there is run: PIN_CLUSTERS_CACHE can name a folder that is yours alone"
        with tempfile.TemporaryFile(dir=folder):
            return ""
    except OSError:
        return f"cannot write to {place}"


def _not_ones_own(path: Path) -> str:
    about = path.lstat()
    if stat.S_ISLNK(about.st_mode):
        return f"{path} is not used: it is a link"
    if about.st_uid != os.getuid():
        return f"{path} is not used: it belongs to user {about.st_uid}"
    if about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"{path} is not used: others may write to it (mode {stat.S_IMODE(about.st_mode):o})"
    for above in path.resolve().parents:  # who may rename it may put another one in its place, but for sticky folders
        if above.stat().st_mode & (stat.S_IWOTH | stat.S_ISVTX) == stat.S_IWOTH:
            return f"{path} is not used: others may write to {above}"
    return ""
