"""Operations that differ between GPU array libraries: finding the current stream, and creating arrays."""

import math
import sys
from typing import Any

from ...errors import ArgumentTypeError, TooLargeError
from .arrays import View

LEGACY = 1
"""Handle of the legacy default stream."""


def library_of(x: Any) -> str:
    name = type(x).__module__.partition(".")[0]
    return "jax" if name.startswith("jax") else name


def stream_of(x: Any, seen: View) -> int:
    name = library_of(x)
    library = sys.modules.get(name)
    if name == "torch" and library is not None:
        return int(library.cuda.current_stream(seen.device).cuda_stream) or LEGACY
    if name == "cupy" and library is not None:
        return int(library.cuda.get_current_stream().ptr) or LEGACY
    return int(seen.stream or LEGACY)


def empty(x: Any, seen: View, shape: tuple[int, ...], dtype: Any, label: str = "out") -> Any:
    """Return a new array from the library of x, on the device of ``seen``; ``label`` is its name in messages."""
    name = library_of(x)
    library = sys.modules.get(name)
    try:
        if name == "torch" and library is not None:
            return library.empty(shape, dtype=getattr(library, dtype.name), device=x.device)
        if name == "cupy" and library is not None:
            with library.cuda.Device(seen.device):
                return library.empty(shape, dtype=dtype)
    except Exception as error:
        # Each library has its own error class; the class of torch is a RuntimeError.
        if "OutOfMemory" not in type(error).__name__:
            raise
        size = math.prod(shape) * dtype.itemsize / 2**30
        raise TooLargeError(
            f"{label} of shape {shape} ({size:.3g} GiB) does not fit into the memory of device {seen.device}. Pass "
            f"fewer rows per call, or pass {label}=."
        ) from error
    raise ArgumentTypeError(
        f"arrays of {name} can be read and written, but not created. Pass {label}=, an array of shape {shape} and type "
        f"{dtype} on device {seen.device}."
    )
