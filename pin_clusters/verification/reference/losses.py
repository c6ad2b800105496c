"""Forward dynamics with the losses of motors: a linear system per choice of which gears drive, one of them is right."""

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
    """Compute the acceleration under the torques of motors with friction and gears with losses, without springs.

    Unknown are it and the loads, sign by sign: M a + h = B (load + J alpha), alpha the acceleration of a rotor about
    its axis, with its carrier's; a gear that drives is given load over efficiency, one that is driven back_efficiency
    load. Where the sign is smooth, so much of the difference is lost.

    Args:
        speed: Friction and losses grow as tanh(speed of the rotor / this), [rad/s].

    Raises:
        ModelError: Not exactly one choice of signs is consistent.
    """
    span, space = expanded(model), loops(model)
    if space is None:
        G, g = span.G, np.zeros(span.tree.nv)
    else:
        space.at(np.asarray(q, dtype=float), np.asarray(v, dtype=float))
        G, g = span.from_tree @ space.G, span.from_tree @ space.g
    driven = [j for j, r in zip(rotor_ids(model.rotors, span), model.rotors, strict=True) if r.driven]
    at, motors = [span.tree.joints[j].idx_v for j in driven], [r.motor for r in model.motors]
    R, J = G[at], np.diag([r.axial_inertia for r in model.motors])
    data, axes = span.tree.createData(), [joint_axis(span.tree.joints[j]) for j in driven]
    pin.forwardKinematics(span.tree, data, span.configuration(np.asarray(q, dtype=float)), G @ v, g)
    pin.computeJointJacobians(span.tree, data)
    about = list(zip(axes, driven, strict=True))
    W = np.array([u @ pin.getJointJacobian(span.tree, data, j, pin.LOCAL)[3:] @ G for u, j in about])
    bias = np.array([u @ data.a[j].angular for u, j in about])
    w, M, given = R @ v, crba(model, q), np.linalg.pinv(R.T) @ tau
    rest = tau - R.T @ given - nonLinearEffects(model, q, v)
    friction = [m.viscous * x + m.coulomb * np.tanh(x / speed) if m else 0.0 for m, x in zip(motors, w, strict=True)]
    found, lossy = [], [i for i, m in enumerate(motors) if m is not None and m.efficiency is not None]
    for signs in product((1.0, -1.0), repeat=len(lossy)):
        needed = np.ones(len(at))  # what goes into each gear, beside its load
        for i, sign in zip(lossy, signs, strict=True):
            m: Any = motors[i]
            back = m.efficiency if m.back_efficiency is None else m.back_efficiency
            needed[i] += abs(np.tanh(w[i] / speed)) * ((1.0 / m.efficiency if sign * w[i] > 0.0 else back) - 1.0)
        A = np.block([[M - R.T @ J @ W, -R.T], [J @ W, np.diag(needed)]])
        x = np.linalg.solve(A, np.concatenate([rest + R.T @ J @ bias, given - friction - J @ bias]))
        if (np.array(signs) * x[model.nv :][lossy] >= 0.0).all():
            found.append(x[: model.nv])
    if len(found) != 1:
        raise ModelError(f"{len(found)} choices of which gears drive are consistent, expected one.")
    return np.asarray(found[0])
