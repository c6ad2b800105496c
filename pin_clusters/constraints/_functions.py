"""Pickles user functions (compiled or Python), and computes their missing derivatives by finite differences."""

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
    """A reference to a compiled function by module and name, because the function itself cannot be pickled."""

    place: tuple[str, str]


def _find(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


def restored(function: Any) -> Any:
    return _find(*function.place) if isinstance(function, _ByName) else function


def picklable(function: Any, owner: str) -> Any:
    """Return the function, or a picklable reference to it; raise ``PinClustersError`` if neither can be pickled."""
    try:
        pickle.dumps(function)
        return function
    except Exception:  # pickle raises many types of errors
        named = getattr(function, "_pyfunc", function)  # a numba.cfunc has no name, but its Python function has one
        location = (str(getattr(named, "__module__", "")), str(getattr(named, "__name__", "")))
    try:
        if _find(*location) is function:
            return _ByName(location)
    except (ImportError, AttributeError, KeyError, ValueError):
        pass
    raise PinClustersError(
        f"{owner}: cannot be pickled, because {getattr(function, '__qualname__', function)!r} cannot be found by name "
        "in a module (it may be a lambda, a nested function or a pointer). Define it with def at the top level of a "
        "module; use functools.partial for its parameters."
    )


def address_of(function: Any) -> int:
    """Return the address of a compiled function, or 0 for a Python function."""
    if function is None:
        return 0
    if isinstance(function, _FUNCTION_POINTER):
        return ctypes.cast(function, ctypes.c_void_p).value or 0  # type: ignore[arg-type]
    address = getattr(function, "address", 0)
    return address if isinstance(address, int) else 0


_FUNCTION_POINTER = ctypes.CFUNCTYPE(None).__bases__[0]


def function_defect(function: Any) -> str:
    """Return why an object is not a valid user function, or "" if valid; a call with a wrong signature would crash."""
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

# Weights of the first derivative in eighth-order central differences, for offsets of 1 to 4 steps
WEIGHTS = (4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0)
# Weights of the second derivative, for offsets of 0 to 4 steps
SECOND_WEIGHTS = (-205.0 / 72.0, 8.0 / 5.0, -1.0 / 5.0, 8.0 / 315.0, -1.0 / 560.0)
# The error is (ninth derivative) * step^8 / 630 + 1e-16 / step, which is 1e-14 for sines and a step of 0.02 rad. A
# function of a length typically varies within 0.1 m, so LENGTH_STEP [m] is smaller.
ANGLE_STEP = 0.02
LENGTH_STEP = 1e-3
# Ratio of the outer step to the inner step in differences of differences; a larger ratio reduces rounding errors.
OUTER = 2.5
COMPLEX_STEP = 1e-30


def central_differences(function: Function, x: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """Return d function / d x by eighth-order central differences; the last axis corresponds to the entries of x."""
    columns = []
    for k, step in enumerate(steps):
        total: Any = 0.0
        for n, weight in enumerate(WEIGHTS, start=1):
            ahead, behind = x.copy(), x.copy()
            ahead[k] += n * step
            behind[k] -= n * step
            # Rounding changes the step, so divide by the actual distance between the points.
            width = (ahead[k] - behind[k]) / (2.0 * n)
            total = total + weight / width * (np.asarray(function(ahead)) - np.asarray(function(behind)))
        columns.append(total)
    return np.stack(columns, axis=-1)


def first_difference(function: Callable[[float], np.ndarray], step: float) -> np.ndarray:
    offsets = [n * step for n in range(1, 5)]
    total: Any = sum(weight * (function(s) - function(-s)) for weight, s in zip(WEIGHTS, offsets, strict=True))
    return total / step


def second_difference(function: Callable[[float], np.ndarray], step: float) -> np.ndarray:
    total = SECOND_WEIGHTS[0] * function(0.0)
    for n, weight in enumerate(SECOND_WEIGHTS[1:], start=1):
        total = total + weight * (function(n * step) + function(-n * step))
    return total / (step * step)


@dataclass(frozen=True)
class ComplexStep:
    """Computes a Jacobian by complex steps, accurate to rounding; the function must accept complex numbers."""

    function: Function

    def __call__(self, x: np.ndarray) -> np.ndarray:
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
    """Return the output of ``void f(const double* x, double* out)``."""
    argument = np.ascontiguousarray(x, dtype=float)
    out = np.zeros(shape)
    _pointer(address)(argument.ctypes.data, out.ctypes.data)
    return out
