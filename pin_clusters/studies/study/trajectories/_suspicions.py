"""Warn about recordings that can be read but contain implausible values."""

import warnings
from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from ....errors import PinClustersWarning
from ....model import ClusterModel
from ._base import Columns, coordinates, joint_of, slides

TURN = 2.0 * np.pi
SLOW = 0.5  # Sampling intervals longer than this cause a warning, [s]
UNLIMITED = 1e3  # Joint limits beyond this value count as no limit, [rad]


def _warn(text: str) -> None:
    warnings.warn(text, PinClustersWarning, stacklevel=4)


def time(recording: str, time: np.ndarray) -> None:
    step = float(np.median(np.diff(time)))
    if step > SLOW:
        _warn(
            f"{recording}: the time between samples is {step:g} s, which is long. Is the time in milliseconds or "
            "nanoseconds? It must be in seconds."
        )


def degrees(recording: str, model: ClusterModel, positions: Columns) -> None:
    for name, values in positions.items():
        joint = joint_of(model, name)
        if slides(model, name) or name not in model.independent_joints:
            continue
        limit = TURN if joint.nq == 2 else _limit(model, joint)
        largest_angle = float(np.abs(np.unwrap(values) if joint.nq == 2 else values).max())
        suspicious = largest_angle > max(TURN, limit)
        if joint.nq == 2:  # for continuous joints, only large steps between samples indicate degrees
            suspicious &= float(np.median(np.abs(np.diff(values)))) > 0.5
        if suspicious:
            _warn(
                f"{recording}: joint {name!r} reaches {largest_angle:.4g} rad, more than a turn and beyond "
                f"{limit:.4g}. Are the angles in degrees? Then pass degrees=True (--degrees)."
            )
            return  # one warning is enough


def differs(name: str, recorded: np.ndarray, derivative: np.ndarray, least: float) -> list[str]:
    scale = float(np.abs(derivative).max())
    deviation = float(np.abs(recorded - derivative).max())
    return [f"'{name}' by {deviation:.3g} (derivative: up to {scale:.3g})"] if deviation > 0.2 * scale + least else []


def rates(recording: str, deviations: list[str]) -> None:
    if deviations:
        count_text = f" (and {len(deviations) - 1} more)" if deviations[1:] else ""
        _warn(
            f"{recording}: a velocity or acceleration differs from the derivative of the position or velocity: "
            f"{deviations[0]} (rad or m, and s){count_text}. Check the units, order and time delays of the columns."
        )


def angles(model: ClusterModel, description: str, values: Mapping[str, float]) -> None:
    for name, value in values.items():
        joint = joint_of(model, name)
        if slides(model, name) or joint.nq == 2:  # continuous joints may turn any number of times
            continue
        if value > max(TURN, _limit(model, joint)):
            _warn(
                f"{description} moves joint {name!r} of {model.name!r} to {value:.4g} rad, more than a turn and beyond "
                "its limits. If the value is in degrees, convert it to rad."
            )
            return  # one warning is enough


def _limit(model: ClusterModel, joint: pin.JointModel) -> float:
    low, high = model.tree.lowerPositionLimit[joint.idx_q], model.tree.upperPositionLimit[joint.idx_q]
    limit = max(abs(float(low)), abs(float(high)))
    return limit if limit < UNLIMITED else TURN


def dependents(recording: str, model: ClusterModel, recordings: Columns, time: np.ndarray, q: np.ndarray) -> None:
    worst: tuple[float, str, float] = (0.0, "", 0.0)
    for name, recorded in recordings.items():
        deviation = np.array([coordinates(model, row, (name,))[0] for row in q]) - recorded
        if joint_of(model, name).nq == 2:
            deviation = (deviation + np.pi) % TURN - np.pi
        deviation = np.abs(deviation)
        k = int(np.argmax(deviation))
        if deviation[k] > max(worst[0], 1e-2 * max(1.0, float(np.abs(recorded).max()))):
            worst = (float(deviation[k]), name, float(time[k]))
    if worst[1]:
        _warn(
            f"{recording}: the recorded position of dependent joint {worst[1]!r} differs by up to {worst[0]:.3g} rad "
            f"(m) from its coupled position (t = {worst[2]:.3g} s). The columns of dependent joints are ignored."
        )
