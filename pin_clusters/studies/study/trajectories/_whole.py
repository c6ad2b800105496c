"""From the joints that a trajectory moves to the configuration of the whole robot."""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import pinocchio as pin

from ....errors import BranchLost
from ....model import ClusterModel
from ....model.configuration import integrate
from ..reach import labels
from ._base import Motion, TrajectoryError, base_columns, base_pose, held

_STEP = 0.05
"""Farthest that a loop is followed at a time, [rad] or [m]."""

Curves: TypeAlias = Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Independent one-dof joint to coordinate, velocity and acceleration, shape (N,) each, [rad] or [m]."""


def rates(model: ClusterModel, time: np.ndarray, curves: Curves) -> tuple[np.ndarray, np.ndarray]:
    """Return v and a, shape (N, nv), in which only the given joints move."""
    v, a = np.zeros((2, len(time), model.nv))
    for name, curve in curves.items():
        column = model.joint_idx_v(name)
        _, v[:, column], a[:, column] = curve
    return v, a


def whole(
    model: ClusterModel, time: np.ndarray, curves: Curves, base: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
) -> Motion:
    """Return the motion in which the independent joints move as they are given.

    Couplings give the dependent joints; closed loops follow by continuation from the reference pose. Joints that are
    not given stay in their neutral configuration, or, with closed loops, in the reference pose. A free-flyer has the
    poses of ``base``, x y z qx qy qz qw, shape (N, 7), and its velocities and accelerations, shape (N, 6). A loop that
    cannot follow is a ``TrajectoryError``.
    """
    q = np.tile(held(model), (len(time), 1))
    v, a = rates(model, time, curves)
    if base is not None:
        at = base_columns(model)
        q[:, base_pose(model)], v[:, at], a[:, at] = base
    found = {int(model.tree.getJointId(name)): curve[0] for name, curve in curves.items()}
    if not model.closures:
        for row in model.coupling_rows:  # masters come before their dependents
            value = np.full(len(time), row.offset)
            for master, coefficient in zip(row.masters, row.coefficients, strict=True):
                value += coefficient * found[master] if master in found else 0.0
            found[row.dependent] = value
    for j, value in found.items():
        joint = model.tree.joints[j]
        if joint.nq == 2:  # continuous: cosine and sine
            q[:, joint.idx_q] = np.cos(value)
            q[:, joint.idx_q + 1] = np.sin(value)
        else:
            q[:, joint.idx_q] = value
    return time, _close(model, time, q) if model.closures else q, v, a


def _close(model: ClusterModel, time: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """Return the configurations with the independent joints of the targets, each reached from the one before."""
    tree, rows = model.tree, model.idx_v_independent
    last = np.asarray(model.q_reference)
    q = np.empty_like(targets)
    for i, target in enumerate(targets):
        try:
            far = np.abs(pin.difference(tree, last, target)[rows]).max()
            for left in range(int(far / _STEP), -1, -1):  # the last step leaves nothing
                step = pin.difference(tree, last, target)[rows] / (left + 1.0)
                last = integrate(model, last, np.ascontiguousarray(step))
        except BranchLost as lost:
            where = f"at t = {time[i]:.4g} s" if i else "on the way from the reference pose to the first sample"
            raise TrajectoryError(
                f"{labels(model, lost.cluster)} of {model.name!r} cannot follow the trajectory {where}: the "
                "independent joints leave what its links can reach. Check the values of "
                f"{', '.join(lost.cluster)} there."
            ) from lost
        q[i] = last
    return q
