"""Warnings about recordings that can be read but look wrong."""

import warnings
from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from ....errors import PinClustersWarning
from ....model import ClusterModel
from ._base import Columns, coordinates, joint_of, slides

TURN = 2.0 * np.pi
SLOW = 0.5
"""Longest usual time between samples, [s]."""
UNLIMITED = 1e3
"""Limits of joints beyond this are none, [rad]."""


def _warn(text: str) -> None:
    warnings.warn(text, PinClustersWarning, stacklevel=4)


def time(recording: str, time: np.ndarray) -> None:
    """Warn if time looks like milliseconds."""
    step = float(np.median(np.diff(time)))
    if step > SLOW:
        _warn(
            f"{recording}: {step:g} s from sample to sample is slow. Is the time in milliseconds or nanoseconds? "
            "It must be in seconds."
        )


def degrees(recording: str, model: ClusterModel, positions: Columns) -> None:
    """Warn if angles look like degrees."""
    for name, values in positions.items():
        joint = joint_of(model, name)
        if slides(model, name) or name not in model.independent_joints:
            continue
        limit = TURN if joint.nq == 2 else _limit(model, joint)
        far = float(np.abs(np.unwrap(values) if joint.nq == 2 else values).max())
        suspect = far > max(TURN, limit)
        if joint.nq == 2:  # turns are what continuous joints do; the steps give degrees away
            suspect &= float(np.median(np.abs(np.diff(values)))) > 0.5
        if suspect:
            _warn(
                f"{recording}: joint {name!r} goes to {far:.4g} rad, more than a turn and beyond {limit:.4g}. Are "
                "the angles in degrees? Then say degrees=True (--degrees)."
            )
            return  # one joint is enough


def differs(name: str, given: np.ndarray, derivative: np.ndarray, least: float) -> list[str]:
    """Say how far a column is from the derivative that it should be, if by more than the least that counts."""
    scale = float(np.abs(derivative).max())
    off = float(np.abs(given - derivative).max())
    return [f"'{name}' by up to {off:.3g}, of {scale:.3g}"] if off > 0.2 * scale + least else []


def rates(recording: str, found: list[str]) -> None:
    """Warn if recorded velocities or accelerations are not the derivative of the positions; once for all columns."""
    if found:
        more = f" (and {len(found) - 1} more)" if found[1:] else ""
        _warn(
            f"{recording}: a column differs from the derivative of the positions: {found[0]} (in rad or m, and s)"
            f"{more}. The columns do not fit together: units, order or delay?"
        )


def angles(model: ClusterModel, what: str, values: Mapping[str, float]) -> None:
    """Warn if one-dof joints that turn go to what looks like degrees: beyond a turn, and beyond their limits."""
    for name, value in values.items():
        joint = joint_of(model, name)
        if slides(model, name) or joint.nq == 2:  # turns are what continuous joints do
            continue
        if value > max(TURN, _limit(model, joint)):
            _warn(
                f"{what} takes joint {name!r} of {model.name!r} to {value:.4g} rad, more than a turn and beyond its "
                "limits. Is that in degrees? Angles are in rad here."
            )
            return  # one joint is enough


def _limit(model: ClusterModel, joint: pin.JointModel) -> float:
    """Return how far a joint may go, a turn if nothing limits it, [rad]."""
    low, high = model.tree.lowerPositionLimit[joint.idx_q], model.tree.upperPositionLimit[joint.idx_q]
    limit = max(abs(float(low)), abs(float(high)))
    return limit if limit < UNLIMITED else TURN


def dependents(recording: str, model: ClusterModel, given: Columns, time: np.ndarray, q: np.ndarray) -> None:
    """Warn if dependent joints were recorded (at these times) elsewhere than where couplings and loops put them."""
    worst: tuple[float, str, float] = (0.0, "", 0.0)
    for name, recorded in given.items():
        off = np.array([coordinates(model, row, (name,))[0] for row in q]) - recorded
        if joint_of(model, name).nq == 2:
            off = (off + np.pi) % TURN - np.pi
        off = np.abs(off)
        k = int(np.argmax(off))
        if off[k] > max(worst[0], 1e-2 * max(1.0, float(np.abs(recorded).max()))):
            worst = (float(off[k]), name, float(time[k]))
    if worst[1]:
        _warn(
            f"{recording}: dependent joint {worst[1]!r} was recorded up to {worst[0]:.3g} rad (m) from where its "
            f"coupling or loop puts it (t = {worst[2]:.3g} s). The columns of dependent joints are ignored."
        )
