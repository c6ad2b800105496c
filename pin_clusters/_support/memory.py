"""How much memory there is, and what Pinocchio takes of it: asked before anything is allocated."""

import os
import warnings
from contextlib import suppress
from pathlib import Path

import pinocchio as pin

from ..errors import PinClustersWarning, TooLargeError

_GROUP = (  # limits of the group of processes, as in a container: the limit, and what is used of it
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)
# Pinocchio keeps four tensors of nv^3 doubles in every pin.Data, for derivatives of second order
_TENSORS = 4 * 8
_MUCH = 2**31
"""[bytes] of which nobody expects a workspace to be."""


def data_of(tree: pin.Model) -> pin.Data:
    """Return a new ``pin.Data``; warn if it takes gigabytes, raise ``TooLargeError`` if there is not so much memory.

    ``tree.createData()`` makes a copy of what it has made, so that it needs twice the memory.
    """
    needed = _TENSORS * tree.nv**3
    if needed >= _MUCH:
        _say(tree, needed)
    return pin.Data(tree)


def _say(tree: pin.Model, needed: int) -> None:
    what = (
        f"a pin.Data of the tree of {tree.name!r} takes {needed / 1e9:.1f} GB: Pinocchio keeps four tensors of nv^3 "
        f"numbers in it, whether they are used or not, and nv of the tree is {tree.nv}"
    )
    cure = (
        "Each model.createData() makes one. Share one data (it serves one thread), compute rows with pc.batch, which "
        "makes none, or split the robot, or lock joints (model.with_locked)."
    )
    check_free(needed, what, cure)
    warnings.warn(f"{what}. {cure}", PinClustersWarning, stacklevel=6)


def check_free(needed: int, what: str, cure: str) -> None:
    """Raise ``TooLargeError`` if so many bytes are not free; ``what`` takes them, ``cure`` is a sentence."""
    there = available()
    if there is not None and needed > there:
        raise TooLargeError(f"{what}; {there / 1e9:.1f} GB are free. {cure}")


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
