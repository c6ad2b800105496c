"""What is found of a model once, and kept as long as it lives."""

import functools
import weakref
from collections.abc import Callable
from typing import TypeVar

from .cluster_model import ClusterModel

_T = TypeVar("_T")


def once(find: Callable[[ClusterModel], _T]) -> Callable[[ClusterModel], _T]:
    """Decorate a function of what models of one topology share."""
    known: dict[int, _T] = {}

    @functools.wraps(find)
    def found(model: ClusterModel) -> _T:
        key = id(model.tables.topology)
        if key not in known:
            known[key] = find(model)
            weakref.finalize(model.tables.topology, known.pop, key, None)
        return known[key]

    return found
