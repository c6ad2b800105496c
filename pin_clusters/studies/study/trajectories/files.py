"""Columns of numbers from CSV and NPZ files, with the line and the column of whatever is wrong."""

import csv
import io
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np

from ....errors import shown
from ....files.readers._arguments import content
from ....files.readers._numbers import DECIMAL
from ._base import TrajectoryError

TIME = "time"
MAX_BYTES = 10**9
"""Longer files, and archives that unpack to more, are refused before they are read."""
_NOT_FINITE = re.compile(r"[+-]?(nan|inf(inity)?)", re.ASCII | re.IGNORECASE)
Columns: TypeAlias = dict[str, np.ndarray]


def read(path: str | os.PathLike[str], other: Callable[[str, str], Columns | None] | None = None) -> Columns:
    """Return the columns of a .csv or .npz file by name, ``time`` first; a ``TrajectoryError`` names line and column.

    A CSV file has a line of names and a line per sample, separated by commas, semicolons or tabs; with the latter two
    the decimal mark may be a comma. Lines that begin with ``#`` are comments; rows and columns without any entry, and
    the line ``sep=;``, which spreadsheets write, are skipped. An NPZ file has an array per column. ``other`` reads
    another form of CSV from the text and the name of the file, and returns None if the text has not that form.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TrajectoryError(f"a recording is given by the path of a .csv or .npz file, got {shown(path)}.")
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in (".csv", ".npz"):
        raise TrajectoryError(f"{path}: a recording must be a .csv or .npz file.")
    try:
        data = content(path, MAX_BYTES)
        found = _from_npz(data, str(path)) if ending == ".npz" else _from_csv(data, str(path), other)
    except TrajectoryError:
        raise
    except FileNotFoundError:
        raise TrajectoryError(f"there is no file {path}.") from None
    except Exception as e:  # zipfile, zlib, lzma, NumPy, the system and its memory raise errors of many kinds
        reason = getattr(e, "strerror", None) or str(e).removesuffix(".") or type(e).__name__
        raise TrajectoryError(f"cannot read {shown(str(path))}: {reason}.") from None
    if TIME not in found:
        similar = [name for name in found if re.fullmatch(r"t|time\W*|time\W+m?s\W*|timestamp", name.lower())]
        raise TrajectoryError(
            f"{path} has no column {TIME!r} (seconds). Its columns: {', '.join(found) or 'none'}. "
            f"Expected: {TIME}, then a column per joint, by its name."
            + (f" Rename {similar[0]!r} if that is the time in seconds." if similar else "")
        )
    return {TIME: found.pop(TIME), **found}


def parse_csv(text: str, name: str) -> Columns:
    """Return the columns of a CSV text; ``name`` is for messages."""
    lines = [(i, line) for i, line in enumerate(text.splitlines(), start=1) if line.strip() and line[0] != "#"]
    told = re.fullmatch(r'\W?sep=([^\w\s"])\W?', lines[0][1].strip()) if lines else None  # a line of spreadsheets
    lines = [(i, line) for i, line in lines[1 if told else 0 :] if line.strip(",;\t ")]
    if not lines:
        raise TrajectoryError(
            f"{name} is empty. Expected a line of column names, {TIME} and joints, and one per sample."
        )
    separator = told[1] if told else next((s for s in ",;\t" if s in lines[0][1]), ",")
    how = {"delimiter": separator, "skipinitialspace": True}
    count, width = 0, 1
    for _, row in rows_of(lines, name, **how):  # without empty columns at the right
        count, last = count + 1, len(row)
        while last > width and not row[last - 1].strip():
            last -= 1
        width = max(width, last)
    head = [cell.strip() for cell in next(rows_of(lines, name, **how))[1][:width]]
    if all(number(cell) is not None for cell in head):
        raise TrajectoryError(f"{name} begins with numbers. Its first line must be the names of the columns.")
    seen = set[str]()
    for cell in head:
        if not cell or cell in seen:
            raise TrajectoryError(f"{name}: column names must be given and different; got {cell!r} twice or empty.")
        seen.add(cell)
    numbers = np.empty((len(head), count - 1))
    for k, (line, row) in enumerate(rows_of(lines, name, **how), start=-1):
        if len(row := row[:width]) != len(head):
            raise TrajectoryError(
                f"{name}, line {line}: {len(row)} numbers, expected {len(head)} as in the first line."
            )
        for column, cell in enumerate(row if k >= 0 else []):
            text = cell.replace(",", ".") if separator != "," and cell.count(",") == 1 else cell
            if (x := number(text)) is None:
                raise not_a_number(name, line, head[column], text)
            if not np.isfinite(x):
                where = f"{name}, line {line}, column {head[column]!r}"
                raise TrajectoryError(f"{where}: {text.strip():.60} is not finite. Repair the sample.")
            numbers[column, k] = x
    return dict(zip(head, numbers, strict=True))


def rows_of(lines: Sequence[tuple[int, str]], name: str, **how: Any) -> Iterator[tuple[int, list[str]]]:
    """Return the rows of a CSV text with the number of their lines; ``how`` is for ``csv.reader``."""
    reader = csv.reader((line for _, line in lines), **how)
    try:
        for row in reader:
            yield lines[reader.line_num - 1][0], row
    except csv.Error as e:
        line = lines[min(reader.line_num, len(lines)) - 1][0]
        raise TrajectoryError(f"{name}, line {line}: {e}. Is a quotation mark left open?") from None


def number(cell: str) -> float | None:
    """Return the number that a cell holds, which may be infinite or NaN; None if it holds none."""
    text = cell.strip()
    return float(text) if DECIMAL.fullmatch(text) or _NOT_FINITE.fullmatch(text) else None


def not_a_number(name: str, line: int, column: str, text: str) -> TrajectoryError:
    """Return the error for a cell without a number."""
    return TrajectoryError(f"{name}, line {line}, column {column!r}: {shown(text.strip())} is not a number.")


def _from_csv(data: bytes, name: str, other: Callable[[str, str], Columns | None] | None) -> Columns:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise TrajectoryError(
            f"{name} is not text: byte {e.start}, in line {line}, is not UTF-8. A recording must be CSV or NPZ; a "
            "spreadsheet writes it as 'CSV UTF-8'."
        ) from None
    return (other and other(text, name)) or parse_csv(text, name)


def _from_npz(data: bytes, name: str) -> Columns:
    found: Columns = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if (size := sum(member.file_size for member in archive.infolist())) > MAX_BYTES:
            raise TrajectoryError(
                f"{name} unpacks to {size / 1e6:.0f} MB, more than {MAX_BYTES / 1e6:.0f} MB. Split it."
            )
        for member in archive.infolist():
            column = member.filename.removesuffix(".npy")
            if column in found:
                raise TrajectoryError(f"{name} has two arrays {column!r}. Keep one.")
            with archive.open(member) as stream:
                found[column] = _array(stream, name, column)
    for column, values in found.items():
        if len(values) != (samples := len(found.get(TIME, values))):
            raise TrajectoryError(f"{name}: array {column!r} has {len(values)} numbers, and {TIME!r} has {samples}.")
        if (bad := np.flatnonzero(~np.isfinite(values))).size:
            raise TrajectoryError(
                f"{name}, sample {bad[0]}, column {column!r}: {values[bad[0]]} is not finite. Repair the sample."
            )
    return found


def _array(stream: IO[bytes], name: str, column: str) -> np.ndarray:
    """Return an array of numbers, whose header is looked at before they are read."""
    version = np.lib.format.read_magic(stream)
    headers = np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0
    shape, _, kind = headers[version != (1, 0)](stream)
    if len(shape) != 1 or kind.kind not in "fiu":
        raise TrajectoryError(
            f"{name}: array {column!r} has shape {shape} and type {kind}; expected one number per sample, an array for "
            f"each joint by its name, and {TIME!r}."
        )
    values = np.frombuffer(stream.read(), kind)
    if values.shape != shape:
        raise TrajectoryError(f"{name}: array {column!r} has {len(values)} numbers, {shape[0]} by its header.")
    return values.astype(float)
