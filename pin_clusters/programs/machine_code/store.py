"""Machine code on disk: a file per module, named by what it is made of; its checksum stands before it.

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

from ..._engine.native.cache_folders import find
from ..._engine.native.telling import say
from ..._support.whole_files import whole

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


def _make_room(place: Path, size: int) -> None:
    """Remove what was used longest ago, down to three quarters, if so many bytes more are too many."""
    found = []
    for path in place.glob("*.o"):
        with suppress(OSError):  # another process may remove it
            at = path.stat()
            found.append((at.st_mtime, at.st_size, path))
    total = size + sum(n for _, n, _ in found)
    if total <= _most():
        return
    for _, n, path in sorted(found):
        if total <= 0.75 * _most():
            return
        with suppress(OSError):
            path.unlink()
        total -= n


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
    path = place / f"{name}.o"
    with suppress(OSError):
        content = path.read_bytes()
        checksum, data = content[:32], content[32:]
        if hashlib.sha256(data).digest() == checksum:
            with suppress(OSError):
                os.utime(path)  # was used now
            return data
    data = make()
    _make_room(place, len(data))
    with suppress(OSError), whole(path) as (part,):  # a full disk: made again next time
        part.write_bytes(hashlib.sha256(data).digest() + data)
    return data
