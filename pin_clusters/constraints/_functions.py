"""Functions that a user gives: compiled or not, found again after pickling or not; and derivatives that are missing."""

import ctypes
import importlib
import pickle
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ..errors import PinClustersError

SIGNATURE = "(float64*, float64*) -> none"


@dataclass(frozen=True)
class _ByName:
    """A compiled function of a module, which itself does not pickle."""

    place: tuple[str, str]


def _find(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


def found(function: Any) -> Any:
    """Return what ``picklable`` made of a function, as a function again."""
    return _find(*function.place) if isinstance(function, _ByName) else function


def picklable(function: Any, owner: str) -> Any:
    """Return what can be pickled in place of a function; ``PinClustersError`` if nothing can, such as for a lambda."""
    try:
        pickle.dumps(function)
        return function
    except Exception:  # pickle raises many kinds
        named = getattr(function, "_pyfunc", function)  # of a numba.cfunc
        place = (str(getattr(named, "__module__", "")), str(getattr(named, "__name__", "")))
    try:
        if _find(*place) is function:
            return _ByName(place)
    except (ImportError, AttributeError, KeyError, ValueError):
        pass
    raise PinClustersError(
        f"{owner}: cannot be pickled, because {getattr(function, '__qualname__', function)!r} is not found by name in "
        "a module (a lambda, a function within a function, a pointer). Define it with def at the top level of a "
        "module; functools.partial may hold its parameters."
    )


def address_of(function: Any) -> int:
    """Address of a compiled function, 0 for a Python one."""
    if function is None:
        return 0
    if isinstance(function, _FUNCTION_POINTER):
        return ctypes.cast(function, ctypes.c_void_p).value or 0  # type: ignore[arg-type]
    address = getattr(function, "address", 0)
    return address if isinstance(address, int) else 0


_FUNCTION_POINTER = ctypes.CFUNCTYPE(None).__bases__[0]


def function_defect(function: Any) -> str:
    """Say why something is no function of the kinds that are taken; a wrong signature would crash later."""
    if isinstance(function, _FUNCTION_POINTER):
        if not address_of(function):
            return "is a null pointer"
        arguments = getattr(function, "argtypes", None)
        return f"takes {len(arguments)} arguments" if arguments is not None and len(arguments) != 2 else ""
    signature = getattr(function, "_sig", None)
    if address_of(function):
        return f"has the signature {signature}" if signature is not None and str(signature) != SIGNATURE else ""
    return "" if callable(function) else f"cannot be called: {function!r}"


Function = Callable[[np.ndarray], Any]

# Eighth-order central differences: offsets 1 to 4
WEIGHTS = (4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0)
# The same of second derivatives: offsets 0 to 4
SECOND_WEIGHTS = (-205.0 / 72.0, 8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0)
# The error is step^8 / 630 x ninth derivative + 1e-16 / step. For sines of angles, 1e-14 at 0.02 rad; functions of a
# length turn over some 0.1 m, so a metre's step is smaller.
ANGLE_STEP = 0.02
LENGTH_STEP = 1e-3
# A difference of differences loses less to rounding with a wider outer step
OUTER = 2.5
COMPLEX_STEP = 1e-30


def central_differences(function: Function, x: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Return d function / d x by eighth-order central differences; the new axis is the last one."""
    columns = []
    for k, step in enumerate(steps):
        total: Any = 0.0
        for n, weight in enumerate(WEIGHTS, start=1):
            ahead, behind = x.copy(), x.copy()
            ahead[k] += n * step
            behind[k] -= n * step
            # the width that was really taken, after rounding
            width = (ahead[k] - behind[k]) / (2.0 * n)
            total = total + weight / width * (np.asarray(function(ahead)) - np.asarray(function(behind)))
        columns.append(total)
    return np.stack(columns, axis=-1)


def first_difference(function: Callable[[float], np.ndarray], step: float) -> np.ndarray:
    """Return the derivative of a function of a number at 0, by eighth-order central differences."""
    at = [n * step for n in range(1, 5)]
    total: Any = sum(weight * (function(s) - function(-s)) for weight, s in zip(WEIGHTS, at, strict=True))
    return total / step


def second_difference(function: Callable[[float], np.ndarray], step: float) -> np.ndarray:
    """Return the second derivative of a function of a number at 0, by eighth-order central differences."""
    total = SECOND_WEIGHTS[0] * function(0.0)
    for n, weight in enumerate(SECOND_WEIGHTS[1:], start=1):
        total = total + weight * (function(n * step) + function(-n * step))
    return total / (step * step)


@dataclass(frozen=True)
class ComplexStep:
    """The Jacobian of a function that takes complex numbers, to rounding."""

    function: Function

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """Return d function / d x, shape (rows, x)."""
        columns = []
        for k in range(len(x)):
            z = np.asarray(x, dtype=complex)
            z[k] += COMPLEX_STEP * 1j
            columns.append(np.atleast_1d(np.asarray(self.function(z))).imag / COMPLEX_STEP)
        return np.stack(columns, axis=-1)


@cache
def _pointer(address: int) -> Callable[[int, int], None]:
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address)


def call_compiled(address: int, x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return what ``void f(const double* x, double* out)`` writes."""
    given = np.ascontiguousarray(x, dtype=float)
    out = np.zeros(shape)
    _pointer(address)(given.ctypes.data, out.ctypes.data)
    return out
