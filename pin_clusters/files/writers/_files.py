"""Where a file goes: all of it or nothing, and over another one only if that is said."""

from __future__ import annotations

import os
from pathlib import Path

from ..._support.whole_files import whole
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
    try:
        path = Path(file)
        if path.is_dir():
            raise ExportError(f"{path} is a folder; give the name of a file in it.")
        if path.exists() and not path.is_file():  # which ``whole`` would write to
            raise ExportError(f"{path} is a device or a pipe; give the name of a file.")
        with whole(path) as (part,):
            part.write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        reason = getattr(error, "strerror", None) or error
        raise ExportError(f"cannot write {str(file)[:200]!r}: {reason}. Choose another name or folder.") from None
    return text
