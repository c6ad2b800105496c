"""Where modules are that earlier versions had elsewhere: told to whom imports them, or loads what was pickled there."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from types import ModuleType


class Finder(MetaPathFinder):
    """Finds no module, but says of some where they are now; it is asked last.

    Args:
        package: The package's name.
        places: New place of each, by the old one, both inside the package.
    """

    def __init__(self, package: str, places: Mapping[str, str]) -> None:
        self._package, self._places = package, places

    def find_spec(self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        """Complain of a module that has moved.

        Raises:
            ModuleNotFoundError: It has.
        """
        package, _, name = fullname.partition(".")
        if package == self._package and name in self._places:
            place = f"{package}.{self._places[name]}"
            raise ModuleNotFoundError(
                f"{fullname} is {place} now. To load what an earlier version pickled, import {place} first, and let "
                f"sys.modules[{fullname!r}] be that module; then pickle it anew.",
                name=fullname,
            )


_before: dict[str, str] = {}


def tell(package: str, places: Mapping[str, str]) -> None:
    """Let imports of modules that have moved say where they are; those that have not are left out."""
    moved = {old: new for old, new in places.items() if old != new}
    sys.meta_path.append(Finder(package, moved))
    _before.update({f"{package}.{new}": f"{package}.{old}" for old, new in moved.items()})


def formerly(module: str) -> str:
    """Return the name that a module of the package had in earlier versions, whose files may name it."""
    parts = module.split(".")
    for n in range(len(parts), 0, -1):
        if (head := ".".join(parts[:n])) in _before:
            return ".".join([_before[head], *parts[n:]])
    return module
