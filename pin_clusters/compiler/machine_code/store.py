"""Machine code on disk. Each module has a file with a checksum, named by a digest of all data that affect the code.

Damaged files are replaced. If no folder is writable, code is compiled in every process. If the total size exceeds a
limit, the least recently used files are removed.

Environment:
    PIN_CLUSTERS_PROGRAMS: Maximum total size of the stored code [MiB], by default 512.
"""

import functools
import hashlib
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from ..native import own_folder
from ..native.cache_folders import find
from ..native.notices import print_notice

_NAME = "programs"
_MEGABYTE = 2**20


@functools.cache
def _most() -> float:
    """Return the maximum total size of the stored code [bytes]."""
    setting = os.environ.get("PIN_CLUSTERS_PROGRAMS", "512")
    try:
        return max(0.0, float(setting)) * _MEGABYTE
    except ValueError:
        print_notice(f"PIN_CLUSTERS_PROGRAMS={setting!r} is not a number of megabytes; using 512")
        return 512.0 * _MEGABYTE


@functools.cache
def folder() -> Path | None:
    return find(_NAME, "programs", "programs are compiled again in every process")


def digest(*what: str) -> str:
    h = hashlib.sha256()
    for x in what:
        h.update(f"{len(x)} ".encode() + x.encode())
    return h.hexdigest()[:32]


def kept(name: str, make: Callable[[], bytes]) -> bytes:
    """Return the data that are stored under a name. If they are missing or damaged, store and return ``make()``."""
    directory = folder()
    if directory is None:
        return make()
    file = f"{name}.o"
    data = own_folder.read(directory, file)
    if data is None:
        data = make()
        with suppress(OSError):  # for example if the disk is full; then the code is not stored
            own_folder.remove_oldest(directory, ".o", len(data), _most())
            own_folder.write(directory, file, data)
    return data
