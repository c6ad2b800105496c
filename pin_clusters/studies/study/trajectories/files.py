"""Read columns of numbers from CSV and NPZ files. Error messages state the line and the column."""

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
MAX_BYTES = 10**9  # Maximum size of a file or an unpacked archive, [bytes]; larger files raise an error
_NOT_FINITE = re.compile(r"[+-]?(nan|inf(inity)?)", re.ASCII | re.IGNORECASE)
Columns: TypeAlias = dict[str, np.ndarray]


def read(path: str | os.PathLike[str], other: Callable[[str, str], Columns | None] | None = None) -> Columns:
    """Read a .csv or .npz file; return its columns by name, ``time`` first. Errors state the line and column.

    A CSV file has a line of names and a line per sample. The separators are commas, semicolons or tabs. With semicolons
    or tabs, the decimal mark may be a comma. Lines that begin with ``#`` are comments. Empty rows, empty columns and a
    spreadsheet line ``sep=;`` are skipped. An NPZ file has one array per column. ``other(text, name)`` parses another
    CSV format, or returns None if the text does not have this format.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise TrajectoryError(f"a recording must be the path of a .csv or .npz file, got {shown(path)}.")
    path = Path(path)
    ending = path.suffix.lower()
    if ending not in (".csv", ".npz"):
        raise TrajectoryError(f"{path}: a recording must be a .csv or .npz file.")
    try:
        data = content(path, MAX_BYTES)
        columns = _from_npz(data, str(path)) if ending == ".npz" else _from_csv(data, str(path), other)
    except TrajectoryError:
        raise
    except FileNotFoundError:
        raise TrajectoryError(f"there is no file {path}.") from None
    except Exception as e:  # zipfile, zlib, lzma, NumPy and the operating system raise many kinds of errors
        reason = getattr(e, "strerror", None) or str(e).removesuffix(".") or type(e).__name__
        raise TrajectoryError(f"cannot read {shown(str(path))}: {reason}.") from None
    if TIME not in columns:
        similar = [name for name in columns if re.fullmatch(r"t|time\W*|time\W+m?s\W*|timestamp", name.lower())]
        raise TrajectoryError(
            f"{path} has no column {TIME!r} (seconds). Its columns: {', '.join(columns) or 'none'}. "
            f"Expected {TIME} and one column for each joint, named after the joint."
            + (f" Rename {similar[0]!r} if that is the time in seconds." if similar else "")
        )
    return {TIME: columns.pop(TIME), **columns}


def parse_csv(text: str, name: str) -> Columns:
    lines = [(i, line) for i, line in enumerate(text.splitlines(), start=1) if line.strip() and line[0] != "#"]
    # Spreadsheet programs write a first line such as sep=;
    separator_line = re.fullmatch(r'\W?sep=([^\w\s"])\W?', lines[0][1].strip()) if lines else None
    lines = [(i, line) for i, line in lines[1 if separator_line else 0 :] if line.strip(",;\t ")]
    if not lines:
        raise TrajectoryError(
            f"{name} is empty. Expected a line of column names, {TIME} and the joints, then one line per sample."
        )
    separator = separator_line[1] if separator_line else next((s for s in ",;\t" if s in lines[0][1]), ",")
    options = {"delimiter": separator, "skipinitialspace": True}
    count, width = 0, 1
    for _, row in rows_of(lines, name, **options):  # trailing empty columns are ignored
        count, cells = count + 1, len(row)
        while cells > width and not row[cells - 1].strip():
            cells -= 1
        width = max(width, cells)
    head = [cell.strip() for cell in next(rows_of(lines, name, **options))[1][:width]]
    if all(number(cell) is not None for cell in head):
        raise TrajectoryError(f"{name} begins with numbers. Its first line must be the names of the columns.")
    names = set[str]()
    for cell in head:
        if not cell or cell in names:
            raise TrajectoryError(f"{name}: the column name {cell!r} is empty or occurs twice. Use unique names.")
        names.add(cell)
    numbers = np.empty((len(head), count - 1))
    for k, (line, row) in enumerate(rows_of(lines, name, **options), start=-1):
        if len(row := row[:width]) != len(head):
            raise TrajectoryError(f"{name}, line {line} has {len(row)} numbers instead of {len(head)}.")
        for column, cell in enumerate(row if k >= 0 else []):
            text = cell.replace(",", ".") if separator != "," and cell.count(",") == 1 else cell
            if (x := number(text)) is None:
                raise not_a_number(name, line, head[column], text)
            if not np.isfinite(x):
                location = f"{name}, line {line}, column {head[column]!r}"
                raise TrajectoryError(f"{location}: {text.strip():.60} is not finite. Correct this value.")
            numbers[column, k] = x
    return dict(zip(head, numbers, strict=True))


def rows_of(lines: Sequence[tuple[int, str]], name: str, **options: Any) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader((line for _, line in lines), **options)
    try:
        for row in reader:
            yield lines[reader.line_num - 1][0], row
    except csv.Error as e:
        line = lines[min(reader.line_num, len(lines)) - 1][0]
        raise TrajectoryError(f"{name}, line {line}: {e}. Is a quotation mark not closed?") from None


def number(cell: str) -> float | None:
    text = cell.strip()
    return float(text) if DECIMAL.fullmatch(text) or _NOT_FINITE.fullmatch(text) else None


def not_a_number(name: str, line: int, column: str, text: str) -> TrajectoryError:
    return TrajectoryError(f"{name}, line {line}, column {column!r}: {shown(text.strip())} is not a number.")


def _from_csv(data: bytes, name: str, other: Callable[[str, str], Columns | None] | None) -> Columns:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise TrajectoryError(
            f"{name} is not text: byte {e.start}, in line {line}, is not UTF-8. A recording must be CSV or NPZ. Save "
            "a spreadsheet as 'CSV UTF-8'."
        ) from None
    return (other and other(text, name)) or parse_csv(text, name)


def _from_npz(data: bytes, name: str) -> Columns:
    columns: Columns = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if (size := sum(member.file_size for member in archive.infolist())) > MAX_BYTES:
            raise TrajectoryError(
                f"{name} unpacks to {size / 1e6:.0f} MB, more than {MAX_BYTES / 1e6:.0f} MB. Split the recording."
            )
        for member in archive.infolist():
            column = member.filename.removesuffix(".npy")
            if column in columns:
                raise TrajectoryError(f"{name} contains two arrays named {column!r}. Keep only one.")
            with archive.open(member) as stream:
                columns[column] = _array(stream, name, column)
    for column, values in columns.items():
        if len(values) != (samples := len(columns.get(TIME, values))):
            raise TrajectoryError(f"{name}: array {column!r} has {len(values)} numbers, but {TIME!r} has {samples}.")
        if (invalid := np.flatnonzero(~np.isfinite(values))).size:
            raise TrajectoryError(
                f"{name}, sample {invalid[0]}, column {column!r}: {values[invalid[0]]} is not finite. Correct it."
            )
    return columns


def _array(stream: IO[bytes], name: str, column: str) -> np.ndarray:
    """Read an array of numbers; check its header first, so that arrays of objects are never loaded."""
    version = np.lib.format.read_magic(stream)
    headers = np.lib.format.read_array_header_1_0, np.lib.format.read_array_header_2_0
    shape, _, kind = headers[version != (1, 0)](stream)
    if len(shape) != 1 or kind.kind not in "fiu":
        raise TrajectoryError(
            f"{name}: array {column!r} has shape {shape} and type {kind}, but must contain one number per sample."
        )
    values = np.frombuffer(stream.read(), kind)
    if values.shape != shape:
        raise TrajectoryError(f"{name}: array {column!r} has {len(values)} numbers, but its header states {shape[0]}.")
    return values.astype(float)
