"""Files that are written whole or not at all, so that a full disk or Ctrl-C leaves what was there before."""

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
    """Give names beside files to write to, with their endings; they take their places when all are written.

    A link stays, and what it leads to is replaced; a device or a pipe, which nothing can replace, is written to itself.

    Raises:
        OSError: Something cannot be written; all files are as they were.
    """
    # a pipe has no other name: what its link says leads nowhere
    special = [os.path.exists(file) and not os.path.isfile(file) for file in files]
    places = [Path(x if known else os.path.realpath(x)) for x, known in zip(files, special, strict=True)]
    parts: dict[Path, Path] = {}
    for place in places:
        if place.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(place))
    try:
        for place in places:
            if place.is_file() or not place.exists():
                part = place.with_name(f".{place.stem[:40]}-{secrets.token_hex(8)}.part{place.suffix}")
                try:
                    part.touch(exist_ok=False)
                except OSError as error:
                    error.filename = str(place)
                    raise
                parts[place] = part
                if place.exists():
                    part.chmod(stat.S_IMODE(place.stat().st_mode))
        yield tuple(parts.get(place, place) for place in places)
        for place, part in list(parts.items()):
            os.replace(part, place)
            del parts[place]
    finally:
        for part in parts.values():
            part.unlink(missing_ok=True)


@contextmanager
def refused(kind: Callable[[str], Exception], what: object, cure: str = "") -> Iterator[None]:
    """Turn what goes wrong while something is written into an error of a kind that says why, and the cure."""
    try:
        yield
    except (OSError, ValueError) as error:  # ValueError: a null character in the path
        raise kind(f"cannot write {what}: {getattr(error, 'strerror', None) or error}.{cure}") from error


def all_of(*steps: Callable[[], object]) -> None:
    """Take all steps, such as writing a file each, also after one that fails; then raise the first error."""
    errors = list[Exception]()
    for step in steps:
        try:
            step()
        except Exception as error:
            errors.append(error)
    if errors:
        raise errors[0]


def make_folder(folder: Path, kind: Callable[[str], Exception], by: str = "") -> None:
    """Make a folder, and see that it can be written; else raise an error of a kind: choose another one, ``by`` what."""
    if os.path.lexists(folder) and not os.path.isdir(folder):
        raise kind(f"{folder} is a file, not a folder; choose another one{by}.")
    with refused(kind, f"to {folder}", f" Choose another folder{by}."):
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass


def write_csv(file: str | os.PathLike[str], columns: Mapping[str, np.ndarray | Sequence[float]]) -> None:
    """Write columns to CSV, by names with units such as "crank [rad]", with full digits.

    ``numpy.loadtxt(file, delimiter=",", skiprows=1)`` reads them.
    """
    table = np.column_stack([np.asarray(x, dtype=float) for x in columns.values()])
    with whole(file) as (part,), open(part, "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerow(columns)
        np.savetxt(stream, table, fmt="%.17g", delimiter=",")
