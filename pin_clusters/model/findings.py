"""Caches results that depend only on a part of a model, for the lifetime of this part."""

import functools
import weakref
from collections.abc import Callable
from operator import attrgetter
from typing import TypeVar

from .cluster_model import ClusterModel

_T = TypeVar("_T")


def once_per(part: str) -> Callable[[Callable[[ClusterModel], _T]], Callable[[ClusterModel], _T]]:
    """Return a decorator that caches a function's result once per object ``model.part``; ``part`` may contain dots."""
    part_of = attrgetter(part)

    def decorate(find: Callable[[ClusterModel], _T]) -> Callable[[ClusterModel], _T]:
        cached: dict[int, _T] = {}

        @functools.wraps(find)
        def found(model: ClusterModel) -> _T:
            owner = part_of(model)
            if (key := id(owner)) not in cached:
                cached[key] = find(model)
                weakref.finalize(owner, cached.pop, key, None)
            return cached[key]

        return found

    return decorate


once = once_per("tables.topology")
"""Decorator that caches a function's result per topology; models that differ only in parameters share the result."""
