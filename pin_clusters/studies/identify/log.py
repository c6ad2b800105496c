"""Logs: the motion of a robot, and what its motors did; and what is wrong with one, by column and sample."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ArgumentTypeError, did_you_mean
from ...model import ClusterModel
from ..study.trajectories import BASE, Recorded, TrajectoryError, base_columns, moved_joints
from ..study.trajectories._base import joint_of, numbers
from ..study.trajectories.files import TIME, read
from . import bag

LEAST = 50
"""Samples that a log must have."""
_FLAT, _HELD = 5, 10
"""Samples in a row that make a flat top; equal steps in a row that show a slower rate."""
_GAP = 1.5


@dataclass(frozen=True, eq=False)
class Log:
    """What was logged.

    Attributes:
        motion: Positions, velocities, accelerations, pose of the base, forces of the ground.
        torque: By motor, at its rotor, or by independent joint what the motors make there; shape (N,), [N m] or [N].
        at_motors: Which of the two.
    """

    motion: Recorded
    torque: dict[str, np.ndarray]
    at_motors: bool


def read_log(
    model: ClusterModel, log: Any, constants: Mapping[str, float], span: Any, degrees: bool, saturated: bool
) -> Log:
    """Return a log from a file or from columns by name; see ``identify`` for the arguments."""
    name = "log" if isinstance(log, Mapping) else Path(log).name
    if not isinstance(log, Mapping):
        log = bag.columns(Path(log)) or read(log)
    if TIME not in log:
        raise TrajectoryError(f"{name} has no column {TIME!r} (seconds). Its columns: {', '.join(log) or 'none'}.")
    columns = {key: numbers(f"{name}: column {key!r}", x) for key, x in log.items()}
    time = columns[TIME]
    for key, x in columns.items():
        if x.shape != time.shape or x.ndim != 1:
            raise TrajectoryError(f"{name}: column {key!r} has shape {x.shape}, and time {time.shape}: resample one.")
        if bad := np.flatnonzero(~np.isfinite(x)).tolist():
            raise TrajectoryError(f"{name}: column {key!r}, sample {bad[0]}: {x[bad[0]]}. Repair the sample.")
    if span is not None:
        inside = (time >= span[0]) & (time <= span[1])
        columns = {key: x[inside] for key, x in columns.items()}
    _check_time(name, columns[TIME])
    _check_channels(name, columns, saturated)
    torque, at_motors = _torques(name, model, columns, constants)
    motion = Recorded.from_columns(columns, name=name, degrees=degrees)
    if base_columns(model) is not None and motion.base is None:
        raise TrajectoryError(
            f"{name}: the base of {model.name!r} floats, but {' '.join(BASE)} are not in the log. Log them, or fix the "
            "base: root_joint=None of pc.load and pc.open_robot."
        )
    return Log(_continuous(model, motion), torque, at_motors)


def _check_time(name: str, time: np.ndarray) -> None:
    if len(time) < LEAST:
        raise TrajectoryError(f"{name}: {len(time)} samples are too few; at least {LEAST} are needed.")
    steps = np.diff(time)
    usual = float(np.median(steps))
    far = np.flatnonzero(steps > _GAP * usual)
    if far.size:
        i = int(far[0])
        many = f"{far.size} steps are so long: resample to equal steps" if far.size > len(time) // 50 else (
            f"samples are missing. Resample, or take a part: span=({time[0]:g}, {time[i]:g}) or ({time[i + 1]:g}, "
            f"{time[-1]:g}), on the command line --span"
        )  # fmt: skip
        raise TrajectoryError(
            f"{name}: from sample {i} to the next time goes from {time[i]:g} to {time[i + 1]:g} s, by "
            f"{steps[i]:.3g} s where {usual:.3g} s is usual; {many}."
        )


def _check_channels(name: str, columns: dict[str, np.ndarray], allowed: bool) -> None:
    """Refuse columns of a slower rate, and those that are flat at their extremes."""
    cut = []
    for key, x in columns.items():
        ends = np.flatnonzero(np.append(np.diff(x) != 0.0, True))
        runs = np.diff(np.append(-1, ends))
        if len(runs) > _HELD and runs[1] > 1 and np.all(runs[1:-1] == runs[1]):
            raise TrajectoryError(
                f"{name}: column {key!r} holds each value for {runs[1]} samples: it was logged at a slower rate. "
                "Resample all columns to that rate."
            )
        most = float(np.abs(x).max())
        if key.endswith((".tau", ".current", ".v")) and most and len(runs) > 1:
            at = runs[(np.abs(x[ends]) >= most) & (runs >= _FLAT)]
            cut += [f"{key!r} ({at.sum()} samples at {most:.4g})"] * bool(at.size)
    if cut and not allowed:
        raise TrajectoryError(
            f"{name}: saturated, as flat at their extremes: {', '.join(cut)}. Such samples are no measurements: take a "
            "part without them (span), or say allow_saturated=True (--allow-saturated) if the values are true."
        )


def _torques(
    name: str, model: ClusterModel, columns: dict[str, np.ndarray], constants: Mapping[str, float]
) -> tuple[dict[str, np.ndarray], bool]:
    """Take the columns of torques and currents out."""
    motors, joints, found = [r.name for r in model.motors], moved_joints(model), dict[str, np.ndarray]()
    for key in [key for key in columns if key.endswith((".tau", ".current"))]:
        of, _, what = key.rpartition(".")
        if of not in (*motors, *joints) or (what == "current" and of not in motors):
            known = motors if what == "current" else (*motors, *joints)
            raise TrajectoryError(f"{name}: column {key!r} is of no motor or independent joint.{did_you_mean(of, known)}")
        if what == "current" and of not in constants:
            raise TrajectoryError(
                f"{name}: column {key!r} needs the torque constant of {of!r}: torque_constant={{{of!r}: 0.1}} [N m/A]."
            )
        if of in found:
            raise TrajectoryError(f"{name}: {of!r} has a torque and a current. Take one of the columns out.")
        found[of] = columns.pop(key) * (float(constants[of]) if what == "current" else 1.0)
    if unused := set(constants) - set(found):
        raise ArgumentTypeError(f"identify: torque_constant of {min(unused)!r}, but the log has no such current.")
    given = set(found) & set(motors)
    if not found or (given and set(found) != set(motors)):
        lacking = [m for m in (motors if given else joints) if m not in found]
        more = sorted(set(found) - set(motors))
        raise TrajectoryError(
            f"{name}: expected the torque of all motors (MOTOR.tau or MOTOR.current), or of joints (JOINT.tau); lacking: "
            f"{', '.join(lacking) or 'none'}" + (f"; beside motors: {', '.join(more)}." if given and more else ".")
        )
    return found, bool(given)


def _continuous(model: ClusterModel, motion: Recorded) -> Recorded:
    """Return the same without jumps by whole turns, and without jumps of quaternions to their other sign."""
    turn, base = 360.0 if motion.degrees else 2.0 * np.pi, motion.base
    positions = {
        key: np.unwrap(x, period=turn) if key in model.names and joint_of(model, key).nq == 2 else x
        for key, x in motion.positions.items()
    }
    if base is not None:
        signs = np.cumprod(np.where(np.sum(base[1:, 3:] * base[:-1, 3:], axis=1) < 0.0, -1.0, 1.0))
        base = np.hstack([base[:, :3], base[:, 3:] * np.append(1.0, signs)[:, None]])
    return dataclasses.replace(motion, positions=positions, base=base)
