"""Text of files: unique names that XML allows, and numbers that are read back exactly."""

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
    """Function that makes the names of elements of one kind unique; the names ``taken`` are already in use."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)

    def __call__(self, wanted: str) -> str:
        check_text(wanted)
        name, k = wanted, 1
        while not name or name in self._taken:
            k += 1
            name = f"{wanted or 'unnamed'}_{k}"
        self._taken.add(name)
        return name


def check_text(name: str) -> None:
    if _CONTROL.search(name):
        raise ModelError(f"the name {name!r} contains characters that XML does not allow. Rename it.")


def in_comment(text: str) -> str:
    """Escape text for an XML comment, which must not contain two hyphens."""
    return re.sub(r"-(?=-|$)", "- ", _CONTROL.sub("?", text))


def text(*numbers: float | Iterable[float]) -> str:
    """Format numbers with the shortest exact digits, separated by spaces, without negative zeros."""
    flat = np.concatenate([np.ravel(np.asarray(x, dtype=float)) for x in numbers])
    return " ".join(repr(x + 0.0).removesuffix(".0") for x in flat.tolist())


def finite(number: float) -> float:
    return float(np.clip(number, -UNLIMITED, UNLIMITED))


def wxyz(rotation: np.ndarray) -> np.ndarray:
    return np.asarray(pin.Quaternion(np.asarray(rotation)).normalized().coeffs()[[3, 0, 1, 2]])


def write(text: str, file: str | os.PathLike[str] | None) -> str:
    """Return the text; if ``file`` is given, also write the text to this file, completely or not at all."""
    if file is None:
        return text
    if not isinstance(file, (str, os.PathLike)):
        raise ArgumentTypeError(f"file must be a path or None, got {type(file).__name__}.")
    if os.path.exists(file) and not os.path.isfile(file):  # ``whole`` replaces only files safely.
        kind = "folder" if os.path.isdir(file) else "device or a pipe"
        raise ExportError(f"{os.fspath(file)} is a {kind}. Specify the name of a file.")
    with refused(ExportError, repr(str(file)[:200]), " Choose another name or folder."), whole(file) as (part,):
        part.write_text(text, encoding="utf-8")
    return text
