"""Forward dynamics with gear losses: solve one linear system per combination of driving and backdriven gears."""

from itertools import product
from typing import Any

import numpy as np
import pinocchio as pin

from ..._support.docstrings import STATE, stock
from ..._support.trees import joint_axis
from ...errors import ModelError
from ...model import ClusterModel, rotor_ids
from ._clusters import expanded, loops
from .inverse import nonLinearEffects
from .mass_matrix import crba


@stock(STATE)
def aba_with_losses(model: ClusterModel, q: np.ndarray, v: np.ndarray, tau: np.ndarray, speed: float) -> np.ndarray:
    """Compute the acceleration under motor torques with friction and gear losses, without springs.

    The unknowns in M a + h = B (load + J alpha) are the acceleration a and the gear loads. B contains the gear ratios,
    J the axial rotor inertias, and alpha the absolute rotor accelerations about the rotor axes. A driving gear needs
    the input torque load / efficiency, and a backdriven gear needs back_efficiency * load.

    Args:
        speed: Speed scale, [rad/s]; friction and losses are proportional to tanh(rotor speed / ``speed``).

    Raises:
        ModelError: The number of consistent combinations of driving gears is not one.
    """
    span, space = expanded(model), loops(model)
    if space is None:
        G, g = span.G, np.zeros(span.tree.nv)
    else:
        space.at(np.asarray(q, dtype=float), np.asarray(v, dtype=float))
        G, g = span.from_tree @ space.G, span.from_tree @ space.g
    driven = [j for j, r in zip(rotor_ids(model.rotors, span), model.rotors, strict=True) if r.driven]
    rotor_v, motors = [span.tree.joints[j].idx_v for j in driven], [r.motor for r in model.motors]
    R, J = G[rotor_v], np.diag([r.axial_inertia for r in model.motors])
    data, axes = span.tree.createData(), [joint_axis(span.tree.joints[j]) for j in driven]
    pin.forwardKinematics(span.tree, data, span.configuration(np.asarray(q, dtype=float)), G @ v, g)
    pin.computeJointJacobians(span.tree, data)
    about = list(zip(axes, driven, strict=True))
    W = np.array([u @ pin.getJointJacobian(span.tree, data, j, pin.LOCAL)[3:] @ G for u, j in about])
    bias = np.array([u @ data.a[j].angular for u, j in about])
    w, M, motor_torque = R @ v, crba(model, q), np.linalg.pinv(R.T) @ tau
    bias_torque = tau - R.T @ motor_torque - nonLinearEffects(model, q, v)
    friction = [m.viscous * x + m.coulomb * np.tanh(x / speed) if m else 0.0 for m, x in zip(motors, w, strict=True)]
    solutions, lossy = [], [i for i, m in enumerate(motors) if m is not None and m.efficiency is not None]
    for signs in product((1.0, -1.0), repeat=len(lossy)):
        needed = np.ones(len(rotor_v))  # ratio of input torque to load for each gear
        for i, sign in zip(lossy, signs, strict=True):
            m: Any = motors[i]
            back = m.efficiency if m.back_efficiency is None else m.back_efficiency
            needed[i] += abs(np.tanh(w[i] / speed)) * ((1.0 / m.efficiency if sign * w[i] > 0.0 else back) - 1.0)
        A = np.block([[M - R.T @ J @ W, -R.T], [J @ W, np.diag(needed)]])
        x = np.linalg.solve(A, np.concatenate([bias_torque + R.T @ J @ bias, motor_torque - friction - J @ bias]))
        if (np.array(signs) * x[model.nv :][lossy] >= 0.0).all():
            solutions.append(x[: model.nv])
    if len(solutions) != 1:
        raise ModelError(f"{len(solutions)} combinations of driving gears are consistent; expected one.")
    return np.asarray(solutions[0])
