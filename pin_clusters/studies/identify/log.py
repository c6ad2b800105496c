"""Read logs of a robot's motion and motor torques; error messages name the column and the sample."""

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
"""Smallest number of samples; number of equal samples that count as saturated; largest time step / median step."""


@dataclass(frozen=True, eq=False)
class Log:
    """A motion, and the torques of motors (at rotors) or of independent joints, by name, shape (N,), [N m] or [N]."""

    motion: Recorded
    torque: dict[str, np.ndarray]
    at_motors: bool


def read_log(model: ClusterModel, source: Any, constants: Mapping[str, float], span: Any, **options: bool) -> Log:
    name, columns = "log", source
    if not isinstance(source, (str, os.PathLike, Mapping)):
        raise ArgumentTypeError(
            f"identify: log must be a path or a mapping of columns by name, got {type(source).__name__}."
        )
    if isinstance(source, Mapping) and (invalid := [key for key in source if not isinstance(key, str)]):
        raise ArgumentTypeError(f"identify: the names of the columns of log must be strings, got {shown(invalid[0])}.")
    if non_boolean := [key for key, x in options.items() if not isinstance(x, (bool, np.bool_))]:
        raise ArgumentTypeError(
            f"identify: {non_boolean[0]} must be True or False, got {shown(options[non_boolean[0]])}."
        )
    if not isinstance(source, Mapping):
        name, columns = Path(source).name, read(source, bag.columns)
    if "time" not in columns:
        raise TrajectoryError(f"{name} has no column 'time', [s]. It has {', '.join(columns) or 'none'}.")
    columns = {key: numbers(f"{name}: column {key!r}", x) for key, x in columns.items()}
    time = columns["time"]
    selected = slice(None) if span is None else (time >= span[0]) & (time <= span[1])
    for key, x in columns.items():
        if x.shape != time.shape or x.ndim != 1:
            raise TrajectoryError(
                f"{name}: column {key!r} has shape {x.shape}, but time has {time.shape}. Resample the column."
            )
        columns[key] = x = x[selected]
        if invalid_rows := np.flatnonzero(~np.isfinite(x)).tolist():
            raise TrajectoryError(
                f"{name}: column {key!r} is {x[invalid_rows[0]]} at sample {invalid_rows[0]}. Repair the sample, or "
                "exclude it with span=."
            )
    _check_time(name, columns["time"])
    _check_channels(name, columns, allowed=options.pop("allow_saturated"))
    motors, joints = [r.name for r in model.motors], moved_joints(model)
    torque = _torques(name, columns, constants, motors, joints)
    motion = Recorded.from_columns(columns, name=name, **options)
    if base_columns(model) is not None and motion.base is None:
        raise TrajectoryError(
            f"{name}: the base of {model.name!r} floats, but the log has no columns {' '.join(BASE)}. Record them, or "
            "fix the base with root_joint=None in pc.load or pc.open_robot."
        )
    full_turn, base = 360.0 if motion.degrees else 2.0 * np.pi, motion.base
    continuous = [j for j in motion.positions if j in model.names and joint_of(model, j).nq == 2]
    unwrapped = {j: np.unwrap(motion.positions[j], period=full_turn) for j in continuous}
    if base is not None:  # quaternions q and -q are the same rotation, but the filter needs a continuous signal
        signs = np.cumprod(np.where(np.sum(base[1:, 3:] * base[:-1, 3:], axis=1) < 0.0, -1.0, 1.0))
        base = np.hstack([base[:, :3], base[:, 3:] * np.append(1.0, signs)[:, None]])
    motion = dataclasses.replace(motion, positions=motion.positions | unwrapped, base=base)
    return Log(motion, torque, set(torque) <= set(motors))


def _check_time(name: str, time: np.ndarray) -> None:
    if len(time) < _LEAST:
        raise TrajectoryError(f"{name}: {len(time)} samples are too few; at least {_LEAST} are needed.")
    steps = np.diff(time)
    gaps = np.flatnonzero(steps > _GAP * np.median(steps)).tolist()
    if gaps:
        i, problem, cure = gaps[0], "the sampling rate varies", "Resample the log."
        if len(gaps) <= len(time) // 50:
            problem, spans = "samples are missing", f"({time[0]:g}, {time[i]:g}) or ({time[i + 1]:g}, {time[-1]:g})"
            cure = f"Resample the log, or select a part: span={spans}."
        raise TrajectoryError(
            f"{name}: {problem}: the step after sample {i} is {steps[i]:.3g} s, but the median step is "
            f"{np.median(steps):.3g} s. {cure}"
        )


def _check_channels(name: str, columns: dict[str, np.ndarray], *, allowed: bool) -> None:
    saturated = []
    for key, x in columns.items():
        ends = np.flatnonzero(np.append(np.diff(x) != 0.0, True))
        run_lengths, peak = np.diff(np.append(-1, ends)), np.abs(x).max()
        if len(run_lengths) > 2 * _FLAT and run_lengths[1] > 1 and np.all(run_lengths[1:-1] == run_lengths[1]):
            raise TrajectoryError(
                f"{name}: column {key!r} repeats each value {run_lengths[1]} times, so it was sampled at a lower "
                "rate than the time. Resample all columns to that lower rate."
            )
        flat = run_lengths[(np.abs(x[ends]) == peak) & (run_lengths >= _FLAT)].sum() if len(run_lengths) > 1 else 0
        if flat and key.endswith((".tau", ".current", ".v")):
            saturated.append(f"{key!r} ({flat} samples at {peak:.4g})")
    if saturated and not allowed:
        raise TrajectoryError(
            f"{name}: these columns are saturated (flat at their extremes): {', '.join(saturated)}. Select a span "
            "without saturation, or pass allow_saturated=True (--allow-saturated) if the values are correct."
        )


def _torques(
    name: str,
    columns: dict[str, np.ndarray],
    constants: Mapping[str, float],
    motors: list[str],
    joints: tuple[str, ...],
) -> dict[str, np.ndarray]:
    torques = {}
    if unknown := set(constants) - set(motors):
        raise ArgumentTypeError(f"identify: torque_constant contains {min(unknown)!r}, which is not a motor.")
    for key in [key for key in columns if key.endswith((".tau", ".current"))]:
        owner, _, quantity = key.rpartition(".")
        valid_names = motors if quantity == "current" else [*motors, *joints]
        if owner not in valid_names or owner in torques:
            reason = "duplicates the torque" if owner in torques else "belongs to no motor or joint"
            hint = "" if owner in torques else did_you_mean(owner, valid_names)
            raise TrajectoryError(f"{name}: column {key!r} {reason}.{hint} Remove or rename it.")
        if quantity == "current" and owner not in constants:
            raise TrajectoryError(
                f"{name}: {key!r} requires torque_constant={{{owner!r}: ...}} (--torque-constant), [N m/A]."
            )
        torques[owner] = columns.pop(key) * (constants[owner] if quantity == "current" else 1.0)
    missing = [x for x in motors if x not in torques] if set(torques) & set(motors) else []
    if not torques or missing or not (set(torques) <= set(motors) or set(torques) <= set(joints)):
        raise TrajectoryError(
            f"{name}: expected MOTOR.tau or MOTOR.current for all motors ({', '.join(motors)}), or JOINT.tau for "
            f"some of {', '.join(joints)}; got {', '.join(torques) or 'none'}."
        )
    return torques
