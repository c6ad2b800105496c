"""Arrays of any library that live on a GPU, as the CUDA array interface (version 2 and 3) tells of them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentTypeError, ShapeError

_CUDA = (2, 13)  # of DLPack: device memory, managed memory
REALS = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}
"""Types of numbers, and what C calls them."""


class View(NamedTuple):
    """Where an array is: address in the memory of a device, that device's number, shape and type.

    ``label`` is the name of the argument; ``stream`` what the interface says of it: None, or a handle.
    """

    label: str
    pointer: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    device: int
    stream: int | None


def on_gpu(*arrays: Any) -> bool:
    """Whether one of some arguments is an array that lives on a GPU."""
    return any(type(x) is not np.ndarray and _lives_there(x) for x in arrays)


def _lives_there(x: Any) -> bool:
    place = getattr(x, "__dlpack_device__", None)
    if callable(place):
        return int(place()[0]) in _CUDA
    return hasattr(x, "__cuda_array_interface__")


def view(label: str, x: Any) -> View:
    """Return where an array is; ``label`` names the argument in errors.

    Raises:
        ArgumentTypeError: It is not on a GPU, or needs its gradient, or is not contiguous.
    """
    if not on_gpu(x):
        raise ArgumentTypeError(
            f"{label} is {_described(x)}, but other arguments live on a GPU. Bring all of them to one side."
        )
    try:
        told = x.__cuda_array_interface__
    except (AttributeError, RuntimeError) as error:  # torch refuses tensors that need a gradient
        raise ArgumentTypeError(
            f"{label} cannot be taken as it is ({error}). Of a tensor that needs its gradient pass {label}.detach(), "
            "or call pc.torch, which differentiates."
        ) from None
    shape, dtype = tuple(map(int, told["shape"])), np.dtype(told["typestr"])
    strides = told.get("strides")
    if strides is not None and 0 not in shape and not _is_plain(shape, strides, dtype.itemsize):
        raise ArgumentTypeError(
            f"{label} has shape {shape} and strides {tuple(strides)} bytes: rows on a GPU are not copied, and must be "
            f"contiguous. Make them so where the array is made, or pass {label}.contiguous() (torch), "
            f"cupy.ascontiguousarray({label})."
        )
    place = getattr(x, "__dlpack_device__", None)
    return View(label, int(told["data"][0] or 0), shape, dtype, int(place()[1]) if place else 0, told.get("stream"))


def _is_plain(shape: Sequence[int], strides: Sequence[int], size: int) -> bool:
    for n, stride in zip(reversed(shape), reversed(strides), strict=True):
        if n > 1 and stride != size:
            return False
        size *= n
    return True


def _described(x: Any) -> str:
    if isinstance(x, np.ndarray):
        return "a NumPy array"
    return f"a {type(x).__name__} in the memory of the host" if hasattr(x, "__dlpack__") else f"a {type(x).__name__}"


def together(function: str, views: Sequence[View]) -> tuple[np.dtype[Any], int]:
    """Return the type and the device that all arrays have.

    Raises:
        ArgumentTypeError: They have several, or a type that kernels do not have.
    """
    first = views[0]
    for x in views:
        if x.dtype not in REALS:
            raise ArgumentTypeError(
                f"{function}: {x.label} is of {x.dtype}; on a GPU arrays are float32 or float64, all of one type."
            )
        if x.dtype != first.dtype:
            raise ArgumentTypeError(
                f"{function}: {first.label} is of {first.dtype}, {x.label} of {x.dtype}. On a GPU nothing is "
                "converted: make all of one type."
            )
        same_device(function, first, x)
    return first.dtype, first.device


def same_device(function: str, first: View, x: View) -> None:
    """Refuse an array on another device than the first one."""
    if x.device != first.device:
        raise ArgumentTypeError(
            f"{function}: {first.label} is on device {first.device}, {x.label} on device {x.device}. Bring all arrays "
            "to one."
        )


def rows_of(function: str, x: View, shape: tuple[int, ...], rows: int | None = None) -> int:
    """Return how many rows an array has, or raise ``ShapeError``."""
    if len(x.shape) != 1 + len(shape) or x.shape[1:] != shape or (rows is not None and x.shape[0] != rows):
        wanted = ", ".join([str("N" if rows is None else rows), *map(str, shape)])
        raise ShapeError(f"{function}: {x.label} has shape {x.shape}, expected ({wanted}).")
    return x.shape[0]
