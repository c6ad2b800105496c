"""The decorator of functions with fast calls."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..call_layer import native
from .form import Plans

F = TypeVar("F", bound=Callable[..., Any])


def is_fast(function: Any) -> bool:
    """Return whether calls of a function go through plans: it is decorated with ``fast``, and there is an extension."""
    return hasattr(function, "positions")


def fast(plans: Plans, positions: Mapping[str, int] | None = None, by_position: int = 5) -> Callable[[F], F]:
    """Return a decorator: calls go through plans, if one fits, and else to the decorated Python function.

    Args:
        plans: Returns the plans of a function for a data object (or a model), of kernels that are compiled by now.
        positions: Position of each argument, by its name; those of the signature by default. Arguments that can only be
            given by name come last.
        by_position: With ``positions``, the number of arguments that may be given by position.

    Returns:
        A decorator. Without the extension it returns the Python function.
    """

    def decorate(function: F) -> F:
        if native is None:
            return function
        named = [] if positions else list(inspect.signature(function).parameters.values())
        known = dict(positions) if positions else {p.name: i for i, p in enumerate(named)}
        many = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in named) or by_position
        pairs = tuple(x for name, at in known.items() if name[0] != "_" for x in (name, at))
        optional = sum(1 << known[p.name] for p in named if p.default is None)
        made = native.Function(function, pairs, many, int("data" in known), optional)
        functools.update_wrapper(made, function)
        made.plans, made.positions = plans, known
        return made

    return decorate
