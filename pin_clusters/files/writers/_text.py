"""Names and numbers in a file: no name twice, none that XML cannot hold; numbers that give the same bits when read.

And where the file goes: all of it or nothing, and over another one only if that is said.
"""

import os
import re
from collections.abc import Iterable

import numpy as np
import pinocchio as pin

from ..._support.whole_files import refused, whole
from ...errors import ArgumentTypeError, ExportError, ModelError
from ._joints import UNLIMITED

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
    """Raise if XML cannot hold a name, as it has a control character in it."""
    if _CONTROL.search(name):
        raise ModelError(f"the name {name!r} has characters that no XML file can hold. Rename it.")


def in_comment(text: str) -> str:
    """Return text as a comment can hold it: two hyphens would end it."""
    return re.sub(r"-(?=-|$)", "- ", _CONTROL.sub("?", text))


def text(*numbers: float | Iterable[float]) -> str:
    """Return numbers, shortest digits that are exact, with spaces between them; no negative zeros."""
    flat = np.concatenate([np.ravel(np.asarray(x, dtype=float)) for x in numbers])
    return " ".join(repr(x + 0.0).removesuffix(".0") for x in flat.tolist())


def finite(number: float) -> float:
    """Return a number with the largest float in the place of infinity."""
    return float(np.clip(number, -UNLIMITED, UNLIMITED))


def wxyz(rotation: np.ndarray) -> np.ndarray:
    """Return the quaternion of a rotation, the real part first, shape (4,)."""
    return np.asarray(pin.Quaternion(np.asarray(rotation)).normalized().coeffs()[[3, 0, 1, 2]])


def write(text: str, file: str | os.PathLike[str] | None) -> str:
    """Write text to a file, if one is given; return the text.

    Raises:
        ArgumentTypeError: ``file`` is no path.
        ExportError: It cannot be written; what was there before stays.
    """
    if file is None:
        return text
    if not isinstance(file, (str, os.PathLike)):
        raise ArgumentTypeError(f"file must be a path or None, got {type(file).__name__}.")
    if os.path.exists(file) and not os.path.isfile(file):  # a device, or a pipe, ``whole`` would write to
        what = "folder" if os.path.isdir(file) else "device or a pipe"
        raise ExportError(f"{os.fspath(file)} is a {what}; give the name of a file.")
    with refused(ExportError, repr(str(file)[:200]), " Choose another name or folder."), whole(file) as (part,):
        part.write_text(text, encoding="utf-8")
    return text
