"""The kernels as plain Python functions, which accept numbers or expressions.

The kernel modules are imported a second time under another name, without compilation. The few functions that branch on
values, such as sines and roots, are replaced by functions that record operations.
"""

import contextlib
import ctypes
import importlib
import math
import sys
import threading
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...errors import NotAvailableError
from .expressions import MATHEMATICS, Expression, select, sine_and_cosine
from .rotations import displacement, turn_quaternion

_PACKAGE = __package__.partition(".")[0]
_COPY = f"{_PACKAGE}._traced"  # second name of the package, which contains only the modules that kernels import
_NAME = f"{_COPY}.kernels"
_FOLDER = Path(__file__).parents[2]
_lock = threading.RLock()


def _same(function: Any) -> Any:
    return function


# These modules replace the modules that compile kernels; their decorators return the function unchanged.
_SWITCHES: dict[str, Any] = {"BOUNDSCHECK": False, "JIT": False}
_STAND_INS = {
    f"{_COPY}.compiler.numba_jit.jit": dict(
        _SWITCHES,
        inline=_same,
        paste=_same,
        device=_same,
        uncounted=_same,
        uncounted_inline=_same,
        OPTIONS={},
        INNER={},
        INLINE={},
    ),
    f"{_COPY}.compiler.switches": _SWITCHES,
}


def _may_be_less(x: Any, limit: Any) -> bool:
    return True if isinstance(x, Expression) or isinstance(limit, Expression) else bool(x < limit)


def _too_small(x: Any, limit: Any) -> bool:
    if isinstance(x, Expression) or isinstance(limit, Expression):
        _watch.seen.append((x, limit))
        return False
    return bool(x <= limit)


class Row(NamedTuple):
    """A value and its limit. A contact constraint equation is redundant if the value does not exceed the limit."""

    value: Any
    limit: Any


def _redundant(x: Any, limit: Any) -> bool:
    if isinstance(x, Expression) or isinstance(limit, Expression):
        _watch.seen.append(Row(x, limit))
        return False
    return bool(x <= limit)


class Memory:
    """Access to the memory that kernels read through addresses. This base class reads the actual memory."""

    def seen(self, address: int, size: int) -> np.ndarray:
        return np.ctypeslib.as_array((ctypes.c_double * size).from_address(address))

    def tables(self, address: int) -> tuple[np.ndarray, ...]:
        """Return the arrays index, params, work and keep of a ``Pointer``."""
        raise NotAvailableError("kernels that read tables at an address cannot be traced")

    def call(self, function: int, address: int, arrays: tuple[Any, ...]) -> int:
        raise NotAvailableError("kernels that call other kernels cannot be traced")


class Copies(Memory):
    """A ``Memory`` that returns copies of arrays, so that kernels cannot modify the originals."""

    def seen(self, address: int, size: int) -> np.ndarray:
        return super().seen(address, size).astype(object)


class _Watch(threading.local):
    """The limits that kernels have checked, and the memory that kernels read, for each thread."""

    def __init__(self) -> None:
        self.seen: list[tuple[Any, Any]] = []
        self.memory = Memory()


_watch = _Watch()


@contextlib.contextmanager
def watching() -> Iterator[list[tuple[Any, Any]]]:
    """Yield a list to which kernels append pairs of an expression and the limit that the expression must exceed."""
    before, _watch.seen = _watch.seen, []
    try:
        yield _watch.seen
    finally:
        _watch.seen = before


@contextlib.contextmanager
def reading(memory: Memory) -> Iterator[None]:
    before, _watch.memory = _watch.memory, memory
    try:
        yield
    finally:
        _watch.memory = before


def _call_address(address: Any, *_: Any) -> Any:
    raise NotAvailableError("compiled user functions cannot be traced")


# For each module, replacements for its functions that branch on values. Modules that import these functions load later.
_REPLACED: dict[str, dict[str, Any]] = {
    "numbers.choices": {"if_less": select, "may_be_less": _may_be_less, "too_small": _too_small},
    "tables.addresses": {
        "seen": lambda *given: _watch.memory.seen(*given),
        "tables": lambda *given: _watch.memory.tables(*given),
        "call_at": lambda *given: _watch.memory.call(*given),
    },
    "numbers.angles": {"sincos": sine_and_cosine},
    "contacts.system": {"too_small": _redundant},
    "loops.user_functions": {"call_address": _call_address},
    "bodies.increments": {"turn_quaternion": turn_quaternion, "displacement": displacement},
}


def source(name: str) -> Any:
    """Return a kernel module whose functions are plain Python."""
    full = f"{_NAME}.{name}"
    with _lock:
        if full not in sys.modules:
            if _COPY not in sys.modules:
                _begin()
            importlib.import_module(full)
            for imported, module in list(sys.modules.items()):
                if imported.startswith(_NAME) and getattr(module, "math", None) is math:
                    module.math = MATHEMATICS  # type: ignore[attr-defined]
        return sys.modules[full]


def _begin() -> None:
    package = types.ModuleType(_COPY)
    package.__path__ = [str(_FOLDER)]
    sys.modules[_COPY] = package
    for name in ("_support", "_support.arrays"):
        # Both copies of the package must use the same error classes.
        sys.modules[f"{_COPY}.{name}"] = importlib.import_module(f"{_PACKAGE}.{name}")
    for name, attributes in _STAND_INS.items():
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(attributes)
    for name, functions in _REPLACED.items():
        module = importlib.import_module(f"{_NAME}.{name}")
        module.__dict__.update(functions)
