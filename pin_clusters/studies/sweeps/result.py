"""What a sweep gives back, and what can stop it, which keeps what is done."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ..._support.whole_files import write_csv
from ...errors import PinClustersError, UnknownNameError, did_you_mean
from ._tables import CaseFailure


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
        if key not in self.arrays:
            raise UnknownNameError(f"the sweep gave nothing under {key!r}.{did_you_mean(key, self.arrays)}")
        return self.arrays[key]

    def __contains__(self, key: object) -> bool:
        return key in self.arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def to_csv(self, path: str | Path) -> None:
        """Write the results as a table: a line of names, then a line per case that succeeded, with all digits.

        Columns: the number of the case, then each key; a key with arrays has a column per entry, ``error[0, 1]``.
        Numbers alone: keys with text, and those whose arrays differ in shape or are missing in some case, are left out.

        Args:
            path: Where to; the folder must exist.

        Raises:
            OSError: The file cannot be written.
        """
        columns: dict[str, np.ndarray] = {"case": self.index}
        for key, array in self.arrays.items():
            if array.dtype.kind not in "biuf":
                continue
            for at in np.ndindex(array.shape[1:]):
                columns[f"{key}{list(at)}" if at else key] = array[(slice(None), *at)]
        write_csv(path, columns)

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
            for row in array if array.dtype == object else [array]:
                text = "nothing" if row is None else f"{row.dtype.str} {row.shape}"
                h.update(f"{key} {text}".encode())
                h.update(b"" if row is None else np.ascontiguousarray(row).tobytes())
        return h.hexdigest()


class SweepError(PinClustersError, RuntimeError):
    """A sweep cannot go on: a worker died, or a chunk cannot be sent or brought back.

    Attributes:
        result: What was done before; None if nothing could be started.
    """

    def __init__(self, message: str, result: SweepResult | None = None) -> None:
        super().__init__(message)
        self.result = result


class SweepFolderError(PinClustersError, OSError):
    """A folder cannot be written, or holds something that is not this sweep."""


class SweepInterrupted(KeyboardInterrupt):
    """Ctrl-C: the rest was cancelled. It is a KeyboardInterrupt, so that ``except Exception`` does not swallow it.

    Attributes:
        result: What was done before.
    """

    def __init__(self, message: str, result: SweepResult) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[type, tuple[str, SweepResult]]:
        """Pickle: an exception would be made again from its message alone."""
        return type(self), (str(self), self.result)
