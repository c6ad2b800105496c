"""Where arrays are, and arguments of an entry point as the words of which Numba's calls are made."""

import ctypes
from typing import Any, Final

import numpy as np

LEFT_TO_KERNEL: Final = 2**62
"""What code of a robot's own returns of a state that it leaves to the kernel: it is not finite, or looks singular."""
SIZES: Final = (32, 64, 192)
"""How many words are passed in calls over rows: what is called takes those that it knows."""
WORDS_OF_KIND: Final = {"i0": 1, "b1": 7, "i1": 7, "f1": 7, "f2": 9, "i2": 9}
"""How many words an argument of a kernel takes, by its kind."""
SIZE: Final = 2
DATA: Final = 4
"""Which of the words of an array say how many numbers it has, and lead to them."""


def address_of(x: np.ndarray) -> int:
    """Return where the numbers of a contiguous array are, in a third of the time that ``x.ctypes.data`` takes."""
    if not x.size:
        return int(x.ctypes.data)
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(x.data))
    except TypeError:  # it may not be written
        return int(x.ctypes.data)


def words_of(x: Any) -> list[int]:
    """Return the words of a whole number, or of a contiguous array that somebody else keeps."""
    if not isinstance(x, np.ndarray):
        return [int(x)]
    return [0, 0, x.size, x.itemsize, address_of(x), *x.shape, *x.strides]
