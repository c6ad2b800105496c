"""Columns of a recording that belong together: poses of the base, forces on frames."""

from collections.abc import Iterable

import numpy as np

from ....errors import did_you_mean
from ....model import ClusterModel, loops_of
from ._base import TrajectoryError, finite, joint_of, moved_joints

BASE = ("x", "y", "z", "qx", "qy", "qz", "qw")
"""Columns of the pose of a floating base: position in the world [m], unit quaternion."""
FORCE = ("fx", "fy", "fz", "mx", "my", "mz")
"""Endings of the columns of a force and a moment [N], [N m]."""


def forces(columns: dict[str, np.ndarray], samples: int, name: str) -> dict[str, np.ndarray]:
    """Take the columns of forces out; shape (samples, 6) for each frame."""
    frames = dict.fromkeys(c.rpartition(".")[0] for c in columns if c.rpartition(".")[2] in FORCE[:3])
    found = {}
    for frame in filter(None, frames):
        lacking = [x for x in FORCE[:3] if f"{frame}.{x}" not in columns]
        if lacking:
            raise TrajectoryError(f"{name}: the force on {frame!r} lacks column '{frame}.{lacking[0]}'.")
        found[frame] = np.column_stack([columns.pop(f"{frame}.{x}", np.zeros(samples)) for x in FORCE])
    return found


def poses(base: np.ndarray, samples: int, name: str) -> np.ndarray:
    """Return poses with quaternions of length 1."""
    finite(f"{name}: base", base, (samples, 7), f"{samples} rows of {' '.join(BASE)}, all finite")
    length = np.linalg.norm(base[:, 3:], axis=1)
    bad = int(np.argmax(np.abs(length - 1.0)))
    if abs(length[bad] - 1.0) > 1e-2:
        raise TrajectoryError(
            f"{name}, sample {bad}: the quaternion qx qy qz qw has length {length[bad]:.4g} instead of 1."
        )
    base[:, 3:] /= length[:, None]
    return base


def matched(recording: str, recorded: Iterable[str], model: ClusterModel, missing: str) -> list[str]:
    """Return the independent joints among those that have a column; ``"hold"``: some may be missing.

    A joint that is unknown, has several degrees of freedom, or was not recorded is a ``TrajectoryError``.
    """
    moved, names, found = moved_joints(model), list(model.tree.names)[1:], list(recorded)
    if unknown := [name for name in found if name not in names]:
        hint = did_you_mean(unknown[0], moved, limit=len(moved))
        cure = " Rename these columns, or take them out."
        if any(name in BASE for name in unknown):
            cure = f" The pose of a floating base needs all of {' '.join(BASE)}."
        raise TrajectoryError(f"{recording}: {model.name!r} has no joint {', '.join(map(repr, unknown))}.{hint}{cure}")
    if several := [name for name in found if joint_of(model, name).nv != 1]:
        raise TrajectoryError(
            f"{recording}: {several[0]!r} of {model.name!r} has several degrees of freedom, so that one column cannot "
            f"give its place. The pose of a floating base has the columns {' '.join(BASE)}; others are held."
        )
    left_out = [name for name in moved if name not in found]
    if left_out and missing == "error":
        raise TrajectoryError(
            f"{recording}: no column for {', '.join(map(repr, left_out))} of {model.name!r}.{_elsewhere(model, found)} "
            "Record all independent joints, or say missing='hold' (--hold-missing of the study) to keep these where "
            "they are."
        )
    return [name for name in moved if name in found]


def _elsewhere(model: ClusterModel, recorded: list[str]) -> str:
    """Say what other joints would have been taken, where some of a closed loop were recorded."""
    text = ""
    for loop in loops_of(model).clusters if model.closures else ():
        names = [model.names[j] for j in loop.joints]
        given = [name for name in names if name in recorded]
        free = [name for name in names if name in model.independent_joints]
        if not given or set(free) <= set(given):
            continue
        text += (
            f" The loops of {', '.join(map(repr, names))} need {len(free)} of their joints that determine the others; "
            f"recorded: {', '.join(map(repr, given))}. To choose which ones are independent: --independent "
            f"{','.join([*given, *(n for n in free if n not in given)][: len(free)])}, in Python "
            "pc.with_independent(model, names)."
        )
    return text
