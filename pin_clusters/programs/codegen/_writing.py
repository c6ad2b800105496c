"""Writing a folder: all files or none."""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

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
    with ExitStack() as left:
        left.callback(_take_away, missing)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            stage = TemporaryDirectory(prefix=".export-", dir=folder, ignore_cleanup_errors=True)
        except FileExistsError:
            raise ExportError(f"{folder} is a file, not a folder; choose another one.") from None
        except OSError as error:
            raise ExportError(f"cannot write to {folder}: {error.strerror or error}. Choose another folder.") from None
        try:
            yield Path(left.enter_context(stage))
            moved = _move(Path(stage.name), folder)
            for name in stale:
                if name not in moved:
                    (folder / name).unlink(missing_ok=True)
        except OSError as error:
            raise ExportError(f"cannot write to {folder}: {error.strerror or error}.") from None


def _move(stage: Path, folder: Path) -> set[str]:
    files = sorted(p.relative_to(stage) for p in stage.rglob("*") if p.is_file())
    for file in files:  # what could refuse is seen before anything is replaced
        (folder / file.parent).mkdir(parents=True, exist_ok=True)
        if (folder / file).is_dir():
            raise ExportError(f"{folder / file} is a folder; remove it, or choose another one.")
    for file in files:
        os.replace(stage / file, folder / file)
    return {str(file) for file in files}


def _take_away(folders: list[Path]) -> None:
    """Remove folders, from the inside out, as long as there is nothing in them."""
    with suppress(OSError):
        for p in folders:
            p.rmdir()
