"""Columns of numbers from CSV and NPZ files, with the row and the column of whatever is wrong."""

import csv
import io
import re
import zipfile
from pathlib import Path

import numpy as np

from ._base import TrajectoryError

TIME = "time"


def read(path: str | Path) -> dict[str, np.ndarray]:
    """Return the columns of a .csv or .npz file by name, ``time`` first; a ``TrajectoryError`` names row and column.

    A CSV file has a line of names and a line per sample, separated by commas, semicolons or tabs; with the latter two
    the decimal mark may be a comma. Lines that begin with ``#`` are comments; rows and columns without any entry, and
    the line ``sep=;``, which spreadsheets write, are skipped. An NPZ file has an array per column.
    """
    path = Path(path)
    readers = {".csv": _read_csv, ".npz": _read_npz}
    if path.suffix.lower() not in readers:
        raise TrajectoryError(f"{path}: a recording must be a .csv or .npz file.")
    try:
        found = readers[path.suffix.lower()](path)
    except FileNotFoundError as e:
        raise TrajectoryError(f"there is no file {path}.") from e
    except OSError as e:
        raise TrajectoryError(f"cannot read {path}: {e.strerror or e}.") from e
    if TIME not in found:
        similar = [name for name in found if re.fullmatch(r"t|time\W*|time\W+m?s\W*|timestamp", name.lower())]
        raise TrajectoryError(
            f"{path} has no column {TIME!r} (seconds). Its columns: {', '.join(found) or 'none'}. "
            f"Expected: {TIME}, then a column per joint, by its name."
            + (f" Rename {similar[0]!r} if that is the time in seconds." if similar else "")
        )
    return {TIME: found.pop(TIME), **found}


def parse_csv(text: str, name: str) -> dict[str, np.ndarray]:
    """Return the columns of a CSV text; ``name`` is for messages."""
    lines = [(i, line) for i, line in enumerate(text.splitlines(), start=1) if line.strip() and line[0] != "#"]
    told = re.fullmatch(r"\W?sep=(.)\W?", lines[0][1].strip()) if lines else None  # a line of spreadsheets
    lines = [(i, line) for i, line in lines[1 if told else 0 :] if line.strip(",;\t ")]
    if not lines:
        raise TrajectoryError(
            f"{name} is empty. Expected a line of column names, {TIME} and joints, and one per sample."
        )
    separator = told[1] if told else next((s for s in ",;\t" if s in lines[0][1]), ",")
    text = "\n".join(line for _, line in lines)
    rows = list(csv.reader(io.StringIO(text), delimiter=separator, skipinitialspace=True))
    width = len(rows[0])
    while width > 1 and not any(cell.strip() for row in rows for cell in row[width - 1 :]):
        width -= 1
    rows = [row[:width] for row in rows]  # without empty columns at the right
    if separator != ",":
        rows[1:] = [[cell.replace(",", ".") if cell.count(",") == 1 else cell for cell in row] for row in rows[1:]]
    head = [cell.strip() for cell in rows[0]]
    if all(_is_number(cell) for cell in head):
        raise TrajectoryError(f"{name} begins with numbers. Its first line must be the names of the columns.")
    for cell in head:
        if not cell or head.count(cell) > 1:
            raise TrajectoryError(f"{name}: column names must be given and different; got {cell!r} twice or empty.")
    numbers = np.empty((len(rows) - 1, len(head)))
    for k, row in enumerate(rows[1:]):
        line = lines[k + 1][0]
        if len(row) != len(head):
            raise TrajectoryError(
                f"{name}, line {line}: {len(row)} numbers, expected {len(head)} as in the first line."
            )
        for column, (cell, text_of) in enumerate(zip(head, row, strict=True)):
            if not _is_number(text_of):
                raise TrajectoryError(f"{name}, line {line}, column {cell!r}: {text_of.strip()!r} is not a number.")
            numbers[k, column] = float(text_of)
            if not np.isfinite(numbers[k, column]):
                raise TrajectoryError(
                    f"{name}, line {line}, column {cell!r}: {text_of.strip()} is not finite. Repair the sample."
                )
    return {cell: np.ascontiguousarray(numbers[:, i]) for i, cell in enumerate(head)}


def _read_csv(path: Path) -> dict[str, np.ndarray]:
    try:
        return parse_csv(path.read_text(encoding="utf-8-sig"), str(path))
    except UnicodeDecodeError as e:
        raise TrajectoryError(
            f"{path} is not text: byte {e.start} is not UTF-8. A recording must be CSV or NPZ; a spreadsheet writes it "
            "as 'CSV UTF-8'."
        ) from e


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    try:
        with np.load(path, allow_pickle=False) as file:
            found = {name: np.asarray(file[name]) for name in file.files}
    except (zipfile.BadZipFile, ValueError, EOFError) as e:
        raise TrajectoryError(f"{path} is not an NPZ file that can be read: {e}.") from e
    size = found[TIME].shape if TIME in found else None
    for name, values in found.items():
        if values.ndim != 1 or (size is not None and values.shape != size) or values.dtype.kind not in "fiu":
            raise TrajectoryError(
                f"{path}: array {name!r} has shape {values.shape} and type {values.dtype}; expected one number per "
                f"sample, an array for each joint by its name, and {TIME!r}."
            )
        found[name] = values.astype(float)
        bad = np.flatnonzero(~np.isfinite(found[name]))
        if bad.size:
            raise TrajectoryError(
                f"{path}, sample {bad[0]}, column {name!r}: {values[bad[0]]} is not finite. Repair the sample."
            )
    return found


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
