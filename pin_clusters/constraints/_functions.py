"""Functions that a user gives: compiled or not, found again after pickling or not."""

from __future__ import annotations

import ctypes
import importlib
import pickle
from dataclasses import dataclass
from typing import Any

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
    """Return what can be pickled in place of a function.

    Raises:
        PinClustersError: Nothing can, such as for a lambda.
    """
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
