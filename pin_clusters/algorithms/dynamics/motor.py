"""The motor side: speeds of the rotors, and torques at the rotors."""

from typing import Any

import numpy as np

from ..._support.trees import in_v
from ...errors import ModelError
from ...model import NOTHING, ClusterData, ClusterModel
from .._shared import bridge as _bridge
from .._shared import check as _check

_documented = _check.documented(
    """
    References:
        Virtual work: tau' v = tau_motor' (B' v); the rows of B' are those of ``model.motors``.
    """
)


# a transmission with a larger condition number than this has a lost direction, not a large ratio
_SINGULAR = 1e12


@_documented
def rotor_velocity(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> np.ndarray:
    """Return the speed of each rotor relative to its carrier.

    Returns:
        One per entry of ``model.rotors``, in their order, shape (len(model.rotors),), [rad/s]; a fresh array.
    """
    q, v = _check.state(model, data, q, v)
    return rotor_rows(model, _bridge.matrix(model, data, q)) @ v


@_documented
def actuation_matrix(model: ClusterModel, data: ClusterData, q: Any) -> np.ndarray:
    """Return B: tau = B tau_motor, the motors sitting on the carriers of their rotors.

    Returns:
        Shape (nv, len(model.motors)): column k is the G row of ``model.motors[k]`` at this pose; a fresh array.
    """
    q = _check.pose(model, data, q)
    return np.ascontiguousarray(rotor_rows(model, _bridge.matrix(model, data, q))[[r.driven for r in model.rotors]].T)


@_documented
def motor_torque(model: ClusterModel, data: ClusterData, q: Any, tau: Any) -> np.ndarray:
    """Return the torques at the rotors that act as the given torques of the independent joints.

    Returns:
        One per entry of ``model.motors``, in their order, [N m]; a fresh array. NaN and inf propagate.

    Raises:
        ModelError: There is not one motor per independent velocity, or two motors turn alike; the joints without a
            motor are named.

    Example:
        A gear of ratio 5 needs a fifth of the torque at its motor:

        >>> import pinocchio as pin, pin_clusters as pc
        >>> tree = pin.Model()
        >>> j = tree.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "elbow")
        >>> model = pc.ClusterModel(tree, [pc.Rotor("elbow", 5.0, axial_inertia=1e-4)])
        >>> pc.motor_torque(model, model.createData(), pc.neutral(model), [10.0]).tolist()
        [2.0]
    """
    B = actuation_matrix(model, data, q)
    tau = _check.velocity(model, "tau", tau)
    n, count = B.shape
    idle = _joints(model, ~np.any(B, axis=1))
    without = f" No rotor is driven by the joint(s) {idle}." if idle else ""
    if n != count:
        raise ModelError(
            f"motor_torque: model {model.name!r} has {count} motors for nv = {n} independent velocities, so the motor "
            f"torques are not determined.{without} Solve B tau_motor = tau for the part that you mean, with "
            "B = pc.actuation_matrix(model, data, q)."
        )
    if not np.isfinite(B).all():
        return np.full(n, np.nan)  # of a pose that is not finite
    if n and not np.linalg.cond(B) < _SINGULAR:
        # a direction that no motor torque reaches
        lost = np.linalg.svd(B)[0][:, -1]
        reached = without or f" They cannot move the joint(s) {_joints(model, np.abs(lost) > 1e-6)} independently."
        raise ModelError(f"motor_torque: the motors of model {model.name!r} do not turn independently.{reached}")
    return np.linalg.solve(B, tau) if n else np.zeros(0)


def turning(model: ClusterModel, data: ClusterData, q: np.ndarray, tau_motor: np.ndarray) -> np.ndarray:
    """Return the derivative of B tau_motor by q, along ``pc.integrate(model, q, e)``, shape (nv, nv)."""
    found, rows, driven = np.zeros((2, model.own_tree.nv, model.nv)), [], [r.driven for r in model.rotors]
    for unit in np.eye(model.nv):
        _bridge.derivatives(model, data, q, unit, NOTHING, found.ravel())  # of the tree's velocities
        rows.append(tau_motor @ rotor_rows(model, found[1])[driven])
    return np.array(rows)


def rotor_rows(model: ClusterModel, G: np.ndarray) -> np.ndarray:
    """Return the G rows of the rotors at the pose to which G belongs, shape (rotors, nv)."""
    if not model.closures:
        return np.array([r.row for r in model.rotors]).reshape(len(model.rotors), model.nv)
    rows = [sum((ratio * G[i] for i, ratio in r.drivers), np.zeros(model.nv)) for r in model.rotors]
    return np.array(rows).reshape(len(model.rotors), model.nv)


def _joints(model: ClusterModel, mask: np.ndarray) -> str:
    """Return the names of the joints to which some independent velocities belong."""
    tree = model.own_tree
    wanted = set(model.idx_v_independent[mask].tolist())
    names = [tree.names[j] for j in range(1, tree.njoints) if wanted & set(in_v(tree, j))]
    return ", ".join(map(repr, names))
