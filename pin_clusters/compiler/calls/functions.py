"""The decorator ``fast`` for functions whose calls can be executed through a plan."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from ..call_layer import native
from .form import Plans

F = TypeVar("F", bound=Callable[..., Any])


def is_fast(function: Any) -> bool:
    return hasattr(function, "positions")


def fast(plans: Plans, positions: Mapping[str, int] | None = None, by_position: int = 5) -> Callable[[F], F]:
    """Return a decorator. Calls of the decorated function use a suitable plan, or the Python function if there is none.

    Without the extension, the decorator returns the Python function.

    Args:
        plans: Function that returns the plans of a data object (or model), except plans whose kernels are not compiled.
        positions: Dictionary from argument names to positions, with keyword-only arguments last. By default, ``fast``
            reads the positions from the signature.
        by_position: Number of arguments that may be passed by position; used only with ``positions``.
    """

    def decorate(function: F) -> F:
        if native is None:
            return function
        named = [] if positions else list(inspect.signature(function).parameters.values())
        position_of = dict(positions) if positions else {p.name: i for i, p in enumerate(named)}
        by_position_count = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in named) or by_position
        pairs = tuple(x for name, position in position_of.items() if name[0] != "_" for x in (name, position))
        optional = sum(1 << position_of[p.name] for p in named if p.default is None)
        wrapped = native.Function(function, pairs, by_position_count, int("data" in position_of), optional)
        functools.update_wrapper(wrapped, function)
        wrapped.plans, wrapped.positions = plans, position_of
        return wrapped

    return decorate
