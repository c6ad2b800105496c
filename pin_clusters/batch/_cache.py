"""Cache of objects that depend on a model and arguments, with the lifetime of the model."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from ..model import ClusterModel, once

_MOST = 64
T = TypeVar("T")
_entries: Callable[[ClusterModel], dict[Hashable, Any]] = once(lambda _: {})


def cached(model: ClusterModel, key: Hashable, make: Callable[[], T]) -> T:
    """Return the cached object of a key, or create it; keys that are None or unhashable are not cached."""
    entries = _entries(model)
    try:
        entry: T | None = entries.get(key)
    except TypeError:  # an unhashable key contains an invalid name; a later check raises an error
        return make()
    if entry is None:
        entry = make()
        if key is not None:
            if len(entries) >= _MOST:
                entries.clear()
            entries[key] = entry
    return entry
