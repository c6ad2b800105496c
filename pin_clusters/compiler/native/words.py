"""Addresses of arrays, and the words (64-bit integers) with which Numba passes arguments to compiled functions."""

import ctypes
from typing import Any, Final

import numpy as np

LEFT_TO_KERNEL: Final = 2**62
"""Status that robot-specific code returns if the kernel must run: the state is not finite or looks singular."""
SIZES: Final = (32, 64, 192)
"""Numbers of words that calls over rows can pass; the called function ignores words behind its arguments."""
WORDS_OF_KIND: Final = {"i0": 1, "b1": 7, "i1": 7, "f1": 7, "f2": 9, "i2": 9}
"""Number of words of an argument, by its kind."""
SIZE: Final = 2
DATA: Final = 4
"""Indices of the number of entries (``SIZE``) and of the data's address (``DATA``) in the words of an array."""


def address_of(x: np.ndarray) -> int:
    """Return the address of the data of a contiguous array, in a third of the time that ``x.ctypes.data`` takes."""
    if not x.size:
        return int(x.ctypes.data)
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(x.data))
    except TypeError:  # the array is read-only
        return int(x.ctypes.data)


def words_of(x: Any) -> list[int]:
    """Return the words of an integer, or of a contiguous array, which the caller must keep alive."""
    if not isinstance(x, np.ndarray):
        return [int(x)]
    return [0, 0, x.size, x.itemsize, address_of(x), *x.shape, *x.strides]
