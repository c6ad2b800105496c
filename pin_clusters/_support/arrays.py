"""Conversion of user arguments to contiguous float64 vectors of the right size.

``ArgumentTypeError``: the argument is text, complex or not an array. ``ShapeError``: it has another size or too many
dimensions.
"""

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
    """Whether the kernels accept x without conversion; the check takes a tenth of a microsecond."""
    return type(x) is np.ndarray and x.dtype == _FLOAT64 and x.flags.carray


def is_vector(x: Any, n: int) -> bool:
    """Whether the kernels accept x without conversion as a vector of n numbers."""
    return type(x) is np.ndarray and x.dtype == _FLOAT64 and x.flags.carray and x.shape == (n,)


def numbers(name: str, x: Any) -> np.ndarray:
    """Convert ``x`` to an array of real numbers of any shape and dtype."""
    if is_plain(x):
        return x
    try:
        converted = np.asarray(x)
    except ValueError as error:
        raise ArgumentTypeError(f"{name} is not an array of numbers: {error}.") from None
    if converted.dtype.kind not in "fiub":
        raise ArgumentTypeError(f"{name} must hold real numbers, got {converted.dtype} ({type(x).__name__}).")
    return converted


def real(x: Any) -> float | None:
    """Convert a real number to a float (infinite on overflow); None for text, booleans and arrays."""
    if isinstance(x, (bool, np.bool_)) or not isinstance(x, Real):
        return None
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf  # type: ignore[operator]


def whole_number(
    name: str, x: Any, least: int, kind: Callable[[str], Exception] = ArgumentTypeError, of: str = ""
) -> int:
    """Check an integer of at least ``least``, else raise ``kind``; ``of`` names the unit in the message."""
    if isinstance(x, bool) or not isinstance(x, (int, np.integer)) or x < least:
        raise kind(f"{name} must be a whole number{of}, at least {least}, got {shown(x)}.")
    return int(x)


def joint_names(what: str, given: Any) -> tuple[str, ...]:
    """Check a list of joint names, else raise ``ArgumentTypeError``."""
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes)):
        listed = tuple(given)
        if all(isinstance(name, str) for name in listed):
            return listed
    raise ArgumentTypeError(f"{what} must be a list of joint names, got {shown(given)}.")


def array(name: str, x: Any) -> np.ndarray:
    """Convert ``x`` to a contiguous one-dimensional float64 array."""
    if is_plain(x) and x.ndim == 1:
        return x
    converted = numbers(name, x)
    if converted.ndim == 2 and 1 in converted.shape:
        converted = converted.ravel()
    if converted.ndim != 1:
        raise ShapeError(f"{name} has shape {converted.shape}; expected one dimension or a column.")
    return plain(converted)


_PAGE = 4096


def on_a_page(*parts: np.ndarray) -> list[np.ndarray]:
    """Copy arrays of 8-byte numbers to consecutive memory that begins at a page boundary.

    A processor stalls if a read and a recent write agree in their addresses modulo a page. The relative position of
    tables and workspace therefore changes the time of small robots by up to a factor of two. Page alignment makes it
    reproducible.
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
    """Return x if it is float64, contiguous, aligned and writable, as the kernels require; else a copy."""
    if is_plain(x):
        return x
    return np.require(x, np.float64, ["C_CONTIGUOUS", "ALIGNED", "WRITEABLE", "ENSUREARRAY"])


def output_array(name: str, given: Any, shape: tuple[int, ...], kind: type, cure: str) -> np.ndarray:
    """Check the output array ``given``, or create a new one."""
    if given is None:
        return np.empty(shape, kind)
    matches = isinstance(given, np.ndarray) and given.dtype == kind
    if not matches or not all(given.flags[name] for name in ("WRITEABLE", "C_CONTIGUOUS", "ALIGNED")):
        type_name = f"{given.dtype} array" if isinstance(given, np.ndarray) else type(given).__name__
        raise ArgumentTypeError(f"{name} must be a writable, contiguous {kind.__name__} array, got a {type_name}{cure}")
    if type(given) is not np.ndarray:  # kernels of a library do not accept subclasses
        type_name = type(given).__name__
        raise ArgumentTypeError(
            f"{name} must be a plain array, got a {type_name}: pass np.asarray of it, which shares memory."
        )
    if given.shape != shape:
        raise ShapeError(f"{name} has shape {given.shape}, expected {shape}.")
    return given


def vector(model: Any, name: str, x: Any, n: int, what: str) -> np.ndarray:
    """Convert ``x`` to a vector of n numbers; ``what`` names the expected size in the message."""
    a = array(name, x)
    if a.size != n:
        raise ShapeError(f"{name} has size {a.size}, but model {model.name!r} needs {what} = {n}.")
    return a


def configuration(model: Any, name: str, q: Any) -> np.ndarray:
    """Check a configuration of a cluster model, shape (nq,)."""
    if is_vector(q, model.nq):
        return q
    return vector(model, name, q, model.nq, "nq (the whole tree)")


def velocity(model: Any, name: str, x: Any) -> np.ndarray:
    """Check v, a or tau of a cluster model, shape (nv,)."""
    if is_vector(x, model.nv):
        return x
    a = array(name, x)
    if a.size == model.nv:
        return a
    text = f"{name} has size {a.size}, but model {model.name!r} needs nv = {model.nv} (the independent joints)."
    if a.size == model.tree.nv:
        text += (
            f" {a.size} is the size of the spanning tree: take the independent entries, {name}[model.idx_v_independent]"
            + (", or pc.independent_velocity." if name == "v" else ".")
        )
    raise ShapeError(text)


def in_order(terms: Iterable[Any]) -> Any:
    """Sum numbers in order, as compiled code does; since Python 3.12 the builtin sum compensates rounding of floats."""
    return functools.reduce(operator.add, terms, 0.0)
