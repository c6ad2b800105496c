"""CSV files that are made of ROS bags: ``sensor_msgs/JointState``, its arrays or its joints in columns."""

import csv
import re
from pathlib import Path

import numpy as np

from ..study.trajectories import TrajectoryError
from ..study.trajectories._base import numbers

_ENDINGS = {"position": "", "velocity": ".v", "effort": ".tau"}
_CELL = re.compile(
    r"(?:.*[./])?(name|position|velocity|effort)[._\[]?(\d+)\]?$|(?:.*/)?([^/]+)/(position|velocity|effort)$"
)
"""``field.position0`` of rostopic, ``position.0``, ``/joint_states/knee/position`` of PlotJuggler."""
_TIME = re.compile(r".*stamp|%time|__time|time")


def columns(path: Path) -> dict[str, np.ndarray] | None:
    """Return time and columns by joint, as logs have them; None if the file is no such CSV."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        head, *rows = [[cell.strip() for cell in row] for row in csv.reader(file) if row] or [[]]
    found = {i: m.groups() for i, cell in enumerate(head) if (m := _CELL.match(cell))}
    times = sorted(filter(_TIME.fullmatch, head), key=lambda cell: not cell.endswith("stamp"))  # the sender's own first
    if not rows or not times or not any("position" in x for x in found.values()):
        return None
    if wrong := [i for i, row in enumerate(rows, start=2) if len(row) != len(head)]:
        raise TrajectoryError(f"{path}, row {wrong[0]}: not as many cells as names. Do joints come and go?")
    cells = dict(enumerate(zip(*rows, strict=True)))
    names = {number: set(cells[i]) for i, (what, number, *_) in found.items() if what == "name"}
    stamps = cells[head.index(times[0])]
    large = stamps[0].isdigit() and len(stamps[0]) > 12  # nanoseconds since 1970
    time = [1e-9 * (int(x) - int(stamps[0])) for x in stamps] if large else stamps
    result = {"time": numbers(f"{path}: {times[0]}", time)}
    for i, (what, number, joint, of) in found.items():
        called = {joint} if joint else names.get(number, set())
        if len(called) != 1:
            raise TrajectoryError(f"{path}: {head[i]!r} is of the joints {sorted(called)}; expected one name{number}.")
        if what != "name" and any(cells[i]):
            result[called.copy().pop() + _ENDINGS[what or of]] = numbers(f"{path}: {head[i]}", cells[i])
    return result
