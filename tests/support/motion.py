"""Passive motion of trees, by means that share nothing with the package but aba."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import pin_clusters as pc


def simulate(
    model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, dt: float, steps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Passive motion by the classical Runge-Kutta method in the coordinates (quaternions included)."""
    data, zero, tree = model.createData(), np.zeros(model.nv), model.tree

    def rates(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        full, dq = model.coupling_matrix @ v, np.zeros(model.nq)
        for j in list(tree.joints)[1:]:
            own = full[j.idx_v : j.idx_v + j.nv]
            if j.nq == 7:
                xyz, w = q[j.idx_q + 3 : j.idx_q + 6], q[j.idx_q + 6]
                dq[j.idx_q : j.idx_q + 3] = pin.Quaternion(w, *xyz).toRotationMatrix() @ own[:3]
                # half the quaternion product of the quaternion and the angular velocity in body axes
                dq[j.idx_q + 3 : j.idx_q + 6] = 0.5 * (w * own[3:] + np.cross(xyz, own[3:]))
                dq[j.idx_q + 6] = -0.5 * xyz @ own[3:]
            else:
                dq[j.idx_q] = own[0]
        return dq, pc.aba(model, data, q, v, zero)

    for _ in range(steps):
        k1 = rates(q, v)
        k2 = rates(q + 0.5 * dt * k1[0], v + 0.5 * dt * k1[1])
        k3 = rates(q + 0.5 * dt * k2[0], v + 0.5 * dt * k2[1])
        k4 = rates(q + dt * k3[0], v + dt * k3[1])
        q = q + dt / 6.0 * (k1[0] + 2.0 * k2[0] + 2.0 * k3[0] + k4[0])
        v = v + dt / 6.0 * (k1[1] + 2.0 * k2[1] + 2.0 * k3[1] + k4[1])
        q = pin.normalize(tree, q)
    return q, v
