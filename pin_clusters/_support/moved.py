"""Modules that earlier versions had elsewhere: their old names, which pickles say, lead to the new ones."""

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Collection, Mapping
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


def _head(module: str, places: Mapping[str, str]) -> str | None:
    """Return the longest name at a module's front that has a new place: its own, or that of a package it is in."""
    parts = module.split(".")
    heads = (".".join(parts[:n]) for n in range(len(parts), 0, -1))
    return next((head for head in heads if head in places), None)


class _Leading(Loader):
    """Gives a module that is imported by another name already, and leaves it as it is."""

    def __init__(self, name: str) -> None:
        self._name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._name)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # importlib wrote the old name's


class Finder(MetaPathFinder):
    """Leads names of modules that have moved, and of those inside them, to new ``places``; it is asked first.

    Names in ``current`` are public names of modules that stand elsewhere. They import without a warning.
    """

    def __init__(self, package: str, places: Mapping[str, str], current: Collection[str]) -> None:
        self._front = f"{package}."
        self._places = {self._front + old: self._front + new for old, new in places.items()}
        self._current = {self._front + name for name in current}

    def find_spec(self, fullname: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return what imports the module at its place; warn if the name is an old one. None if it has not moved."""
        if not fullname.startswith(self._front) or (head := _head(fullname, self._places)) is None:
            return None
        place = self._places[head] + fullname.removeprefix(head)
        if head not in self._current:
            warnings.warn(
                f"{fullname} is {place} now. What an earlier version pickled loads by the old name; pickle it anew.",
                DeprecationWarning,
                stacklevel=2,
            )
        return ModuleSpec(fullname, _Leading(place), is_package=hasattr(importlib.import_module(place), "__path__"))


class Passing(MetaPathFinder):
    """Leads names of modules that a package does not have to those of another one; it is asked last."""

    def __init__(self, package: str, other: str) -> None:
        self._front, self._other = f"{package}.", f"{other}."

    def find_spec(self, fullname: str, path: object, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return what imports the other package's module of that name; None if it has none."""
        name = fullname.removeprefix(self._front)
        if name == fullname or "." in name:
            return None
        other = self._other + name  # what is there already may have no spec
        if other not in sys.modules and importlib.util.find_spec(other) is None:
            return None
        return ModuleSpec(fullname, _Leading(other))


_before: dict[str, str] = {}


def lead(package: str, places: Mapping[str, str], joined: Mapping[str, str], current: Collection[str]) -> None:
    """Let old names of modules in a package lead to where they are: to new ``places``, or to what they ``joined``.

    The names in ``current`` are public and stay; only they import without a warning.
    """
    moved = {old: new for old, new in places.items() if old != new}
    sys.meta_path.insert(0, Finder(package, {**moved, **joined}, current))
    _before.update({f"{package}.{new}": f"{package}.{old}" for old, new in moved.items()})


def formerly(module: str) -> str:
    """Return the name that a module of the package had in earlier versions, whose files may name it."""
    head = _head(module, _before)
    return module if head is None else _before[head] + module.removeprefix(head)
