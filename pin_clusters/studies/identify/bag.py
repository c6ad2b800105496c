"""CSV files that are made of ROS bags: ``sensor_msgs/JointState``, its arrays or its joints in columns."""

import math
import re
from array import array

import numpy as np

from ..study.trajectories import TrajectoryError
from ..study.trajectories.files import not_a_number, number, rows_of

_ENDINGS = {"position": "", "velocity": ".v", "effort": ".tau"}
_CELL = re.compile(
    r"(?:.*[./])?(name|position|velocity|effort)[._\[]?(\d+)\]?$|(?:.*/)?([^/]+)/(position|velocity|effort)$"
)
"""``field.position0`` of rostopic, ``position.0``, ``/joint_states/knee/position`` of PlotJuggler."""
_TIME = re.compile(r".*stamp|%time|__time|time")
_STAMP = re.compile(r"\d{13,30}", re.ASCII)
"""Nanoseconds since 1970."""


def columns(text: str, file: str) -> dict[str, np.ndarray] | None:
    """Return time and columns by joint, as logs have them; None if the text is no such CSV."""
    lines = [(i, line) for i, line in enumerate(text.splitlines(), start=1) if line.strip()]
    rows = rows_of(lines, file)
    head = [cell.strip() for cell in next(rows, (0, []))[1]]
    found = {i: m.groups() for i, cell in enumerate(head) if (m := _CELL.match(cell))}
    times = sorted(filter(_TIME.fullmatch, head), key=lambda cell: not cell.endswith("stamp"))  # the sender's own first
    if len(lines) < 2 or not times or not any("position" in x for x in found.values()):
        return None
    at, start = head.index(times[0]), None
    names = {k: set[str]() for what, k, *_ in found.values() if what == "name"}
    values = {i: array("d") for i in (at, *(i for i, x in found.items() if x[0] != "name"))}
    for line, row in rows:
        if len(row) != len(head):
            raise TrajectoryError(f"{file}, line {line}: not as many cells as names. Do joints come and go?")
        stamp = int(row[at]) if _STAMP.fullmatch(row[at].strip()) else None
        start = stamp if not values[at] else start
        for i in values:
            x = number(row[i]) if row[i].strip() else math.nan
            if i == at and start is not None:
                x = None if stamp is None else 1e-9 * (stamp - start)
            if x is None:
                raise not_a_number(file, line, head[i], row[i])
            values[i].append(x)
        for i, (what, k, *_) in found.items():
            if what == "name":
                names[k].add(row[i].strip())
    result = {"time": np.array(values[at])}
    for i, (what, k, joint, of) in found.items():
        called = {joint} if joint else names.get(k, set())
        if len(called) != 1:
            raise TrajectoryError(f"{file}: {head[i]!r} is of the joints {sorted(called)}; expected one name{k}.")
        if what != "name" and not np.isnan(column := np.array(values[i])).all():
            result[called.copy().pop() + _ENDINGS[what or of]] = column
    return result
