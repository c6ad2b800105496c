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


def tell(package: str, places: Mapping[str, str]) -> None:
    """Let imports of modules that have moved say where they are; those that have not are left out."""
    sys.meta_path.append(Finder(package, {old: new for old, new in places.items() if old != new}))
