"""Where a file goes: all of it or nothing, and over another one only if that is said."""

from __future__ import annotations

import os

from ..._support.whole_files import refused, whole
from ...errors import ArgumentTypeError, ExportError


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
