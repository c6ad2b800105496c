"""Forward dynamics with the losses of motors: a linear system per choice of which gears drive, one of them is right."""

from itertools import product

import numpy as np

from ..._support.docstrings import STATE, stock
from ...errors import ModelError
from ...model import ClusterModel, rotor_ids
from ._clusters import expanded, loops
from .inverse import nonLinearEffects
from .mass_matrix import crba


@stock(STATE)
def aba_with_losses(model: ClusterModel, q: np.ndarray, v: np.ndarray, tau: np.ndarray, speed: float) -> np.ndarray:
    """Compute the acceleration under the torques of motors with friction and gears with losses; springs do not act.

    Unknown are the acceleration and the load of each gear, sign by sign: M a + h = B (load + J alpha), and a gear that
    drives is given load / efficiency, one that is driven back_efficiency * load. Where the sign of the speed is smooth,
    only so much of the difference is lost.

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
    ids = [j for j, r in zip(rotor_ids(model, span), model.rotors, strict=True) if r.driven]
    at = [span.tree.joints[j].idx_v for j in ids]
    R, bias, J = G[at], g[at], np.diag([r.axial_inertia for r in model.motors])
    w, n, k = R @ v, model.nv, len(at)
    motors = [r.motor for r in model.motors]
    p = np.linalg.pinv(R.T) @ tau
    for i, m in enumerate(motors):
        if m is not None:
            p[i] -= m.viscous * w[i] + m.coulomb * np.tanh(w[i] / speed)
    rest = tau - R.T @ (np.linalg.pinv(R.T) @ tau) - nonLinearEffects(model, q, v)
    found, choices = [], [(1.0, -1.0) if m is not None and m.efficiency is not None else (1.0,) for m in motors]
    for signs in product(*choices):
        needed = np.ones(k)  # what goes into each gear, beside its load
        for i, (m, sign) in enumerate(zip(motors, signs, strict=True)):
            if m is not None and m.efficiency is not None:
                back = m.efficiency if m.back_efficiency is None else m.back_efficiency
                full = 1.0 / m.efficiency if sign * w[i] > 0.0 else back
                needed[i] += abs(np.tanh(w[i] / speed)) * (full - 1.0)
        A = np.block([[crba(model, q) - R.T @ J @ R, -R.T], [J @ R, np.diag(needed)]])
        x = np.linalg.solve(A, np.concatenate([rest + R.T @ J @ bias, p - J @ bias]))
        if all(len(c) == 1 or s * load >= 0.0 for c, s, load in zip(choices, signs, x[n:], strict=True)):
            found.append(x[:n])
    if len(found) != 1:
        raise ModelError(f"{len(found)} choices of which gears drive are consistent, expected one.")
    return np.asarray(found[0])
