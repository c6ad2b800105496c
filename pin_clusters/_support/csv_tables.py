"""Tables of numbers as CSV files: a line of names with units, then full digits."""

import csv
import os
from collections.abc import Mapping, Sequence

import numpy as np

from .whole_files import whole


def write_csv(file: str | os.PathLike[str], columns: Mapping[str, np.ndarray | Sequence[float]]) -> None:
    """Write columns of equal length to a CSV file; ``numpy.loadtxt(file, delimiter=",", skiprows=1)`` reads them.

    Args:
        file: Where to; the folder must exist.
        columns: By their names, units included, such as ``"crank [rad]"``; each of shape (N,).

    Raises:
        OSError: The file cannot be written.
    """
    table = np.column_stack([np.asarray(x, dtype=float) for x in columns.values()])
    with whole(file) as (part,), open(part, "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerow(columns)
        np.savetxt(stream, table, fmt="%.17g", delimiter=",")
