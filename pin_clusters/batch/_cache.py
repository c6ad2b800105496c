"""Cache of objects that are derived from a model and from arguments of a call. It lives as long as the model."""

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from ..model import ClusterModel, once

_MOST = 64
T = TypeVar("T")
_entries: Callable[[ClusterModel], dict[Hashable, Any]] = once(lambda _: {})


def cached(model: ClusterModel, key: Hashable, make: Callable[[], T]) -> T:
    """Return the cached object for a key, or create the object; nothing is cached if the key is None or unhashable."""
    entries = _entries(model)
    try:
        entry: T | None = entries.get(key)
    except TypeError:  # an unhashable key contains an invalid name, for which a later check raises an error
        return make()
    if entry is None:
        entry = make()
        if key is not None:
            if len(entries) >= _MOST:
                entries.clear()
            entries[key] = entry
    return entry
