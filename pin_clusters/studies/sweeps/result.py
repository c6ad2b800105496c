"""Define the results of a sweep, and the exceptions that end a sweep."""

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
    """Time and memory of a run. For a resumed sweep, the values describe only the last run.

    Attributes:
        seconds: Duration, [s].
        busy: Sum of the computing times of all workers, [s].
        computed: Number of cases that were computed.
        read: Number of cases that were read from the folder.
        workers: Number of workers that returned results.
        peak: Largest peak memory of a worker, [bytes]; 0 if unknown.
        own: Peak memory of the calling process, [bytes]; 0 if unknown.
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
    """Results of a sweep, with one array for each key of the dicts that the sweep's function returned.

    ``result[key]`` has one row per successful case, in the order of ``index``, with shape (len(index), ...). If array
    shapes differ, or a case did not return the key, the result is an array of objects (arrays or None).

    Attributes:
        function: Module and name of the function.
        cases: Number of cases of the sweep.
        seed: Seed of the sweep.
        index: Numbers of the successful cases, ascending.
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
            UnknownNameError: No case returned this key.
        """
        if key not in self.arrays:
            raise UnknownNameError(f"no case of the sweep returned the key {key!r}.{did_you_mean(key, self.arrays)}")
        return self.arrays[key]

    def __contains__(self, key: object) -> bool:
        return key in self.arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def __len__(self) -> int:
        return len(self.arrays)

    def to_csv(self, path: str | Path) -> None:
        """Write the results as a CSV table: a header, then one line per successful case, with all digits.

        The first column contains the numbers of the cases. Every array entry has its own column, such as
        ``error[0, 1]``. The table omits keys whose values are text, differ in shape, or are missing in a case.

        Args:
            path: File to write; its folder must exist.

        Raises:
            OSError: The file cannot be written.
        """
        columns: dict[str, np.ndarray] = {"case": self.index}
        for key, array in self.arrays.items():
            if array.dtype.kind not in "biuf":
                continue
            for entry in np.ndindex(array.shape[1:]):
                columns[f"{key}{list(entry)}" if entry else key] = array[(slice(None), *entry)]
        write_csv(path, columns)

    # Mapping.__eq__ would fail, because it compares arrays. Users can compare digests instead.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    @property
    def complete(self) -> bool:
        """Whether all cases have run, including cases that raised an exception."""
        return len(self.index) + len(self.failures) == self.cases

    @property
    def digest(self) -> str:
        """SHA-256 digest of all results and failures. Results with equal digests are bitwise identical."""
        h = hashlib.sha256()
        h.update(f"{self.cases} {self.seed} {self.index.tolist()}".encode())
        for failure in self.failures:  # omit the tracebacks, because their paths depend on the machine
            h.update(repr((failure.case, failure.type, failure.message)).encode())
        for key in sorted(self.arrays):
            array = self.arrays[key]
            for row in array if array.dtype == object else [array]:
                text = "nothing" if row is None else f"{row.dtype.str} {row.shape}"
                h.update(f"{key} {text}".encode())
                h.update(b"" if row is None else np.ascontiguousarray(row).tobytes())
        return h.hexdigest()


class SweepError(PinClustersError, RuntimeError):
    """Error if a sweep cannot continue, because a worker died, or a chunk cannot be sent or received.

    Attributes:
        result: Results of the completed cases; None if the sweep did not start.
    """

    def __init__(self, message: str, result: SweepResult | None = None) -> None:
        super().__init__(message)
        self.result = result


class SweepFolderError(PinClustersError, OSError):
    """Error if the folder of a sweep cannot be read or written, or contains another sweep."""


class SweepInterrupted(KeyboardInterrupt):
    """Exception raised after Ctrl-C. ``except Exception`` does not catch it, because it is a KeyboardInterrupt.

    Attributes:
        result: Results of the completed cases.
    """

    def __init__(self, message: str, result: SweepResult) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[type, tuple[str, SweepResult]]:
        """Pickle the exception with its result; by default, only the message would be pickled."""
        return type(self), (str(self), self.result)
