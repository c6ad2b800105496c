"""Conversion of user arguments to contiguous float64 arrays; invalid arguments raise an error."""

import functools
import math
import operator
from collections.abc import Callable, Iterable
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike as ArrayLike

from ..errors import ArgumentTypeError, ShapeError, shown

_FLOAT64 = np.dtype(np.float64)


def is_plain(x: Any) -> bool:
    """Return whether x is an array that the kernels accept without conversion; this check takes 0.1 us."""
    return type(x) is np.ndarray and x.dtype == _FLOAT64 and x.flags.carray


def is_vector(x: Any, n: int) -> bool:
    """Return whether the kernels accept x without conversion as a vector of n numbers."""
    return type(x) is np.ndarray and x.dtype == _FLOAT64 and x.flags.carray and x.shape == (n,)


def numbers(name: str, x: Any) -> np.ndarray:
    if is_plain(x):
        return x
    try:
        converted = np.asarray(x)
    except ValueError as error:
        raise ArgumentTypeError(f"{name} is not an array of numbers: {error}.") from None
    if converted.dtype.kind not in "fiub":
        raise ArgumentTypeError(f"{name} must contain real numbers, got {converted.dtype} ({type(x).__name__}).")
    return converted


def real(x: Any) -> float | None:
    """Convert a real number to a float (infinity on overflow); return None for strings, booleans and arrays."""
    if isinstance(x, (bool, np.bool_)) or not isinstance(x, Real):
        return None
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf  # type: ignore[operator]


def whole_number(
    name: str, x: Any, least: int, kind: Callable[[str], Exception] = ArgumentTypeError, of: str = ""
) -> int:
    """Return x if it is an integer of at least ``least``; otherwise, raise ``kind`` with unit ``of`` in the message."""
    if isinstance(x, bool) or not isinstance(x, (int, np.integer)) or x < least:
        raise kind(f"{name} must be a whole number{of}, at least {least}, got {shown(x)}.")
    return int(x)


def joint_names(what: str, given: Any) -> tuple[str, ...]:
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes)):
        listed = tuple(given)
        if all(isinstance(name, str) for name in listed):
            return listed
    raise ArgumentTypeError(f"{what} must be a list of joint names, got {shown(given)}.")


def array(name: str, x: Any) -> np.ndarray:
    if is_plain(x) and x.ndim == 1:
        return x
    converted = numbers(name, x)
    if converted.ndim == 2 and 1 in converted.shape:
        converted = converted.ravel()
    if converted.ndim != 1:
        raise ShapeError(f"{name} has shape {converted.shape}; expected a one-dimensional array or a column.")
    return plain(converted)


_PAGE = 4096


def on_a_page(*parts: np.ndarray) -> list[np.ndarray]:
    """Copy arrays of 8-byte numbers to one block of memory that starts at a page boundary.

    A processor stalls if the addresses of a read and a recent write are equal modulo the page size. For small robots,
    the relative position of tables and workspace therefore changes the time of a call by a factor of up to two. Page
    alignment makes this time reproducible.
    """
    block = np.zeros(sum(x.size for x in parts) + _PAGE // 8)
    offset = -block.ctypes.data % _PAGE // 8
    copies = []
    for x in parts:
        copy = block[offset : offset + x.size].view(x.dtype).reshape(x.shape)
        copy[...] = x
        copies.append(copy)
        offset += x.size
    return copies


def plain(x: np.ndarray) -> np.ndarray:
    """Return x if it is float64, contiguous, aligned and writable, as the kernels require; else return a copy."""
    if is_plain(x):
        return x
    return np.require(x, np.float64, ["C_CONTIGUOUS", "ALIGNED", "WRITEABLE", "ENSUREARRAY"])


def output_array(name: str, given: Any, shape: tuple[int, ...], kind: type, cure: str) -> np.ndarray:
    if given is None:
        return np.empty(shape, kind)
    matches = isinstance(given, np.ndarray) and given.dtype == kind
    flags = {"WRITEABLE": "read-only", "C_CONTIGUOUS": "not contiguous", "ALIGNED": "not aligned"}
    defects = [defect for flag, defect in flags.items() if matches and not given.flags[flag]]
    if not matches or defects:
        type_name = f"{given.dtype} array" if isinstance(given, np.ndarray) else type(given).__name__
        type_name += f" that is {' and '.join(defects)}" * bool(defects)
        raise ArgumentTypeError(f"{name} must be a writable, contiguous {kind.__name__} array, got a {type_name}{cure}")
    if type(given) is not np.ndarray:  # compiled kernels of a shared library do not accept subclasses
        type_name = type(given).__name__
        raise ArgumentTypeError(
            f"{name} must be a plain NumPy array, got a {type_name}. Pass np.asarray(...), which shares the memory."
        )
    if given.shape != shape:
        raise ShapeError(f"{name} has shape {given.shape}, expected {shape}.")
    return given


def vector(model: Any, name: str, x: Any, n: int, what: str) -> np.ndarray:
    a = array(name, x)
    if a.size != n:
        raise ShapeError(f"{name} has size {a.size}, but model {model.name!r} needs {what} = {n}.")
    return a


def configuration(model: Any, name: str, q: Any) -> np.ndarray:
    if is_vector(q, model.nq):
        return q
    return vector(model, name, q, model.nq, "nq (the whole tree)")


def velocity(model: Any, name: str, x: Any) -> np.ndarray:
    if is_vector(x, model.nv):
        return x
    a = array(name, x)
    if a.size == model.nv:
        return a
    text = f"{name} has size {a.size}, but model {model.name!r} needs nv = {model.nv} (the independent joints)."
    if a.size == model.tree.nv:
        text += (
            f" {a.size} is nv of the spanning tree. Pass only the independent entries, {name}[model.idx_v_independent]"
            + (", or pc.independent_velocity." if name == "v" else ".")
        )
    raise ShapeError(text)


def in_order(terms: Iterable[Any]) -> Any:
    """Sum numbers in order, as compiled code does; the built-in sum of Python 3.12 compensates rounding errors."""
    return functools.reduce(operator.add, terms, 0.0)
