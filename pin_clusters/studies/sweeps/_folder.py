"""The folder of a sweep contains a manifest that identifies the sweep, and one NPZ file per chunk of cases.

Files are written under a temporary name and then renamed, so that files with a final name are always complete.
"""

import itertools
import json
import warnings
import zipfile
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from ..._support.whole_files import make_folder, refused, whole
from ...errors import PinClustersWarning
from . import _tables
from ._tables import Table
from .result import SweepFolderError

MANIFEST = "manifest.json"
_WORDS = {"cases": "number of cases", "digest": "cases or parameters (their digest)", "chunk": "cases per chunk"}
"""Names for manifest entries in messages, if these names differ from the keys."""


@dataclass(frozen=True)
class Manifest:
    """Entries that identify a sweep."""

    function: str  # module and name of the function
    parameters: dict[str, str]  # arguments bound by ``functools.partial``, as text
    cases: int  # number of cases
    seed: int  # seed of the sweep
    chunk: int  # cases per chunk
    digest: str  # digest of the function's name, the parameters and all cases
    versions: dict[str, str] = field(compare=False)  # versions of software that can affect the results

    def range_of(self, chunk: int) -> range:
        return range(chunk * self.chunk, min((chunk + 1) * self.chunk, self.cases))

    @property
    def chunks(self) -> int:
        return -(-self.cases // self.chunk)


def read_manifest(folder: Path) -> Manifest | None:
    path = folder / MANIFEST
    try:
        text = path.read_text(encoding="utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise SweepFolderError(f"cannot read {path}: {error}.") from None
    try:
        manifest = Manifest(**json.loads(text)["sweep"])
        if manifest.chunk < 1 or manifest.cases < 0:
            raise ValueError("chunk or cases is out of range")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise SweepFolderError(
            f"{path} is not a valid manifest of a sweep ({type(error).__name__}: {error}). Choose another folder. "
            "Without a valid manifest the chunks cannot be used, because their sweep is unknown."
        ) from None
    return manifest


def begin(folder: Path, manifest: Manifest, resume: bool) -> None:
    """Create the folder and its manifest; with ``resume``, compare an existing manifest with ``manifest``."""
    make_folder(folder, SweepFolderError)
    chunks = sorted(path.name for path in folder.glob("chunk_[0-9]*.npz"))
    old = read_manifest(folder)
    if old is None:
        if chunks:
            raise SweepFolderError(
                f"{folder} contains {len(chunks)} chunks of a sweep ({chunks[0]}, ...) but no {MANIFEST}, so "
                "their sweep is unknown. Choose another folder."
            )
        path = folder / MANIFEST
        with refused(SweepFolderError, path), whole(path) as (part,):
            part.write_text(json.dumps({"sweep": asdict(manifest)}, indent=2) + "\n", encoding="utf-8")
    elif resume:
        _compare(folder, manifest, old)
    else:
        raise SweepFolderError(
            f"{folder} already contains results of a sweep ({len(chunks)} of {old.chunks} chunks of {old.function}). "
            "Continue it with resume=True (--resume), or choose another folder."
        )


def _compare(folder: Path, new: Manifest, old: Manifest) -> None:
    new_entries, old_entries = asdict(new), asdict(old)
    different = [f.name for f in fields(Manifest) if f.compare and new_entries[f.name] != old_entries[f.name]]
    if different:
        shown = [key for key in different if key != "digest"] or different
        differences = "; ".join(
            f"{_WORDS.get(key, key)}: {_brief(old_entries[key])} in the folder, {_brief(new_entries[key])} now"
            for key in shown
        )
        raise SweepFolderError(
            f"{folder} contains another sweep, which cannot be continued: {differences}. Choose another folder, or run "
            "the sweep of this folder."
        )
    changed = {
        name: f"{name} {old_version} in the folder, {now} now"
        for name, now in new.versions.items()
        if (old_version := old.versions.get(name, "?")) != now
    }
    differences = ", ".join(changed.values())
    if "pin_clusters" in changed:
        raise SweepFolderError(
            f"{folder} was written with another package version, whose results may differ: {differences}. Use that "
            "version, or choose another folder."
        )
    if changed:
        warnings.warn(
            f"{folder} was written with other versions: {differences}. Its results may differ from new results in the "
            "last digits.",
            PinClustersWarning,
            stacklevel=4,
        )


def _brief(x: Any) -> str:
    if isinstance(x, dict):
        return ", ".join(f"{k}={v}" for k, v in x.items()) or "none"
    return f"{x[:12]}..." if isinstance(x, str) and len(x) == 64 else str(x)


def read(folder: Path, manifest: Manifest, repair: bool) -> dict[int, Table]:
    """Return the completed chunks by number. With ``repair``, rename damaged chunks and remove temporary files."""
    tables: dict[int, Table] = {}
    if repair:
        for part in folder.glob(".chunk_*.part*"):
            part.unlink(missing_ok=True)
    for chunk in range(manifest.chunks):
        path = chunk_path(folder, chunk)
        try:
            # Open the file here, because np.load does not close a file that is not an archive.
            with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
                table = dict(stored)
            _tables.check(table, manifest.range_of(chunk))
            tables[chunk] = table
        except FileNotFoundError:
            continue
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            why = " ".join(str(error).split()) or type(error).__name__
            if repair:
                aside = next(a for i in itertools.count() if not (a := Path(f"{path}.broken{i or ''}")).exists())
                path.rename(aside)
                text = f"{path} is damaged ({why}) and renamed to {aside.name}. Its cases are computed again."
            else:
                text = (
                    f"chunk {chunk} of {folder} is damaged ({why}), and its cases are missing in the result. Call "
                    "sweeps.run with resume=True to compute these cases again."
                )
            warnings.warn(text, PinClustersWarning, stacklevel=3)
    return tables


def write(folder: Path, chunk: int, table: Table) -> None:
    path = chunk_path(folder, chunk)
    with refused(SweepFolderError, path), whole(path) as (part,), part.open("wb") as file:
        np.savez(file, **table)  # type: ignore[arg-type]


def chunk_path(folder: Path, chunk: int) -> Path:
    return folder / f"chunk_{chunk:05d}.npz"
