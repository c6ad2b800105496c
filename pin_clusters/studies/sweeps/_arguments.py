"""Check the arguments of a sweep, and compute the digest that identifies the sweep."""

import dataclasses
import functools
import hashlib
import inspect
import pickle
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from concurrent.futures import Executor
from types import ModuleType
from typing import Any

import numpy as np

from ..._support.arrays import whole_number
from ..._support.moved import formerly
from ...errors import ArgumentTypeError


def check(function: Any, executor: Any, chunk: Any, seed: Any, workers: Any, resume: Any) -> bool:
    """Raise an error for arguments of the wrong type; return whether the function has a parameter ``rng``."""
    if not callable(function):
        raise ArgumentTypeError(f"sweeps.run: function must be callable, got {type(function).__name__}.")
    if executor is not None and not isinstance(executor, Executor):
        cure = " Pass client.get_executor()." if hasattr(executor, "get_executor") else ""
        raise ArgumentTypeError(
            f"sweeps.run: executor must be a concurrent.futures.Executor, got {type(executor).__name__}.{cure}"
        )
    for name, value, least in (("chunk", chunk, 1), ("workers", workers, 1), ("seed", seed, 0)):
        if value is not None or name == "seed":
            whole_number(f"sweeps.run: {name}", value, least)
    if not isinstance(resume, (bool, np.bool_)):
        raise ArgumentTypeError(f"sweeps.run: resume must be True or False, got {resume!r}.")
    try:
        return "rng" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # a C function has no signature
        return False


def check_name(function: Callable[..., Any], folder: bool, sent: bool) -> None:
    """Raise an error if the function has no unique name, or if other processes cannot import it."""
    name = name_of(function)
    cure = "Define it at the top level of a module"
    if folder and "<" in name:
        raise ArgumentTypeError(
            f"sweeps.run: the function of a sweep with a folder must have a name that identifies it, got {name}. "
            f"{cure}."
        )
    if not sent:
        return
    cure = f"{cure}, or pass executor=sweeps.InProcess()."
    if name.startswith("__main__:") and getattr(sys.modules["__main__"], "__file__", None) is None:
        raise ArgumentTypeError(f"sweeps.run: new processes cannot import {name} from an interactive session. {cure}")
    try:
        pickle.dumps(function)
    except Exception as error:
        raise ArgumentTypeError(f"sweeps.run: {name} cannot be sent to another process: {error}. {cure}") from None


def listed(cases: Any) -> Sequence[Any]:
    if isinstance(cases, (str, bytes)) or not isinstance(cases, Iterable):
        raise ArgumentTypeError(f"sweeps.run: cases must be a list of cases, got {type(cases).__name__}.")
    if isinstance(cases, Mapping):
        raise ArgumentTypeError("sweeps.run: cases must be a list of cases, got a mapping. Pass list(cases.items()).")
    if isinstance(cases, Set):  # the order of a set can differ between processes
        raise ArgumentTypeError("sweeps.run: cases must be a list of cases, got a set, which has no order. Sort it.")
    return cases if isinstance(cases, Sequence) else tuple(cases)


def name_of(function: Callable[..., Any]) -> str:
    """Return the module and name of a function, or of the function that a partial object calls.

    For modules that have moved, the earlier name is returned, so that existing folders remain valid.
    """
    while isinstance(function, functools.partial):
        function = function.func
    kind = function if hasattr(function, "__qualname__") else type(function)
    return f"{formerly(getattr(kind, '__module__', None) or 'builtins')}:{kind.__qualname__}"


def parameters_of(function: Callable[..., Any]) -> dict[str, str]:
    parameters: dict[str, str] = {}
    while isinstance(function, functools.partial):
        bound = {str(i): x for i, x in enumerate(function.args)} | function.keywords
        parameters = {key: _short(x) for key, x in bound.items()} | parameters
        function = function.func
    return parameters


def digest(function: Callable[..., Any], cases: Sequence[Any]) -> str:
    h = hashlib.sha256()
    for x in (function, *cases):
        try:
            _feed(h, x)
        except RecursionError:
            raise
        except Exception as error:
            raise ArgumentTypeError(
                f"sweeps.run: {_short(x)} ({type(x).__name__}) cannot be pickled and sent to a worker: {error}"
            ) from None
    return h.hexdigest()


def _short(x: Any) -> str:
    text = repr(x)
    return text if len(text) <= 80 else text[:77] + "..."


def _feed(h: Any, x: Any) -> None:
    """Add the value of an object to a digest; the result is the same in every process."""
    tags, parts = _apart(x)
    for tag in tags:
        data = tag if isinstance(tag, bytes) else str(tag).encode()
        h.update(len(data).to_bytes(8, "little") + data)
    for part in parts:
        _feed(h, part)


def _apart(x: Any) -> tuple[tuple[Any, ...], Iterable[Any]]:
    """Split an object into data to hash and parts to split further. Changes of this function invalidate old digests."""
    if isinstance(x, np.generic):
        x = x.item()
    if x is None or isinstance(x, (bool, int, float, complex, str)):
        return (type(x).__name__, repr(x)), ()
    if isinstance(x, bytes):
        return ("bytes", x), ()
    if isinstance(x, np.ndarray) and x.dtype.kind != "O":
        return ("array", x.dtype.str, x.shape, np.ascontiguousarray(x).tobytes()), ()
    if isinstance(x, (list, tuple, range, np.ndarray)):
        return (type(x).__name__, len(x)), x
    if isinstance(x, (set, frozenset)):
        return ("set", len(x)), sorted(x, key=repr)
    if isinstance(x, Mapping):
        return ("mapping", len(x)), [part for key in sorted(x, key=repr) for part in (key, x[key])]
    if isinstance(x, functools.partial):
        return ("partial",), (x.func, x.args, x.keywords)
    if dataclasses.is_dataclass(x) and not isinstance(x, type):
        return (name_of(type(x)),), [getattr(x, field.name) for field in dataclasses.fields(x)]
    if callable(x) and hasattr(x, "__qualname__"):
        owner = getattr(x, "__self__", None)  # the result of a bound method depends on its object
        return ("function", name_of(x)), () if owner is None or isinstance(owner, ModuleType) else (owner,)
    reduced = x.__reduce_ex__(4)
    if isinstance(reduced, str) or any(part is not None for part in reduced[3:]):
        return ("object", pickle.dumps(x, 4)), ()
    return ("object",), reduced[:3]
