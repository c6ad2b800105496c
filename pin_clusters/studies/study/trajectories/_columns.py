"""Extract groups of columns from a recording: poses of the base, and forces on frames."""

from collections.abc import Iterable

import numpy as np

from ....errors import did_you_mean
from ....model import ClusterModel, loops_of
from ._base import TrajectoryError, finite, joint_of, moved_joints

BASE = ("x", "y", "z", "qx", "qy", "qz", "qw")
"""Columns of a floating base's pose: position in the world [m], then unit quaternion."""
FORCE = ("fx", "fy", "fz", "mx", "my", "mz")  # Column suffixes of a force [N] and a moment [N m]


def forces(columns: dict[str, np.ndarray], samples: int, name: str) -> dict[str, np.ndarray]:
    """Remove the force columns from ``columns``; return the forces by frame name, shape (samples, 6)."""
    frames = dict.fromkeys(c.rpartition(".")[0] for c in columns if c.rpartition(".")[2] in FORCE[:3])
    wrenches = {}
    for frame in filter(None, frames):
        missing = [x for x in FORCE[:3] if f"{frame}.{x}" not in columns]
        if missing:
            raise TrajectoryError(f"{name}: the force on {frame!r} has no column '{frame}.{missing[0]}'. Add a column.")
        wrenches[frame] = np.column_stack([columns.pop(f"{frame}.{x}", np.zeros(samples)) for x in FORCE])
    return wrenches


def poses(base: np.ndarray, samples: int, name: str) -> np.ndarray:
    finite(f"{name}: base", base, (samples, 7), f"{samples} rows of {' '.join(BASE)}, all finite")
    length = np.linalg.norm(base[:, 3:], axis=1)
    worst = int(np.argmax(np.abs(length - 1.0)))
    if abs(length[worst] - 1.0) > 1e-2:
        raise TrajectoryError(f"{name}, sample {worst}: qx qy qz qw has the norm {length[worst]:.4g} instead of 1.")
    base[:, 3:] /= length[:, None]
    return base


def matched(recording: str, recorded: Iterable[str], model: ClusterModel, missing: str) -> list[str]:
    """List the recorded independent joints; unknown or missing joints raise ``TrajectoryError`` (see ``missing``)."""
    moved, names, columns = moved_joints(model), list(model.tree.names)[1:], list(recorded)
    if unknown := [name for name in columns if name not in names]:
        hint = did_you_mean(unknown[0], moved, limit=len(moved))
        cure = " Rename or remove these columns."
        if any(name in BASE for name in unknown):
            cure = f" The pose of a floating base needs all of {' '.join(BASE)}."
        raise TrajectoryError(f"{recording}: {model.name!r} has no joint {', '.join(map(repr, unknown))}.{hint}{cure}")
    if multi_dof := [name for name in columns if joint_of(model, name).nv != 1]:
        raise TrajectoryError(
            f"{recording}: {multi_dof[0]!r} of {model.name!r} has several degrees of freedom, so one column cannot "
            f"describe it. For a floating base, use {' '.join(BASE)}; otherwise, remove the column."
        )
    left_out = [name for name in moved if name not in columns]
    if left_out and missing == "error":
        raise TrajectoryError(
            f"{recording} has no column for {', '.join(map(repr, left_out))} of "
            f"{model.name!r}.{_elsewhere(model, columns)} Record all independent joints, or pass missing='hold' "
            "(--hold-missing) to hold these joints at the reference pose."
        )
    return [name for name in moved if name in columns]


def _elsewhere(model: ClusterModel, recorded: list[str]) -> str:
    text = ""
    for loop in loops_of(model).clusters if model.closures else ():
        names = [model.names[j] for j in loop.joints]
        recorded_names = [name for name in names if name in recorded]
        free = [name for name in names if name in model.independent_joints]
        if not recorded_names or set(free) <= set(recorded_names):
            continue
        text += (
            f" The loops of {', '.join(map(repr, names))} need {len(free)} joints that determine the others, but the "
            f"recording has {', '.join(map(repr, recorded_names))}. Select the independent joints with --independent "
            f"{','.join([*recorded_names, *(n for n in free if n not in recorded_names)][: len(free)])}, or in Python "
            "with pc.with_independent(model, names)."
        )
    return text
