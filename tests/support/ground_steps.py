"""What a step on a ground must obey, from a result alone: by Pinocchio on the spanning tree, projected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from scipy.linalg import cho_factor, cho_solve

import pin_clusters as pc
from pin_clusters.verification import reference
from pin_clusters.verification.baselines import projection


@dataclass
class Step:
    """Rows are those of contacts, normal last, in axes whose last row is the ground's normal; then those of stops."""

    q: np.ndarray  # middle
    M: np.ndarray
    free: np.ndarray  # velocity at the end without contacts
    after: np.ndarray  # with them
    J: np.ndarray
    room: np.ndarray  # of each contact and stop
    offset: np.ndarray  # what is left, over the step, in its row
    axes: np.ndarray
    contacts: int

    @property
    def end(self) -> np.ndarray:
        """u, shape (rows,)."""
        return np.asarray(self.J @ self.after + self.offset)

    @property
    def G(self) -> np.ndarray:
        return np.asarray(self.J @ cho_solve(cho_factor(self.M), self.J.T))


def axes_of(normal: np.ndarray) -> np.ndarray:
    n = normal / np.linalg.norm(normal)
    Q = np.linalg.svd(n[None])[2]
    return np.array([Q[1], Q[2], n])


def rebuild(
    model: pc.ClusterModel, result: pc.SimulationResult, k: int, points: pc.ContactPoints, ground: pc.Ground,
    stops: list[tuple[str, float, float]] | None = None,
) -> Step:  # fmt: skip
    """Step k: its middle is half a step before its end. Stops are (joint, side, bound)."""
    tree, h = model.tree, float(result.time[k + 1] - result.time[k])
    v, after, tau = result.v[k], result.v[k + 1], result.tau[k]
    q = pc.integrate(model, result.q[k + 1], -0.5 * h * after)

    oracle = projection.createData(model)

    def aba(rate: np.ndarray) -> np.ndarray:
        passive = pc.passive_torque(model, model.createData(), q, rate) if model.passive else 0.0
        return projection.aba(model, oracle, q, rate, tau + passive)

    free = v + h * aba(v + 0.5 * h * aba(v))
    data, axes, G = tree.createData(), axes_of(np.array(ground.normal)), reference.coupling_jacobian(model, q)
    pin.computeJointJacobians(tree, data, q)
    rows, room, offset = [], [], []
    for joint, place, radius in zip(points.joints.tolist(), points.places, points.radii, strict=True):
        oMi = data.oMi[joint]
        at = oMi.act(place) - radius * axes[2]
        six = pin.getJointJacobian(tree, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        rows.append(axes @ (six[:3] - pin.skew(at - oMi.translation) @ six[3:]) @ G)
        room.append(axes[2] @ at - ground.height)
        offset += [0.0, 0.0, max(room[-1], 0.0) / h]
    for name, side, bound in stops or []:
        joint = tree.joints[tree.getJointId(name)]
        rows.append(side * G[joint.idx_v : joint.idx_v + 1])
        room.append(side * (q[joint.idx_q] - bound))
        offset.append(max(room[-1], 0.0) / h)
    return Step(
        q,
        projection.crba(model, oracle, q),
        free,
        after,
        np.vstack(rows),
        np.array(room),
        np.array(offset),
        axes,
        len(points),
    )
