"""Machine code on disk: a file per module, named by what it is made of; its checksum stands before it.

A file that is damaged is made again; where nothing can be written, code is made in every process.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..._engine.native.cache_folders import find
from ..._support.whole_files import whole

_NAME = "programs"


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
            return data
    data = make()
    with suppress(OSError), whole(path) as (part,):  # a full disk: made again next time
        part.write_bytes(hashlib.sha256(data).digest() + data)
    return data
