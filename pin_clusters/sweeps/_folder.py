"""The folder of a sweep: a manifest that says which sweep it is, and one NPZ file per chunk.

Every file is written under another name and then renamed, so a file that has its name is whole.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import PinClustersWarning
from . import _tables
from .errors import SweepFolderError

MANIFEST = "manifest.json"
_CHUNK = re.compile(r"chunk_(\d{5,})\.npz")
_WORDS = {
    "function": "function",
    "parameters": "parameters",
    "cases": "number of cases",
    "seed": "seed",
    "digest": "cases or parameters (their digest)",
    "chunk": "cases per chunk",
}


@dataclass(frozen=True)
class Manifest:
    """Which sweep it is.

    Attributes:
        function: Module and name of the function.
        parameters: What the function has bound (``functools.partial``), as text.
        cases: Number of cases.
        seed: Seed of the sweep.
        chunk: Cases per chunk.
        digest: Of the function's name, its parameters and all cases.
        versions: Of what the numbers come from.
    """

    function: str
    parameters: dict[str, str]
    cases: int
    seed: int
    chunk: int
    digest: str
    versions: dict[str, str] = field(compare=False)

    def range_of(self, chunk: int) -> range:
        """Return the numbers of the cases of a chunk."""
        return range(chunk * self.chunk, min((chunk + 1) * self.chunk, self.cases))

    @property
    def chunks(self) -> int:
        """Number of chunks."""
        return -(-self.cases // self.chunk)


def chunk_in(folder: Path) -> int | None:
    """Return how many cases a chunk of the sweep in a folder has; None if no sweep is there.

    Raises:
        SweepFolderError: The manifest cannot be read.
    """
    found = read_manifest(folder)
    return None if found is None else found.chunk


def read_manifest(folder: Path) -> Manifest | None:
    """Return the manifest of a folder; None if it has none.

    Raises:
        SweepFolderError: It cannot be read.
    """
    path = folder / MANIFEST
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise SweepFolderError(f"cannot read {path}: {error}.") from None
    try:
        found = Manifest(**json.loads(text)["sweep"])
        if found.chunk < 1 or found.cases < 0:
            raise ValueError("numbers out of range")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SweepFolderError(
            f"{path} is not the manifest of a sweep ({type(error).__name__}: {error}). Choose another folder; if it "
            "was damaged, its chunks are lost, as nothing says what they belong to."
        ) from None
    return found


class Folder:
    """A folder that belongs to one sweep.

    Args:
        path: The folder; it is made if it does not exist.
        manifest: The sweep.
        resume: Whether results of the same sweep may be there.

    Raises:
        SweepFolderError: It cannot be written, holds another sweep, or holds results and ``resume`` is not set.
    """

    def __init__(self, path: Path, manifest: Manifest, resume: bool) -> None:
        self.path, self.manifest = path, manifest
        try:
            path.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=path):
                pass
            there = sorted(p.name for p in path.iterdir() if _CHUNK.fullmatch(p.name))
        except FileExistsError:
            raise SweepFolderError(f"{path} is a file, not a folder; choose another one.") from None
        except OSError as error:
            raise SweepFolderError(
                f"cannot write to {path}: {error.strerror or error}. Choose another folder."
            ) from None
        old = read_manifest(path)
        if old is None and there:
            raise SweepFolderError(
                f"{path} has {len(there)} chunks of a sweep ({there[0]}, ...) but no {MANIFEST}, so it is not known "
                "what they belong to. Choose another folder."
            )
        if old is not None:
            if not resume:
                raise SweepFolderError(
                    f"{path} holds results of a sweep already ({len(there)} of {old.chunks} chunks of {old.function}). "
                    "Continue it with resume=True (--resume), or choose another folder."
                )
            self._compare(old)
        else:
            text = json.dumps({"sweep": asdict(manifest)}, indent=2) + "\n"
            with self._whole(MANIFEST) as path_:
                path_.write_text(text, encoding="utf-8")

    def _compare(self, old: Manifest) -> None:
        """Refuse a folder of another sweep."""
        mine, theirs = asdict(self.manifest), asdict(old)
        different = [key for key in _WORDS if mine[key] != theirs[key]]
        if different:
            shown = [key for key in different if key != "digest"] or different
            said = "; ".join(f"{_WORDS[key]}: {_brief(theirs[key])} there, {_brief(mine[key])} now" for key in shown)
            raise SweepFolderError(
                f"{self.path} holds another sweep, so it cannot be continued: {said}. Choose another folder, or run "
                "the sweep that is there."
            )
        new = {name: (old.versions.get(name, "?"), x) for name, x in self.manifest.versions.items()}
        changed = {name: pair for name, pair in new.items() if pair[0] != pair[1]}
        said = ", ".join(f"{name} {a} there, {b} now" for name, (a, b) in changed.items())
        if "pin_clusters" in changed:
            raise SweepFolderError(
                f"{self.path} was made by another version, so its numbers need not fit those of today: {said}. "
                "Install that version, or choose another folder."
            )
        if changed:
            warnings.warn(
                f"{self.path} was begun with other versions: {said}. Its numbers may differ from new ones in the last "
                "digits.",
                PinClustersWarning,
                stacklevel=4,
            )

    def read(self) -> dict[int, _tables.Table]:
        """Return the chunks that are done; a broken one is moved aside, with a warning, and counts as not done."""
        found = {}
        for path in sorted(self.path.iterdir()):
            if path.name.startswith(".chunk_") and path.name.endswith(".part"):
                path.unlink(missing_ok=True)  # of a run that was killed
            match = _CHUNK.fullmatch(path.name)
            if match is None:
                continue
            number = int(match[1])
            try:
                found[number] = read_chunk(path, self.manifest.range_of(number))
            except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
                aside = self._aside(path)
                warnings.warn(
                    f"{path} is broken ({' '.join(str(error).split()) or type(error).__name__}); it is kept as "
                    f"{aside.name}, and its cases are computed again.",
                    PinClustersWarning,
                    stacklevel=3,
                )
        return found

    def write(self, chunk: int, table: _tables.Table) -> None:
        """Write a chunk.

        Raises:
            SweepFolderError: It cannot be written.
        """
        with self._whole(f"chunk_{chunk:05d}.npz") as path, path.open("wb") as file:
            np.savez(file, **table)  # type: ignore[arg-type]

    @contextmanager
    def _whole(self, name: str) -> Iterator[Path]:
        """Give a path to write to, which then gets its name at once."""
        part = self.path / f".{name}.{os.getpid()}.part"
        try:
            yield part
            part.replace(self.path / name)
        except OSError as error:
            raise SweepFolderError(f"cannot write {self.path / name}: {error.strerror or error}.") from None
        finally:
            part.unlink(missing_ok=True)

    @staticmethod
    def _aside(path: Path) -> Path:
        """Rename a broken file to a name that is free."""
        for i in range(10_000):
            aside = path.with_name(f"{path.name}.broken{i or ''}")
            if not aside.exists():
                path.rename(aside)
                return aside
        raise SweepFolderError(f"there are too many broken files beside {path}.")


def read_chunk(path: Path, cases: range) -> _tables.Table:
    """Return the table of a chunk.

    Raises:
        OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile: It is broken, or holds other cases.
    """
    # opened here: np.load leaves what it opens to the garbage collector if it is no archive
    with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        table = {name: stored[name] for name in stored.files}
    if not _tables.covers(table, cases):
        raise ValueError(f"it does not hold the cases {cases.start} to {cases.stop - 1}")
    return table


def _brief(x: Any) -> str:
    if isinstance(x, dict):
        return ", ".join(f"{k}={v}" for k, v in x.items()) or "none"
    return f"{x[:12]}..." if isinstance(x, str) and len(x) == 64 else str(x)
