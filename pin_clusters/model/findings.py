"""Caches results that depend only on the topology of a model, for the lifetime of the topology."""

import functools
import weakref
from collections.abc import Callable
from typing import TypeVar

from .cluster_model import ClusterModel

_T = TypeVar("_T")


def once(find: Callable[[ClusterModel], _T]) -> Callable[[ClusterModel], _T]:
    """Decorate a function so that its result is cached per topology; models that differ only in parameters share it."""
    cached: dict[int, _T] = {}

    @functools.wraps(find)
    def found(model: ClusterModel) -> _T:
        key = id(model.tables.topology)
        if key not in cached:
            cached[key] = find(model)
            weakref.finalize(model.tables.topology, cached.pop, key, None)
        return cached[key]

    return found
