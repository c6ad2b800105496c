"""Sensors on frames, evaluated at the end of each time step."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..algorithms._shared.ids import frames
from ..compiler.tracing.contact_step import ContactStep
from ..compiler.tracing.expressions import Number, select, square_root
from ..compiler.tracing.functions import run_function
from ..compiler.tracing.program import objects
from ..compiler.tracing.run import Run
from ..errors import ArgumentTypeError, UnknownNameError, did_you_mean
from ..model import ClusterModel

SIZES = {"gyro": 3, "accelerometer": 3, "velocimeter": 3, "framepos": 3, "framequat": 4, "touch": 1}
"""Number of values of each kind of sensor."""
_MOTIONS = ("framesForwardKinematics", "getFrameVelocity", "getFrameAcceleration")


class Sensor(NamedTuple):
    """A sensor: its kind, the id of its frame, and the id of the joint that carries the frame."""

    kind: str
    frame: int
    joint: int


def sensors_of(model: ClusterModel, sensors: Mapping[str, Any]) -> dict[str, Sensor]:
    """Check the argument ``sensors`` of ``pc.Worlds``."""
    if not isinstance(sensors, Mapping):
        raise ArgumentTypeError(f'sensors must be a dict such as {{"imu": ("gyro", "base")}}, got {sensors!r}.')
    tree, checked = model.own_tree, {}
    for name, given in sensors.items():
        if not isinstance(name, str) or not isinstance(given, (tuple, list)) or len(given) != 2:
            raise ArgumentTypeError(f"sensors: {name!r} must be a pair (kind, frame), got {given!r}.")
        kind, frame = given
        if kind not in SIZES:
            raise UnknownNameError(f"sensors: {name!r} has the unknown kind {kind!r}.{did_you_mean(str(kind), SIZES)}")
        (index,) = frames(model, f"sensors: the frame of {name!r}", [frame])
        checked[name] = Sensor(kind, index, int(tree.frames[index].parentJoint))
    return checked


def readings(
    end: Run, sensors: Mapping[str, Sensor], step: ContactStep, impulses: np.ndarray, gravity: np.ndarray
) -> dict[str, np.ndarray]:
    """Return the values of all sensors. ``end`` contains q, v and the mean acceleration a of the step."""
    motions, values = {}, {}
    for frame in {s.frame for s in sensors.values()}:  # Two frames can have the same name.
        end.frames = (frame,)
        motions[frame] = [next(iter(run_function(name, end).values())) for name in _MOTIONS]
    for name, s in sensors.items():
        M, nu, alpha = motions[s.frame]
        R = M[:3, :3]
        if s.kind == "accelerometer":
            # A Coriolis term turns the spatial acceleration into that of the point; gravity is not measured.
            values[name] = alpha[:3] + np.cross(nu[3:], nu[:3]) - R.T @ gravity
        elif s.kind == "touch":
            normals = [3 * i for i, joint in enumerate(step.contacts.joints) if joint == s.joint]
            force: Number = 0.0
            for i in normals:
                force = force + step.contacts.axes[2] @ impulses[i : i + 3] * (1.0 / step.dt)
            values[name] = objects([force])
        else:
            of_frame = {"gyro": nu[3:], "velocimeter": nu[:3], "framepos": M[:3, 3], "framequat": _quaternion(R)}
            values[name] = of_frame[s.kind]
    return values


def _quaternion(R: np.ndarray) -> np.ndarray:
    """Return the quaternion (x, y, z, w) of a rotation matrix, computed from its largest entry."""
    x, y, z = R[0, 0], R[1, 1], R[2, 2]
    squares = [1.0 + x - y - z, 1.0 - x + y - z, 1.0 - x - y + z, 1.0 + x + y + z]  # 4 x^2, 4 y^2, 4 z^2, 4 w^2
    a, b, c = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]  # 4 w x, 4 w y, 4 w z
    d, e, f = R[0, 1] + R[1, 0], R[0, 2] + R[2, 0], R[1, 2] + R[2, 1]  # 4 x y, 4 x z, 4 y z
    rows = ([squares[0], d, e, a], [d, squares[1], f, b], [e, f, squares[2], c], [a, b, c, squares[3]])
    best, row = squares[3], list(rows[3])
    for k in (0, 1, 2):
        row = [select(best, squares[k], new, old) for new, old in zip(rows[k], row, strict=True)]
        best = select(best, squares[k], squares[k], best)
    scale = 0.5 / square_root(best)
    return objects([scale * entry for entry in row])
