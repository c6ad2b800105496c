"""CSV files that are made of ROS bags: ``sensor_msgs/JointState``, its arrays or its joints in columns."""

import csv
import re
from pathlib import Path

import numpy as np

from ..study.trajectories import TrajectoryError
from ..study.trajectories.files import TIME

_ENDING = {"position": "", "velocity": ".v", "effort": ".tau"}
_NUMBERED = re.compile(r"(?:.*[./])?(name|position|velocity|effort)[._\[]?(\d+)\]?$")
"""``field.position0`` of ``rostopic echo -p``, ``position.0``, ``/joint_states/position[0]``."""
_NAMED = re.compile(r"(?:.*/)?([^/]+)/(position|velocity|effort)$")
"""``/joint_states/knee/position`` of PlotJuggler."""
_TIMES = re.compile(r"(.*stamp|%time|__time|time)$", re.IGNORECASE)


def columns(path: Path) -> dict[str, np.ndarray] | None:
    """Return time and columns by joint, as logs have them; None if the file is no such CSV."""
    if path.suffix.lower() != ".csv" or not path.is_file():
        return None
    with path.open(encoding="utf-8-sig", newline="") as file:
        head, *rows = [row for row in csv.reader(file) if any(cell.strip() for cell in row)] or [[]]
    head, rows = [cell.strip() for cell in head], [row for row in rows if len(row) == len(head)]
    found = {cell: m.groups() for cell in head if (m := _NUMBERED.match(cell) or _NAMED.match(cell))}
    cells = {cell: [row[i].strip() for row in rows] for i, cell in enumerate(head)}
    names = {number: cell for cell, (what, number) in found.items() if what == "name"}
    if not rows or not any("position" in x for x in found.values()):
        return None
    times = sorted(filter(_TIMES.match, head), key=lambda cell: not cell.endswith("stamp"))  # the sender's first
    if not times:
        raise TrajectoryError(f"{path}: no column of times: expected header.stamp, %time, __time or time.")
    result = {TIME: _numbers(path, times[0], cells[times[0]])}
    if result[TIME][0] > 1e12:  # nanoseconds since 1970
        result[TIME] = np.array([int(x) - int(cells[times[0]][0]) for x in cells[times[0]]]) * 1e-9
    result[TIME] = result[TIME] - result[TIME][0]
    for cell, (a, b) in found.items():
        joint, what = (b, a) if a in _ENDING else (a, b)
        if what == "name" or a == "name":
            continue
        if a in _ENDING and b in names:
            called = set(cells[names[b]])
            if len(called) > 1:
                raise TrajectoryError(f"{path}: {names[b]!r} is not one joint: {', '.join(sorted(called))}. Sort them.")
            joint = called.pop()
        elif a in _ENDING:
            raise TrajectoryError(f"{path}: column {cell!r} belongs to no joint: there is no column name.{b} beside it.")
        if any(cells[cell]):
            result[joint + _ENDING[what]] = _numbers(path, cell, cells[cell])
    return result


def _numbers(path: Path, name: str, cells: list[str]) -> np.ndarray:
    try:
        return np.array(cells, dtype=float)
    except ValueError as error:
        raise TrajectoryError(f"{path}, column {name!r}: {error}.") from None
