"""GPU arrays of any library with the CUDA array interface (versions 2 and 3)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...errors import ArgumentTypeError, ShapeError

_CUDA = (2, 13)  # DLPack device types of device memory and managed memory
REALS = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}


class View(NamedTuple):
    """Description of a GPU array."""

    label: str  # name of the argument in messages
    pointer: int  # address in device memory
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    device: int  # number of the device
    stream: int | None  # handle of the stream in the array interface


def on_gpu(*arrays: Any) -> bool:
    return any(type(x) is not np.ndarray and _is_on_gpu(x) for x in arrays)


def _is_on_gpu(x: Any) -> bool:
    dlpack_device = getattr(x, "__dlpack_device__", None)
    if callable(dlpack_device):
        return int(dlpack_device()[0]) in _CUDA
    return hasattr(x, "__cuda_array_interface__")


def view(label: str, x: Any) -> View:
    if not on_gpu(x):
        raise ArgumentTypeError(
            f"{label} is {_described(x)}, but other arguments are on a GPU. Move all arguments to the same device."
        )
    try:
        described = x.__cuda_array_interface__
    except (AttributeError, RuntimeError) as error:  # torch raises for tensors that require a gradient
        raise ArgumentTypeError(
            f"{label} cannot be read ({error}). If the tensor requires a gradient, pass {label}.detach(), or use "
            "pc.torch, which differentiates."
        ) from None
    shape, dtype = tuple(map(int, described["shape"])), np.dtype(described["typestr"])
    strides = described.get("strides")
    if strides is not None and 0 not in shape and not _is_plain(shape, strides, dtype.itemsize):
        raise ArgumentTypeError(
            f"{label} has shape {shape} and strides {tuple(strides)} bytes, but rows on a GPU must be contiguous, "
            f"because they are not copied. Create a contiguous array, or pass {label}.contiguous() (torch) or "
            f"cupy.ascontiguousarray({label})."
        )
    device_of = getattr(x, "__dlpack_device__", None)
    device = int(device_of()[1]) if device_of else 0
    return View(label, int(described["data"][0] or 0), shape, dtype, device, described.get("stream"))


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
    first = views[0]
    for x in views:
        if x.dtype not in REALS:
            raise ArgumentTypeError(
                f"{function}: {x.label} has type {x.dtype}, but arrays on a GPU must all be float32 or all be float64."
            )
        if x.dtype != first.dtype:
            raise ArgumentTypeError(
                f"{function}: {first.label} has type {first.dtype} and {x.label} has type {x.dtype}. Convert all "
                "arrays to one type."
            )
        same_device(function, first, x)
    return first.dtype, first.device


def same_device(function: str, first: View, x: View) -> None:
    if x.device != first.device:
        raise ArgumentTypeError(
            f"{function}: {first.label} is on device {first.device}, but {x.label} is on device {x.device}. Move all "
            "arrays to one device."
        )


def rows_of(function: str, x: View, shape: tuple[int, ...], rows: int | None = None) -> int:
    if len(x.shape) != 1 + len(shape) or x.shape[1:] != shape or (rows is not None and x.shape[0] != rows):
        expected = ", ".join([str("N" if rows is None else rows), *map(str, shape)])
        raise ShapeError(f"{function}: {x.label} has shape {x.shape}, expected ({expected}).")
    return x.shape[0]
