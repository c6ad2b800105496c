"""Redirection of old module names to the new modules, because old pickles contain the old names."""

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Collection, Mapping
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def _head(module: str, places: Mapping[str, str]) -> str | None:
    """Return the module or its nearest parent package that is a key of ``places``; None if there is no such key."""
    parts = module.split(".")
    heads = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((head for head in heads if head in places), None)


class _Leading(Loader):
    """Loader that returns a module that is already imported under another name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # importlib has replaced this spec by the spec of the old name


class Finder(MetaPathFinder):
    """Finder at the front of ``sys.meta_path`` that redirects names of moved modules and submodules to new ``places``.

    ``current`` contains old names that remain public and are therefore imported without a warning.
    """

    def __init__(self, package: str, places: Mapping[str, str], current: Collection[str]) -> None:
        self._front = f"{package}."
        self._places = {self._front + old: self._front + new for old, new in places.items()}
        self._current = {self._front + name for name in current}

    def find_spec(self, fullname: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of the module under its new name, or None if it has not moved; warn about old names."""
        if not fullname.startswith(self._front) or (head := _head(fullname, self._places)) is None:
            return None
        target_name = self._places[head] + fullname.removeprefix(head)
        if head not in self._current:
            warnings.warn(
                f"{fullname} has moved to {target_name}. Use the new name. Old pickles still load; save them again.",
                DeprecationWarning,
                stacklevel=2,
            )
        return ModuleSpec(
            fullname, _Leading(target_name), is_package=hasattr(importlib.import_module(target_name), "__path__")
        )


class Passing(MetaPathFinder):
    """Finder at the end of ``sys.meta_path`` that imports modules missing in one package from another package."""

    def __init__(self, package: str, other: str) -> None:
        self._front, self._other = f"{package}.", f"{other}."

    def find_spec(self, fullname: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec of the module with this name in the other package, or None if there is no such module."""
        name = fullname.removeprefix(self._front)
        if name == fullname or "." in name:
            return None
        target_name = self._other + name  # ``sys.modules`` is checked first, as imported modules may lack a spec
        if target_name not in sys.modules and importlib.util.find_spec(target_name) is None:
            return None
        return ModuleSpec(fullname, _Leading(target_name))


_before: dict[str, str] = {}


def lead(package: str, places: Mapping[str, str], joined: Mapping[str, str], current: Collection[str]) -> None:
    """Redirect old names of modules in a package to their new ``places``, or to modules into which they were merged.

    The names in ``current`` remain public; only these names are imported without a warning.
    """
    moved = {old: new for old, new in places.items() if old != new}
    sys.meta_path.insert(0, Finder(package, {**moved, **joined}, current))
    _before.update({f"{package}.{new}": f"{package}.{old}" for old, new in moved.items()})


def formerly(module: str) -> str:
    """Return the name that a module had in earlier versions; old files may contain this name."""
    head = _head(module, _before)
    return module if head is None else _before[head] + module.removeprefix(head)
