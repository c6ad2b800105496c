"""Test whether the system allows this process to execute memory that it has written, as machine code requires."""

import ctypes
import mmap
import sys


def may_execute() -> bool:
    """Return whether the process can make written memory executable, as LLVM does; True if it cannot be tested.

    SELinux, the systemd option ``MemoryDenyWriteExecute=`` and ``PR_SET_MDWE`` can forbid executable memory.
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
        address, size = ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(mmap.PAGESIZE)
        del first  # A mapping cannot be closed while a pointer to it exists.
        return bool(protect(address, size, mmap.PROT_READ | mmap.PROT_EXEC) == 0)
