"""From what users pass to what the code computes with: contiguous float64 vectors of the right size.

``ArgumentTypeError``: it is text, complex or no array at all; ``ShapeError``: it has another size or more dimensions.
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
    """Whether x is what the kernels take as it is, and nearly everybody passes: told in a tenth of a microsecond."""
    return type(x) is np.ndarray and x.dtype == _FLOAT64 and x.flags.carray


def is_vector(x: Any, n: int) -> bool:
    """Whether the kernels take x as it is as a vector of n numbers."""
    return type(x) is np.ndarray and x.dtype == _FLOAT64 and x.flags.carray and x.shape == (n,)


def numbers(name: str, x: Any) -> np.ndarray:
    """Return ``x`` as an array of real numbers, of any shape and kind."""
    if is_plain(x):
        return x
    try:
        given = np.asarray(x)
    except ValueError as error:
        raise ArgumentTypeError(f"{name} is not an array of numbers: {error}.") from None
    if given.dtype.kind not in "fiub":
        raise ArgumentTypeError(f"{name} must hold real numbers, got {given.dtype} ({type(x).__name__}).")
    return given


def real(x: Any) -> float | None:
    """Return a real number as a float, infinite if no float is as large; None for text, truths and arrays."""
    if isinstance(x, (bool, np.bool_)) or not isinstance(x, Real):
        return None
    try:
        return float(x)
    except OverflowError:
        return math.inf if x > 0 else -math.inf  # type: ignore[operator]


def whole_number(
    name: str, x: Any, least: int, kind: Callable[[str], Exception] = ArgumentTypeError, of: str = ""
) -> int:
    """Return a whole number (of what messages say); refuse, by an error of a kind, others and what is less."""
    if isinstance(x, bool) or not isinstance(x, (int, np.integer)) or x < least:
        raise kind(f"{name} must be a whole number{of}, at least {least}, got {shown(x)}.")
    return int(x)


def joint_names(what: str, given: Any) -> tuple[str, ...]:
    """Return names of joints; refuse, by ``ArgumentTypeError``, what is no list of text."""
    if isinstance(given, Iterable) and not isinstance(given, (str, bytes)):
        listed = tuple(given)
        if all(isinstance(name, str) for name in listed):
            return listed
    raise ArgumentTypeError(f"{what} must be a list of joint names, got {shown(given)}.")


def array(name: str, x: Any) -> np.ndarray:
    """Return ``x`` as contiguous float64 numbers in one dimension."""
    if is_plain(x) and x.ndim == 1:
        return x
    given = numbers(name, x)
    if given.ndim == 2 and 1 in given.shape:
        given = given.ravel()
    if given.ndim != 1:
        raise ShapeError(f"{name} has shape {given.shape}; expected one dimension or a column.")
    return plain(given)


_PAGE = 4096


def on_a_page(*parts: np.ndarray) -> list[np.ndarray]:
    """Return copies of arrays of 8-byte numbers that stand one behind the other from the start of a memory page.

    A processor takes a read for one of what it has just written if their addresses agree modulo a page, and waits.
    Where tables and workspace lie therefore matters, by up to half of the time of a small robot; left to chance, it
    would differ from run to run.
    """
    room = np.zeros(sum(x.size for x in parts) + _PAGE // 8)
    at = -room.ctypes.data % _PAGE // 8
    copies = []
    for x in parts:
        copy = room[at : at + x.size].view(x.dtype).reshape(x.shape)
        copy[...] = x
        copies.append(copy)
        at += x.size
    return copies


def plain(x: np.ndarray) -> np.ndarray:
    """Return x if the kernels take it, else a copy: they want float64, contiguous, aligned and writeable arrays."""
    if is_plain(x):
        return x
    return np.require(x, np.float64, ["C_CONTIGUOUS", "ALIGNED", "WRITEABLE", "ENSUREARRAY"])


def room(name: str, given: Any, shape: tuple[int, ...], kind: type, cure: str) -> np.ndarray:
    """Return where to write results: what was given, or a new array."""
    if given is None:
        return np.empty(shape, kind)
    right = isinstance(given, np.ndarray) and given.dtype == kind
    if not right or not all(given.flags[name] for name in ("WRITEABLE", "C_CONTIGUOUS", "ALIGNED")):
        what = f"{given.dtype} array" if isinstance(given, np.ndarray) else type(given).__name__
        raise ArgumentTypeError(f"{name} must be a writable, contiguous {kind.__name__} array, got a {what}{cure}")
    if type(given) is not np.ndarray:  # kernels in a library take no subclass
        what = type(given).__name__
        raise ArgumentTypeError(
            f"{name} must be a plain array, got a {what}: pass np.asarray of it, which shares memory."
        )
    if given.shape != shape:
        raise ShapeError(f"{name} has shape {given.shape}, expected {shape}.")
    return given


def vector(model: Any, name: str, x: Any, n: int, what: str) -> np.ndarray:
    """Return ``x``, any sequence of numbers or a column, as a vector of n numbers; ``what`` says what n is."""
    a = array(name, x)
    if a.size != n:
        raise ShapeError(f"{name} has size {a.size}, but model {model.name!r} needs {what} = {n}.")
    return a


def configuration(model: Any, name: str, q: Any) -> np.ndarray:
    """Return a configuration of the whole tree of a cluster model, shape (nq,)."""
    if is_vector(q, model.nq):
        return q
    return vector(model, name, q, model.nq, "nq (the whole tree)")


def velocity(model: Any, name: str, x: Any) -> np.ndarray:
    """Return v, a or tau of a cluster model, shape (nv,)."""
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
    """Return the sum of numbers as compiled code adds: since Python 3.12 the builtin compensates that of floats."""
    return functools.reduce(operator.add, terms, 0.0)
