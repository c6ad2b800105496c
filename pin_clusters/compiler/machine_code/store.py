"""Machine code on disk: a file per module, named by what it is made of; a checksum covers name and code.

A file that is damaged is made again; where nothing can be written, code is made in every process. There are no more
than some megabytes: what was used longest ago makes room.

Environment:
    PIN_CLUSTERS_PROGRAMS: How many megabytes of code are kept, 512 by default.
"""

import functools
import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..native import own_folder
from ..native.cache_folders import find
from ..native.telling import say

_NAME = "programs"
_MEGABYTE = 2**20


@functools.cache
def _most() -> float:
    """Return how many bytes are kept."""
    given = os.environ.get("PIN_CLUSTERS_PROGRAMS", "512")
    try:
        return max(0.0, float(given)) * _MEGABYTE
    except ValueError:
        say(f"PIN_CLUSTERS_PROGRAMS={given!r} is no number of megabytes; it is 512")
        return 512.0 * _MEGABYTE


@functools.cache
def folder() -> Path | None:
    """Return where machine code of programs is kept; None if no place serves."""
    return find(_NAME, "programs", "programs are compiled again in every process")


def digest(*what: str) -> str:
    """Name what code is made of."""
    h = hashlib.sha256()
    for x in what:
        h.update(f"{len(x)} ".encode() + x.encode())
    return h.hexdigest()[:32]


def kept(name: str, make: Callable[[], bytes]) -> bytes:
    """Return what was kept under a name; if there is nothing, or it is damaged, what ``make`` returns."""
    place = folder()
    if place is None:
        return make()
    file = f"{name}.o"
    data = own_folder.read(place, file)
    if data is None:
        data = make()
        with suppress(OSError):  # a full disk: made again next time
            own_folder.make_room(place, ".o", len(data), _most())
            own_folder.write(place, file, data)
    return data
