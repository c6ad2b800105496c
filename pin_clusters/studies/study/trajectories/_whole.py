"""Compute the motion of the whole robot from the joints that a trajectory prescribes."""

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import pinocchio as pin

from ....errors import BranchLost
from ....model import ClusterModel
from ....model.configuration import integrate
from ..reach import labels
from ._base import Motion, TrajectoryError, base_columns, base_pose, held

_STEP = 0.05  # Largest continuation step of the independent joints, [rad] or [m]

Curves: TypeAlias = Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]]
"""Maps names of independent one-dof joints to coordinate, velocity and acceleration, shape (N,), in rad or m, and s."""


def rates(model: ClusterModel, time: np.ndarray, curves: Curves) -> tuple[np.ndarray, np.ndarray]:
    v, a = np.zeros((2, len(time), model.nv))
    for name, curve in curves.items():
        column = model.joint_idx_v(name)
        _, v[:, column], a[:, column] = curve
    return v, a


def whole(
    model: ClusterModel, time: np.ndarray, curves: Curves, base: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
) -> Motion:
    """Compute the motion of the whole robot; raise ``TrajectoryError`` if closed loops cannot follow.

    Continuation from the reference pose keeps closed loops closed. Joints without a curve are held. ``base`` contains
    free-flyer poses x y z qx qy qz qw, shape (N, 7), and the velocities and accelerations, shape (N, 6).
    """
    q = np.tile(held(model), (len(time), 1))
    v, a = rates(model, time, curves)
    if base is not None:
        base_entries = base_columns(model)
        q[:, base_pose(model)], v[:, base_entries], a[:, base_entries] = base
    coordinates = {int(model.tree.getJointId(name)): curve[0] for name, curve in curves.items()}
    if not model.closures:
        for row in model.coupling_rows:  # driving joints precede the joints that depend on them
            value = np.full(len(time), row.offset)
            for master, coefficient in zip(row.masters, row.coefficients, strict=True):
                value += coefficient * coordinates[master] if master in coordinates else 0.0
            coordinates[row.dependent] = value
    for j, value in coordinates.items():
        joint = model.tree.joints[j]
        if joint.nq == 2:  # a continuous joint is stored as cosine and sine
            q[:, joint.idx_q] = np.cos(value)
            q[:, joint.idx_q + 1] = np.sin(value)
        else:
            q[:, joint.idx_q] = value
    return time, _close(model, time, q) if model.closures else q, v, a


def _close(model: ClusterModel, time: np.ndarray, targets: np.ndarray) -> np.ndarray:
    tree, rows = model.tree, model.idx_v_independent
    q_closed = np.asarray(model.q_reference)
    q = np.empty_like(targets)
    for i, target in enumerate(targets):
        try:
            distance = np.abs(pin.difference(tree, q_closed, target)[rows]).max()
            for remaining in range(int(distance / _STEP), -1, -1):  # the last step (0 remaining) reaches the target
                step = pin.difference(tree, q_closed, target)[rows] / (remaining + 1.0)
                q_closed = integrate(model, q_closed, np.ascontiguousarray(step))
        except BranchLost as lost:
            moment = f"at t = {time[i]:.4g} s" if i else "on the way from the reference pose to the first sample"
            raise TrajectoryError(
                f"{labels(model, lost.cluster)} of {model.name!r} cannot follow the trajectory {moment}: the "
                "independent joints leave the reachable range of the loop. Check the values of "
                f"{', '.join(lost.cluster)} at this time."
            ) from lost
        q[i] = q_closed
    return q
