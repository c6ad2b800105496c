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
    offset: np.ndarray  # how fast each may close, in its row: the room over the step, 0 where the free motion closes it
    axes: np.ndarray
    contacts: int
    h: float

    @property
    def end(self) -> np.ndarray:
        """u, shape (rows,)."""
        return np.asarray(self.J @ self.after + self.offset)

    @property
    def G(self) -> np.ndarray:
        return np.asarray(self.J @ cho_solve(cho_factor(self.M), self.J.T))

    @property
    def normals(self) -> np.ndarray:
        """Rows that must not close."""
        return np.r_[np.arange(2, 3 * self.contacts, 3), np.arange(3 * self.contacts, len(self.J))]

    @property
    def strikes(self) -> np.ndarray:
        """Which contacts the free motion closes in this step, faster than at 100 m/s^2; no stops."""
        closes = np.maximum(self.room, 0.0) / self.h + (self.J @ self.free)[self.normals] < -100.0 * self.h
        return np.asarray(closes & (np.arange(len(closes)) < self.contacts))


def axes_of(normal: np.ndarray) -> np.ndarray:
    n = normal / np.linalg.norm(normal)
    Q = np.linalg.svd(n[None])[2]
    return np.array([Q[1], Q[2], n])


def rebuild(
    model: pc.ClusterModel, result: pc.SimulationResult, k: int, points: pc.ContactPoints, ground: pc.Ground,
    stops: list[tuple[str, float, float]] | None = None,
) -> Step:  # fmt: skip
    """Return step k. Stops are (joint, side, bound).

    Its middle is half a step after its start. Where something is too deep there and is put back, the middle is found
    from the end, and from the gaps that were recorded if something strikes in such a step.
    """
    h = float(result.time[k + 1] - result.time[k])
    ahead = pc.integrate(model, result.q[k], 0.5 * h * result.v[k])
    step = at(model, result, k, ahead, points, ground, stops or [])
    if step.room.min() > -1e-9:
        return step

    def with_delay(delay: float) -> Step:
        found = step
        for _ in range(3):  # free velocities depend on the middle a little
            x = delay * (step.after - found.free) - 0.5 * h * step.after
            found = at(model, result, k, pc.integrate(model, result.q[k + 1], x), points, ground, stops or [])
        return found

    one = with_delay(0.0)
    if not (step.strikes & (step.room > 1e-9)).any():
        return one
    gaps = result.gap[k]
    change = (one.J @ (one.after - one.free))[one.normals][: len(points)]
    i = int(np.argmax(np.abs(change) * (one.room[: len(points)] < 0.01)))
    bodies = [model.names[j] for j in points.joints.tolist()]
    same = [k for k, name in enumerate(bodies) if name == bodies[i]]
    recorded = gaps[result.bodies.index(bodies[i])]
    delays, left = [0.0, 1e-3 * h], list[float]()
    for _ in range(7):  # secant method
        two = with_delay(delays[-1])
        left.append(min(two.room[same]) - recorded)
        if len(left) == 1:
            left.insert(0, min(one.room[same]) - recorded)
        if abs(left[-1]) < 1e-15 or left[-1] == left[-2]:
            break
        delays.append(delays[-1] - left[-1] * (delays[-1] - delays[-2]) / (left[-1] - left[-2]))
    return two


def at(
    model: pc.ClusterModel, result: pc.SimulationResult, k: int, q: np.ndarray, points: pc.ContactPoints,
    ground: pc.Ground, stops: list[tuple[str, float, float]],
) -> Step:  # fmt: skip
    """Return step k with a given middle."""
    tree, h = model.tree, float(result.time[k + 1] - result.time[k])
    v, tau = result.v[k], result.tau[k]
    oracle = projection.createData(model)

    def aba(rate: np.ndarray) -> np.ndarray:
        passive = pc.passive_torque(model, model.createData(), q, rate) if model.passive else 0.0
        return projection.aba(model, oracle, q, rate, tau + passive)

    free = v + h * aba(v + 0.5 * h * aba(v))
    data, axes, G = tree.createData(), axes_of(np.array(ground.normal)), reference.coupling_jacobian(model, q)
    pin.computeJointJacobians(tree, data, q)
    rows, room = [], []
    for joint, place, radius in zip(points.joints.tolist(), points.places, points.radii, strict=True):
        oMi = data.oMi[joint]
        there = oMi.act(place) - radius * axes[2]
        six = pin.getJointJacobian(tree, data, joint, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
        rows.append(axes @ (six[:3] - pin.skew(there - oMi.translation) @ six[3:]) @ G)
        room.append(axes[2] @ there - ground.height)
    for name, side, bound in stops:
        joint = tree.joints[tree.getJointId(name)]
        rows.append(side * G[joint.idx_v : joint.idx_v + 1])
        room.append(side * (q[joint.idx_q] - bound))
    step = Step(
        q, projection.crba(model, oracle, q), free, result.v[k + 1], np.vstack(rows), np.array(room),
        np.zeros(3 * len(points) + len(stops)), axes, len(points), h,
    )  # fmt: skip
    step.offset[step.normals] = np.where(step.strikes, 0.0, np.maximum(step.room, 0.0) / h)
    return step
