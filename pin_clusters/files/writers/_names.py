"""Names in a file: none twice, all of them text that XML can hold."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ...errors import ModelError

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


class Names:
    """Gives every element of one kind a name of its own.

    Args:
        taken: Names that are used already.
    """

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def __call__(self, wanted: str) -> str:
        """Return the name, with a number behind it if it is taken."""
        check_text(wanted)
        name, k = wanted, 1
        while not name or name in self._taken:
            k += 1
            name = f"{wanted or 'unnamed'}_{k}"
        self._taken.add(name)
        return name


def check_text(name: str) -> None:
    """Raise if XML cannot hold a name.

    Raises:
        ModelError: It has a control character in it.
    """
    if _CONTROL.search(name):
        raise ModelError(f"the name {name!r} has characters that no XML file can hold. Rename it.")


def in_comment(text: str) -> str:
    """Return text as a comment can hold it: two hyphens would end it."""
    return re.sub(r"-(?=-|$)", "- ", _CONTROL.sub("?", text))
