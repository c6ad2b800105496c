"""Test whether this process may execute memory that it has written, which machine code from LLVM requires."""

import ctypes
import mmap
import sys


def may_execute() -> bool:
    """Return whether written memory can be made executable, as LLVM does; True if the test is impossible.

    SELinux, ``MemoryDenyWriteExecute=`` of systemd and ``PR_SET_MDWE`` can forbid this.
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
        del first  # the mapping cannot be closed while a pointer to it exists
        return bool(protect(address, size, mmap.PROT_READ | mmap.PROT_EXEC) == 0)
