"""Writing a folder: all files or none."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ...errors import ExportError

__all__ = ["ExportError", "whole"]


@contextmanager
def whole(folder: Path, stale: Sequence[str] = ()) -> Iterator[Path]:
    """Give a new folder to write to; when all is written, its files take their places in another.

    Args:
        folder: Where the files are to be. It is made if it is missing; other files in it stay.
        stale: Files of an earlier export, which go if they are not written again.

    Raises:
        ExportError: It cannot be written. Nothing of it was changed.
    """
    missing = [p for p in (folder, *folder.parents) if not p.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        stage = Path(tempfile.mkdtemp(prefix=".export-", dir=folder))
    except FileExistsError:
        raise ExportError(f"{folder} is a file, not a folder; choose another one.") from None
    except OSError as error:
        _take_away(missing)
        raise ExportError(f"cannot write to {folder}: {error.strerror or error}. Choose another folder.") from None
    try:
        yield stage
        moved = _move(stage, folder)
        for name in stale:
            if name not in moved:
                (folder / name).unlink(missing_ok=True)
    except OSError as error:
        _clear(stage, missing)
        raise ExportError(f"cannot write to {folder}: {error.strerror or error}.") from None
    except BaseException:
        _clear(stage, missing)
        raise
    shutil.rmtree(stage, ignore_errors=True)


def _move(stage: Path, folder: Path) -> set[str]:
    files = sorted(p.relative_to(stage) for p in stage.rglob("*") if p.is_file())
    for file in files:  # what could refuse is seen before anything is replaced
        (folder / file.parent).mkdir(parents=True, exist_ok=True)
        if (folder / file).is_dir():
            raise ExportError(f"{folder / file} is a folder; remove it, or choose another one.")
    for file in files:
        os.replace(stage / file, folder / file)
    return {str(file) for file in files}


def _clear(stage: Path, missing: list[Path]) -> None:
    shutil.rmtree(stage, ignore_errors=True)
    _take_away(missing)


def _take_away(missing: list[Path]) -> None:
    for p in missing:
        try:
            p.rmdir()  # refuses if there is something in it
        except OSError:
            return
