"""Addresses of arrays, and the 64-bit words in which Numba passes arguments to compiled functions."""

import ctypes
from typing import Any, Final

import numpy as np

LEFT_TO_KERNEL: Final = 2**62
"""Status that robot-specific code returns if the kernel must run, because a state is not finite or almost singular."""
SIZES: Final = (32, 64, 192)
"""Possible numbers of words in a kernel call for rows of states. The kernel ignores the words after its arguments."""
WORDS_OF_KIND: Final = {"i0": 1, "b1": 7, "i1": 7, "f1": 7, "f2": 9, "i2": 9}
"""Dictionary from the type of an argument to its number of words."""
SIZE: Final = 2
DATA: Final = 4
"""Indices of two words of an array: ``SIZE`` for the number of entries, and ``DATA`` for the address of the data."""


def address_of(x: np.ndarray) -> int:
    """Return the address of a contiguous array's data. This takes a third of the time of ``x.ctypes.data``."""
    if not x.size:
        return int(x.ctypes.data)
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(x.data))
    except TypeError:  # the array is read-only
        return int(x.ctypes.data)


def words_of(x: Any) -> list[int]:
    """Return the words that represent an integer or a contiguous array; the caller must keep the array alive."""
    if not isinstance(x, np.ndarray):
        return [int(x)]
    return [0, 0, x.size, x.itemsize, address_of(x), *x.shape, *x.strides]
