"""What libraries of arrays on GPUs call the same things: the stream that they work on, and a new array."""

import math
import sys
from typing import Any

from ...errors import ArgumentTypeError, TooLargeError
from .arrays import View

LEGACY = 1
"""Handle of the stream of who names none."""


def library_of(x: Any) -> str:
    """Return the name of the library that an array is of."""
    name = type(x).__module__.partition(".")[0]
    return "jax" if name.startswith("jax") else name


def stream_of(x: Any, seen: View) -> int:
    """Return the handle of the stream on which the library of an array, of which that was seen, works now."""
    name = library_of(x)
    library = sys.modules.get(name)
    if name == "torch" and library is not None:
        return int(library.cuda.current_stream(seen.device).cuda_stream) or LEGACY
    if name == "cupy" and library is not None:
        return int(library.cuda.get_current_stream().ptr) or LEGACY
    return int(seen.stream or LEGACY)


def empty(x: Any, seen: View, shape: tuple[int, ...], dtype: Any, label: str = "out") -> Any:
    """Return a new array of the library of x, where that was ``seen``; dtype is NumPy's, label what it is for.

    Raises:
        TooLargeError: The device has not so much memory.
        ArgumentTypeError: It is not known how this library makes arrays.
    """
    name = library_of(x)
    library = sys.modules.get(name)
    try:
        if name == "torch" and library is not None:
            return library.empty(shape, dtype=getattr(library, dtype.name), device=x.device)
        if name == "cupy" and library is not None:
            with library.cuda.Device(seen.device):
                return library.empty(shape, dtype=dtype)
    except Exception as error:
        # each library has a class of its own for it, torch a RuntimeError
        if "OutOfMemory" not in type(error).__name__:
            raise
        size = math.prod(shape) * dtype.itemsize / 2**30
        raise TooLargeError(
            f"{label} of shape {shape}, {size:.3g} GiB, does not fit into the memory of device {seen.device}. Take "
            f"fewer rows at a time, or give {label}=."
        ) from error
    raise ArgumentTypeError(
        f"arrays of {name} are read and written, but not made here: give {label}=, an array of shape {shape} and type "
        f"{dtype} on device {seen.device}."
    )
