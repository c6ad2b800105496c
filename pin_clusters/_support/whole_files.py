"""Atomic writing of files; if the disk is full or the user presses Ctrl-C, the previous contents do not change."""

import csv
import errno
import os
import secrets
import stat
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np


@contextmanager
def whole(*files: str | os.PathLike[str]) -> Iterator[tuple[Path, ...]]:
    """Yield a temporary path next to each file, with the same extension; after the ``with`` block, replace the files.

    If a file is a symbolic link, the target of the link is replaced. Devices and pipes cannot be replaced and are
    written directly. After an ``OSError``, all files are unchanged.
    """
    # The path of a pipe must not be resolved, because it can be a link whose target does not exist.
    special = [os.path.exists(file) and not os.path.isfile(file) for file in files]
    targets = [Path(x if is_special else os.path.realpath(x)) for x, is_special in zip(files, special, strict=True)]
    parts: dict[Path, Path] = {}
    for target in targets:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    try:
        for target in targets:
            if target.is_file() or not target.exists():
                part = target.with_name(f".{target.stem[:40]}-{secrets.token_hex(8)}.part{target.suffix}")
                try:
                    part.touch(exist_ok=False)
                except OSError as error:
                    error.filename = str(target)
                    raise
                parts[target] = part
                if target.exists():
                    part.chmod(stat.S_IMODE(target.stat().st_mode))
        yield tuple(parts.get(target, target) for target in targets)
        for target, part in list(parts.items()):
            os.replace(part, target)
            del parts[target]
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


@contextmanager
def refused(kind: Callable[[str], Exception], what: object, cure: str = "") -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:  # a path with a null character raises ValueError
        raise kind(f"cannot write {what}: {getattr(error, 'strerror', None) or error}.{cure}") from error


def all_of(*steps: Callable[[], object]) -> None:
    """Run all steps, even if a step fails; then raise the first error."""
    errors = list[Exception]()
    for step in steps:
        try:
            step()
        except Exception as error:
            errors.append(error)
    if errors:
        raise errors[0]


def make_folder(folder: Path, kind: Callable[[str], Exception], by: str = "") -> None:
    """Create a folder and check that it is writable; on failure, raise ``kind`` with the hint ``by``."""
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise kind(f"{folder} is a file, not a folder. Choose another folder{by}.")
    with refused(kind, f"to {folder}", f" Choose another folder{by}."):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


def write_csv(file: str | os.PathLike[str], columns: Mapping[str, np.ndarray | Sequence[float]]) -> None:
    """Write columns to a CSV file with all digits; the column names include units, such as "crank [rad]"."""
    table = np.column_stack([np.asarray(x, dtype=float) for x in columns.values()])
    with whole(file) as (part,), open(part, "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerow(columns)
        np.savetxt(stream, table, fmt="%.17g", delimiter=",")
