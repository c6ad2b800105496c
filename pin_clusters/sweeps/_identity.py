"""Fingerprints: what makes a sweep the same sweep on another day and in another process."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import pickle
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError


def name_of(function: Callable[..., Any]) -> str:
    """Return module and name of a function; of a partial one those of what it calls."""
    while isinstance(function, functools.partial):
        function = function.func
    kind = function if hasattr(function, "__qualname__") else type(function)
    return f"{getattr(kind, '__module__', None) or 'builtins'}:{kind.__qualname__}"


def parameters_of(function: Callable[..., Any]) -> dict[str, str]:
    """Return the arguments that a partial function binds, as text that people can read."""
    found: dict[str, str] = {}
    while isinstance(function, functools.partial):
        bound = {str(i): x for i, x in enumerate(function.args)} | function.keywords
        found = {key: _short(x) for key, x in bound.items()} | found
        function = function.func
    return found


def digest(function: Callable[..., Any], cases: Sequence[Any]) -> str:
    """Return a digest of the function's name, its bound arguments, and all cases.

    Raises:
        ArgumentTypeError: Something cannot be pickled.
    """
    h = hashlib.sha256()
    _feed(h, function)
    for case in cases:
        _feed(h, case)
    return h.hexdigest()


def _short(x: Any) -> str:
    text = repr(x)
    return text if len(text) <= 80 else text[:77] + "..."


def _feed(h: Any, x: Any) -> None:
    """Add an object to a digest: by value, so that it is the same in every process."""

    def tag(*parts: Any) -> None:
        for part in parts:
            data = part if isinstance(part, bytes) else str(part).encode()
            h.update(len(data).to_bytes(8, "little") + data)

    if isinstance(x, np.generic):
        x = x.item()
    if x is None or isinstance(x, (bool, int, float, complex, str)):
        tag(type(x).__name__, repr(x))
    elif isinstance(x, bytes):
        tag("bytes", x)
    elif isinstance(x, np.ndarray) and x.dtype.kind != "O":
        tag("array", x.dtype.str, x.shape, np.ascontiguousarray(x).tobytes())
    elif isinstance(x, (list, tuple, range, np.ndarray)):
        tag(type(x).__name__, len(x))
        for part in x:
            _feed(h, part)
    elif isinstance(x, (set, frozenset)):
        tag("set", len(x))
        for part in sorted(x, key=repr):
            _feed(h, part)
    elif isinstance(x, Mapping):
        tag("mapping", len(x))
        for key in sorted(x, key=repr):
            _feed(h, key)
            _feed(h, x[key])
    elif isinstance(x, functools.partial):
        tag("partial")
        for part in (x.func, x.args, x.keywords):
            _feed(h, part)
    elif dataclasses.is_dataclass(x) and not isinstance(x, type):
        tag(name_of(type(x)))
        for field in dataclasses.fields(x):
            _feed(h, getattr(x, field.name))
    elif callable(x) and hasattr(x, "__qualname__"):
        tag("function", name_of(x))
        owner = getattr(x, "__self__", None)
        if owner is not None and not isinstance(owner, ModuleType):  # a bound method computes with what it is bound to
            _feed(h, owner)
    else:
        try:
            made = x.__reduce_ex__(4)
            tag("object")
            if isinstance(made, str) or len(made) < 2 or any(part is not None for part in made[3:]):
                tag(pickle.dumps(x, 4))
            else:
                for part in made[:3]:
                    _feed(h, part)
        except RecursionError:
            raise
        except Exception as error:
            raise ArgumentTypeError(
                f"sweeps.run: {_short(x)} ({type(x).__name__}) cannot be pickled, so it can be sent to no worker: "
                f"{error}"
            ) from None
