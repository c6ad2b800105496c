"""Whether this process may execute what it has written: machine code that LLVM makes is of that kind."""

import ctypes
import mmap
import sys


def may_execute() -> bool:
    """Try as LLVM does: memory that was written becomes executable.

    SELinux, ``MemoryDenyWriteExecute=`` of systemd and ``PR_SET_MDWE`` refuse that. Where it cannot be tried, the
    answer is yes.
    """
    if sys.platform != "linux":
        return True
    try:
        protect = ctypes.CDLL(None).mprotect
    except (OSError, AttributeError):
        return True
    with mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as page:
        page[0] = 0
        first = ctypes.c_char.from_buffer(page)
        at, size = ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(mmap.PAGESIZE)
        del first  # else the page could not be given back
        return bool(protect(at, size, mmap.PROT_READ | mmap.PROT_EXEC) == 0)
