"""Folders in which compiled code is stored for later processes.

Environment:
    PIN_CLUSTERS_CACHE: Folder that stores compiled code, in place of the user's cache folder.
"""

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from . import own_folder
from .notices import print_notice


def candidates() -> list[Path]:
    """Return possible folders, best first. The paths are absolute, because a program can change its working folder."""
    setting = os.environ.get("PIN_CLUSTERS_CACHE")
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    places: list[Path] = []
    if setting:
        places.append(Path(setting))
    else:
        with suppress(RuntimeError):  # raised if there is no home folder
            places.append((Path(base) if base else Path.home() / ".cache") / "pin_clusters")
    with suppress(FileNotFoundError):  # raised if there is no temporary folder
        user = os.geteuid() if hasattr(os, "geteuid") else "user"
        places.append(Path(tempfile.gettempdir()) / f"pin_clusters-{user}")
    return [folder.absolute() for folder in places]


_faults_shown: set[str] = set()


def find(name: str, what: str, without: str) -> Path | None:
    """Return the folder ``name`` in the best usable parent folder, or None; print the reason for a fallback once.

    The message contains ``what`` (the kind of code) or, if no folder can be used, ``without`` (the consequence).
    """
    faults: list[str] = []
    usable: Path | None = None
    for folder in candidates():
        fault = _fault(folder, folder / name)
        if not fault:
            usable = folder / name
            break
        faults.append(fault)
    fault = faults[0] if faults else "there is no home folder and no temporary folder" if usable is None else ""
    if fault and fault not in _faults_shown:
        _faults_shown.add(fault)
        instead = f"{what} are kept in {usable.parent}" if usable is not None else without
        print_notice(f"{fault}; {instead}. Set PIN_CLUSTERS_CACHE to a folder that only you can write to.")
    return usable


def _fault(place: Path, folder: Path) -> str:
    try:
        own_folder.check(folder)
    except own_folder.NotOwnError as error:
        return f"{place} is not used: {error}, but code stored there would be executed"
    except OSError:
        return f"cannot write to {place}"
    return ""
