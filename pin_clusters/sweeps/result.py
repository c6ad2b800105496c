"""What a sweep gives back."""

from __future__ import annotations

import hashlib
import warnings
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..errors import PinClustersWarning, UnknownNameError, did_you_mean
from . import _folder, _tables
from ._tables import CaseFailure
from .errors import SweepFolderError


@dataclass(frozen=True)
class Effort:
    """What a run cost; a sweep that was continued counts its last run only.

    Attributes:
        seconds: From start to end, [s].
        busy: Sum over the workers of the time they spent on chunks, [s].
        computed: Number of cases that were computed.
        read: Number of cases that were read from the folder.
        workers: Number of workers that took part.
        peak: Largest memory of any worker, [bytes]; 0 if it is not known.
        own: Largest memory of this process so far, [bytes]; 0 if it is not known.
    """

    seconds: float = 0.0
    busy: float = 0.0
    computed: int = 0
    read: int = 0
    workers: int = 0
    peak: int = 0
    own: int = 0


@dataclass(frozen=True, eq=False)
class SweepResult(Mapping[str, np.ndarray]):
    """The results of a sweep, by the keys of what its function returned.

    ``result[key]`` has one row per case that succeeded, in the order of ``index``: shape (len(index), ...). If the
    arrays of the cases differ in shape, or some cases gave nothing under that key, its rows are objects (arrays, None).

    Attributes:
        function: Module and name of the function.
        cases: How many cases the sweep has.
        seed: Its seed.
        index: Numbers of the cases that succeeded, ascending.
        failures: The cases that raised an exception.
        effort: Time, memory and number of workers.
    """

    function: str
    cases: int
    seed: int
    index: np.ndarray
    failures: tuple[CaseFailure, ...]
    arrays: Mapping[str, np.ndarray] = field(repr=False)
    effort: Effort

    def __getitem__(self, key: str) -> np.ndarray:
        """Return the rows of a key.

        Raises:
            UnknownNameError: No case gave something under that key.
        """
        try:
            return self.arrays[key]
        except KeyError:
            raise UnknownNameError(f"the sweep gave nothing under {key!r}.{did_you_mean(key, self.arrays)}") from None

    def __contains__(self, key: object) -> bool:
        return key in self.arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    # a mapping would compare arrays, which have no single answer: compare digests
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def complete(self) -> bool:
        """Whether all cases were run, with whatever outcome."""
        return len(self.index) + len(self.failures) == self.cases

    @property
    def digest(self) -> str:
        """A digest of all numbers and failures: equal if and only if two results are the same to the last bit."""
        h = hashlib.sha256()
        h.update(f"{self.cases} {self.seed} {self.index.tolist()}".encode())
        for failure in self.failures:  # paths in tracebacks are no result
            h.update(repr((failure.case, failure.type, failure.message)).encode())
        for key in sorted(self.arrays):
            array = self.arrays[key]
            rows = list(array) if array.dtype == object else [array]
            for row in rows:
                text = "nothing" if row is None else f"{row.dtype.str} {row.shape}"
                h.update(f"{key} {text}".encode())
                h.update(b"" if row is None else np.ascontiguousarray(row).tobytes())
        return h.hexdigest()


def make(manifest: _folder.Manifest, tables: Mapping[int, _tables.Table], effort: Effort) -> SweepResult:
    """Return the result of the chunks that are done, by their number."""
    whole = _tables.join([tables[chunk] for chunk in sorted(tables)] or [_tables.pack([])])
    arrays = {key: _tables.column(whole, key) for key in _tables.keys(whole)}
    for array in (whole["index"], *arrays.values()):
        array.setflags(write=False)
    return SweepResult(
        manifest.function, manifest.cases, manifest.seed, whole["index"], _tables.failures(whole), arrays, effort
    )


def load(folder: str | Path) -> SweepResult:
    """Read the folder of a sweep, as far as it is done; nothing in it is changed.

    Args:
        folder: What was ``folder`` of ``sweeps.run``, or ``--output`` of the command.

    Returns:
        The result; ``complete`` says whether all cases are there. A broken chunk is left out, with a warning.

    Raises:
        SweepFolderError: No sweep is there.
    """
    path = Path(folder)
    manifest = _folder.read_manifest(path)
    if manifest is None:
        raise SweepFolderError(f"{path} holds no sweep: there is no {_folder.MANIFEST} in it.")
    tables = {}
    for chunk in range(manifest.chunks):
        try:
            tables[chunk] = _folder.read_chunk(path / f"chunk_{chunk:05d}.npz", manifest.range_of(chunk))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
            warnings.warn(
                f"chunk {chunk} of {path} is broken and left out ({' '.join(str(error).split())}); "
                "sweeps.run with resume=True computes it again.",
                PinClustersWarning,
                stacklevel=2,
            )
    return make(manifest, tables, Effort(read=sum(len(t["index"]) + len(t["failed"]) for t in tables.values())))
