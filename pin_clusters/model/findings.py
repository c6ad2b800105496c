"""Results that are computed once per topology and cached for its lifetime."""

import functools
import weakref
from collections.abc import Callable
from typing import TypeVar

from .cluster_model import ClusterModel

_T = TypeVar("_T")


def once(find: Callable[[ClusterModel], _T]) -> Callable[[ClusterModel], _T]:
    """Cache the result of a function per topology, which models with different parameters share."""
    cached: dict[int, _T] = {}

    @functools.wraps(find)
    def found(model: ClusterModel) -> _T:
        key = id(model.tables.topology)
        if key not in cached:
            cached[key] = find(model)
            weakref.finalize(model.tables.topology, cached.pop, key, None)
        return cached[key]

    return found
