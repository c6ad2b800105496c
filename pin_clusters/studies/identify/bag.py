"""Read CSV files of ``sensor_msgs/JointState`` from ROS bags, stored as arrays or as one column per joint."""

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
"""Column names: ``field.position0`` (rostopic), ``position.0``, ``/joint_states/knee/position`` (PlotJuggler)."""
_TIME = re.compile(r".*stamp|%time|__time|time")
_STAMP = re.compile(r"\d{13,30}", re.ASCII)  # Matches time stamps in nanoseconds since 1970


def columns(text: str, file: str) -> dict[str, np.ndarray] | None:
    lines = [(i, line) for i, line in enumerate(text.splitlines(), start=1) if line.strip()]
    rows = rows_of(lines, file)
    head = [cell.strip() for cell in next(rows, (0, []))[1]]
    fields = {i: m.groups() for i, cell in enumerate(head) if (m := _CELL.match(cell))}
    # The time stamp of the sender is preferred to the time of recording.
    times = sorted(filter(_TIME.fullmatch, head), key=lambda cell: not cell.endswith("stamp"))
    if len(lines) < 2 or not times or not any("position" in x for x in fields.values()):
        return None
    time_column, start = head.index(times[0]), None
    names = {k: set[str]() for quantity, k, *_ in fields.values() if quantity == "name"}
    values = {i: array("d") for i in (time_column, *(i for i, x in fields.items() if x[0] != "name"))}
    for line, row in rows:
        if len(row) != len(head):
            raise TrajectoryError(
                f"{file}, line {line} has {len(row)} cells, but there are {len(head)} column names. All lines must "
                "contain the same joints."
            )
        stamp = int(row[time_column]) if _STAMP.fullmatch(row[time_column].strip()) else None
        start = stamp if not values[time_column] else start
        for i in values:
            x = number(row[i]) if row[i].strip() else math.nan
            if i == time_column and start is not None:
                x = None if stamp is None else 1e-9 * (stamp - start)
            if x is None:
                raise not_a_number(file, line, head[i], row[i])
            values[i].append(x)
        for i, (quantity, k, *_) in fields.items():
            if quantity == "name":
                names[k].add(row[i].strip())
    result = {"time": np.array(values[time_column])}
    for i, (quantity, k, joint, joint_quantity) in fields.items():
        joint_names = {joint} if joint else names.get(k, set())
        if len(joint_names) != 1:
            raise TrajectoryError(
                f"{file}: {head[i]!r} contains the joints {sorted(joint_names)}; name{k} must be equal in all lines."
            )
        if quantity != "name" and not np.isnan(column := np.array(values[i])).all():
            result[joint_names.copy().pop() + _ENDINGS[quantity or joint_quantity]] = column
    return result
