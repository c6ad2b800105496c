"""Whether what a batch needs fits into memory: asked before anything is allocated."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ..errors import TooLargeError

_SMALL = 2**26
"""[bytes] of which nobody need ask."""
_GROUP = (  # limits of the group of processes, as in a container: the limit, and what is used of it
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def check(name: str, rows: int, needed: int) -> None:
    """Refuse what does not fit.

    Args:
        name: Of the function.
        rows: How many there are.
        needed: [bytes].

    Raises:
        TooLargeError: There is not so much.
    """
    if needed <= _SMALL:
        return
    there = available()
    if there is not None and needed > there:
        raise TooLargeError(
            f"pc.batch.{name}: {rows} rows need {needed} bytes ({needed / 2**30:.1f} GiB) for results, copies of what "
            f"is given and room, and {there} ({there / 2**30:.1f} GiB) are free. Take at most "
            f"{max(1, rows * there // needed)} rows at a time, and pass out= to reuse the room."
        )


def available() -> int | None:
    """Return how many bytes can still be had; None if nothing tells."""
    found: list[int] = []
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found.append(1024 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]))
    if not found:
        with suppress(OSError, ValueError, AttributeError):
            found.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for limit, used in _GROUP:
        with suppress(OSError, ValueError):  # "max": no limit
            found.append(int(Path(limit).read_text(encoding="ascii")) - int(Path(used).read_text(encoding="ascii")))
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit_of_all = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit_of_all != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            found.append(limit_of_all - pages * os.sysconf("SC_PAGE_SIZE"))
    return max(0, min(found)) if found else None
