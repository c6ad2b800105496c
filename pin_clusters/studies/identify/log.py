"""Logs: the motion of a robot, and what its motors did; and what is wrong with one, by column and sample."""

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ArgumentTypeError, did_you_mean, shown
from ...model import ClusterModel
from ..study.trajectories import BASE, Recorded, TrajectoryError, base_columns, moved_joints
from ..study.trajectories._base import joint_of, numbers
from ..study.trajectories.files import read
from . import bag

_LEAST, _FLAT, _GAP = 50, 5, 1.5
"""Samples of a log, and in a row of a flat top; how much longer than usual a step may be."""


@dataclass(frozen=True, eq=False)
class Log:
    """A motion, and the torques of motors at their rotors, or of independent joints, shape (N,), [N m] or [N]."""

    motion: Recorded
    torque: dict[str, np.ndarray]
    at_motors: bool


def read_log(model: ClusterModel, given: Any, constants: Mapping[str, float], span: Any, **how: bool) -> Log:
    """Return a log from a file or from columns by name; see ``identify`` for the arguments."""
    name, columns = "log", given
    if not isinstance(given, (str, os.PathLike, Mapping)):
        raise ArgumentTypeError(f"identify: log must be a path or columns by name, got {type(given).__name__}.")
    if isinstance(given, Mapping) and (wrong := [key for key in given if not isinstance(key, str)]):
        raise ArgumentTypeError(f"identify: columns of log must have text as names, got {shown(wrong[0])}.")
    if odd := [key for key, x in how.items() if not isinstance(x, (bool, np.bool_))]:
        raise ArgumentTypeError(f"identify: {odd[0]} must be True or False, got {shown(how[odd[0]])}.")
    if not isinstance(given, Mapping):
        name, columns = Path(given).name, read(given, bag.columns)
    if "time" not in columns:
        raise TrajectoryError(f"{name} has no column 'time', [s]. It has {', '.join(columns) or 'none'}.")
    columns = {key: numbers(f"{name}: column {key!r}", x) for key, x in columns.items()}
    time = columns["time"]
    kept = slice(None) if span is None else (time >= span[0]) & (time <= span[1])
    for key, x in columns.items():
        if x.shape != time.shape or x.ndim != 1:
            raise TrajectoryError(f"{name}: column {key!r} has shape {x.shape}, time {time.shape}. Resample it.")
        columns[key] = x = x[kept]
        if bad := np.flatnonzero(~np.isfinite(x)).tolist():
            raise TrajectoryError(
                f"{name}: column {key!r} is {x[bad[0]]} at sample {bad[0]}. Repair it, or take a span."
            )
    _check_time(name, columns["time"])
    _check_channels(name, columns, allowed=how.pop("allow_saturated"))
    motors, joints = [r.name for r in model.motors], moved_joints(model)
    torque = _torques(name, columns, constants, motors, joints)
    motion = Recorded.from_columns(columns, name=name, **how)
    if base_columns(model) is not None and motion.base is None:
        raise TrajectoryError(
            f"{name}: the base of {model.name!r} floats, but {' '.join(BASE)} are not in the log. Log them, or fix the "
            "base: root_joint=None of pc.load and pc.open_robot."
        )
    turn, base = 360.0 if motion.degrees else 2.0 * np.pi, motion.base
    around = [j for j in motion.positions if j in model.names and joint_of(model, j).nq == 2]
    whole = {j: np.unwrap(motion.positions[j], period=turn) for j in around}
    if base is not None:  # no jumps to the other sign
        signs = np.cumprod(np.where(np.sum(base[1:, 3:] * base[:-1, 3:], axis=1) < 0.0, -1.0, 1.0))
        base = np.hstack([base[:, :3], base[:, 3:] * np.append(1.0, signs)[:, None]])
    motion = dataclasses.replace(motion, positions=motion.positions | whole, base=base)
    return Log(motion, torque, set(torque) <= set(motors))


def _check_time(name: str, time: np.ndarray) -> None:
    if len(time) < _LEAST:
        raise TrajectoryError(f"{name}: {len(time)} samples are too few; at least {_LEAST} are needed.")
    steps = np.diff(time)
    far = np.flatnonzero(steps > _GAP * np.median(steps)).tolist()
    if far:
        i, what, cure = far[0], "the rate is not even", "Resample it."
        if len(far) <= len(time) // 50:
            what, parts = "samples are missing", f"({time[0]:g}, {time[i]:g}) or ({time[i + 1]:g}, {time[-1]:g})"
            cure = f"Resample it, or take a part: span={parts}."
        raise TrajectoryError(
            f"{name}: {what}: {steps[i]:.3g} s from sample {i} to the next, {np.median(steps):.3g} s is usual. {cure}"
        )


def _check_channels(name: str, columns: dict[str, np.ndarray], *, allowed: bool) -> None:
    """Refuse columns of a slower rate, and those that are flat at their extremes."""
    cut = []
    for key, x in columns.items():
        ends = np.flatnonzero(np.append(np.diff(x) != 0.0, True))
        runs, most = np.diff(np.append(-1, ends)), np.abs(x).max()
        if len(runs) > 2 * _FLAT and runs[1] > 1 and np.all(runs[1:-1] == runs[1]):
            raise TrajectoryError(
                f"{name}: column {key!r} has each value {runs[1]} times: it is of a slower rate. Resample all to that."
            )
        flat = runs[(np.abs(x[ends]) == most) & (runs >= _FLAT)].sum() if len(runs) > 1 else 0
        if flat and key.endswith((".tau", ".current", ".v")):
            cut.append(f"{key!r} ({flat} samples at {most:.4g})")
    if cut and not allowed:
        raise TrajectoryError(
            f"{name}: saturated, as flat at their extremes: {', '.join(cut)}. What is cut off is no measurement: "
            "take a span without it, or say allow_saturated=True (--allow-saturated) if the values are true."
        )


def _torques(
    name: str,
    columns: dict[str, np.ndarray],
    constants: Mapping[str, float],
    motors: list[str],
    joints: tuple[str, ...],
) -> dict[str, np.ndarray]:
    """Take the columns of torques and currents out."""
    found = {}
    if unknown := set(constants) - set(motors):
        raise ArgumentTypeError(f"identify: torque_constant of {min(unknown)!r}, which is no motor.")
    for key in [key for key in columns if key.endswith((".tau", ".current"))]:
        of, _, what = key.rpartition(".")
        known = motors if what == "current" else [*motors, *joints]
        if of not in known or of in found:
            why = "is there beside its torque" if of in found else f"is of no motor or joint{did_you_mean(of, known)}"
            raise TrajectoryError(f"{name}: column {key!r} {why}. Take it out, or rename it.")
        if what == "current" and of not in constants:
            raise TrajectoryError(
                f"{name}: {key!r} needs torque_constant={{{of!r}: ...}} (--torque-constant), [N m/A]."
            )
        found[of] = columns.pop(key) * (constants[of] if what == "current" else 1.0)
    lacking = [x for x in motors if x not in found] if set(found) & set(motors) else []
    if not found or lacking or not (set(found) <= set(motors) or set(found) <= set(joints)):
        raise TrajectoryError(
            f"{name}: expected MOTOR.tau or MOTOR.current of all motors ({', '.join(motors)}), or JOINT.tau of "
            f"some of {', '.join(joints)}; got {', '.join(found) or 'none'}."
        )
    return found
