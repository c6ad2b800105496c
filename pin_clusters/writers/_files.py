"""Where a file goes: all of it or nothing, and over another one only if that is said."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from ..codegen import ExportError
from ..errors import ArgumentTypeError


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
    path = Path(file)
    if path.is_dir():
        raise ExportError(f"{path} is a folder; give the name of a file in it.")
    try:
        handle, stage = tempfile.mkstemp(prefix=".export-", dir=path.parent)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ExportError(f"cannot write {path}: {reason}. Choose another folder.") from None
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        os.chmod(stage, 0o666 & ~_umask())
        os.replace(stage, path)
    except BaseException as error:
        Path(stage).unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise ExportError(f"cannot write {path}: {error.strerror or error}.") from None
        raise
    return text


def _umask() -> int:
    """Return the mask of new files; the system has no way to ask but to set it."""
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
