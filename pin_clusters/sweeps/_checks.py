"""The arguments of a sweep, checked before anything starts."""

from __future__ import annotations

import inspect
import pickle
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from concurrent.futures import Executor
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError
from . import _identity


def check(function: Any, executor: Any, chunk: Any, seed: Any, workers: Any, resume: Any) -> bool:
    """Refuse arguments of wrong types; return whether the function takes a generator."""
    if not callable(function):
        raise ArgumentTypeError(f"sweeps.run: function must be callable, got {type(function).__name__}.")
    if executor is not None and not isinstance(executor, Executor):
        cure = " Give client.get_executor()." if hasattr(executor, "get_executor") else ""
        raise ArgumentTypeError(
            f"sweeps.run: executor must be a concurrent.futures.Executor, got {type(executor).__name__}.{cure}"
        )
    for name, value, least in (("chunk", chunk, 1), ("workers", workers, 1), ("seed", seed, 0)):
        if value is None and name != "seed":
            continue
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
            raise ArgumentTypeError(f"sweeps.run: {name} must be a whole number, at least {least}, got {value!r}.")
    if not isinstance(resume, (bool, np.bool_)):
        raise ArgumentTypeError(f"sweeps.run: resume must be True or False, got {resume!r}.")
    try:
        return "rng" in inspect.signature(function).parameters
    except (TypeError, ValueError):  # of C
        return False


def listed(cases: Any) -> Sequence[Any]:
    """Return the cases as something with a length and numbers."""
    if isinstance(cases, (str, bytes)) or not isinstance(cases, Iterable):
        raise ArgumentTypeError(f"sweeps.run: cases must be a list of cases, got {type(cases).__name__}.")
    if isinstance(cases, Mapping):
        raise ArgumentTypeError("sweeps.run: cases must be a list of cases, got a mapping: pass list(cases.items()).")
    if isinstance(cases, Set):  # in another process the same set may have another order
        raise ArgumentTypeError("sweeps.run: cases must be a list of cases, got a set, which has no order: sort it.")
    return cases if isinstance(cases, Sequence) else tuple(cases)


def check_can_be_sent(function: Callable[..., Any]) -> None:
    """Refuse functions that a new process could not find.

    Raises:
        ArgumentTypeError: It is a lambda, a function in a function, or of an interactive session.
    """
    name = _identity.name_of(function)
    cure = "Define it at the top level of a module, or pass executor=sweeps.InProcess()."
    if name.startswith("__main__:") and getattr(sys.modules["__main__"], "__file__", None) is None:
        raise ArgumentTypeError(f"sweeps.run: new processes cannot import {name} of an interactive session. {cure}")
    try:
        pickle.dumps(function)
    except Exception as error:
        raise ArgumentTypeError(f"sweeps.run: {name} cannot be sent to another process: {error}. {cure}") from None
