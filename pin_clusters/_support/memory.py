"""Checks that the available memory suffices for Pinocchio's data, before the data are allocated."""

import os
import warnings
from contextlib import suppress
from pathlib import Path

import pinocchio as pin

from ..errors import PinClustersWarning, TooLargeError

_GROUP = (  # files with the memory limit and usage of the control group, for example in a container
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)
# Every pin.Data contains four tensors of nv^3 doubles (8 bytes) for second-order derivatives.
_TENSORS = 4 * 8
_MUCH = 2**31
"""Size of a ``pin.Data`` above which a warning is emitted, [bytes]."""


def data_of(tree: pin.Model) -> pin.Data:
    """Return ``pin.Data(tree)``, which needs half the memory of ``tree.createData()``; warn or raise if it is large."""
    needed = _TENSORS * tree.nv**3
    if needed >= _MUCH:
        _say(tree, needed)
    return pin.Data(tree)


def _say(tree: pin.Model, needed: int) -> None:
    reason = (
        f"a pin.Data of the tree of {tree.name!r} needs {needed / 1e9:.1f} GB, because Pinocchio always allocates "
        f"four tensors of nv^3 numbers, and nv of the tree is {tree.nv}"
    )
    cure = (
        "Each model.createData() allocates a pin.Data. Create one data per thread and reuse it, use pc.batch, which "
        "needs no pin.Data, split the robot, or lock joints (model.with_locked)."
    )
    check_free(needed, reason, cure)
    warnings.warn(f"{reason}. {cure}", PinClustersWarning, stacklevel=6)


def check_free(needed: int, what: str, cure: str) -> None:
    """Raise ``TooLargeError``, with ``what`` and ``cure`` in its message, if fewer than ``needed`` bytes are free."""
    free = available()
    if free is not None and needed > free:
        raise TooLargeError(f"{what}; only {free / 1e9:.1f} GB are free. {cure}")


def available() -> int | None:
    limits: list[int] = []
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        limits.append(1024 * int(next(line for line in lines if line.startswith("MemAvailable")).split()[1]))
    if not limits:
        with suppress(OSError, ValueError, AttributeError):
            limits.append(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    for limit, used in _GROUP:
        with suppress(OSError, ValueError):  # without a limit, the file contains "max", and int() fails
            limits.append(int(Path(limit).read_text(encoding="ascii")) - int(Path(used).read_text(encoding="ascii")))
    with suppress(ImportError, OSError, ValueError):
        import resource

        limit_of_all = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit_of_all != resource.RLIM_INFINITY:
            pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
            limits.append(limit_of_all - pages * os.sysconf("SC_PAGE_SIZE"))
    return max(0, min(limits)) if limits else None
