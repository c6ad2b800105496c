"""A tree of Pinocchio as MJCF text with the joints' names, and MuJoCo's mass matrix and torques by those names."""

from __future__ import annotations

from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
import pinocchio as pin

import pin_clusters as pc


def text(*numbers: Any) -> str:
    return " ".join(repr(float(x)) for x in np.concatenate([np.ravel(n) for n in numbers]))


def quaternion(R: np.ndarray) -> str:
    x, y, z, w = pin.Quaternion(R).coeffs()
    return text([w, x, y, z])


def write(tree: pin.Model, attributes: dict[str, str] | None = None, more: str = "") -> str:
    """MJCF of a tree.

    Args:
        tree: Hinges (continuous ones too), slides and free flyers.
        attributes: Attributes to set, by joint.
        more: Elements beside <worldbody>.
    """
    children: dict[int, list[int]] = {}
    for j in range(1, tree.njoints):
        children.setdefault(int(tree.parents[j]), []).append(j)

    def body(j: int) -> str:
        name, inertia, where = tree.names[j], tree.inertias[j], tree.jointPlacements[j]
        if tree.nvs[j] == 6:
            joint = f"<freejoint name={quoteattr(name)}/>"
        else:
            data = tree.joints[j].createData()
            tree.joints[j].calc(data, pin.neutral(tree))
            column = np.asarray(data.S).reshape(6)
            what, axis = ("slide", column[:3]) if np.any(column[:3]) else ("hinge", column[3:])
            extra = (attributes or {}).get(name, "")
            joint = f'<joint name={quoteattr(name)} type="{what}" axis="{text(axis)}" {extra}/>'
        I = inertia.inertia
        full = text(I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        return (
            f'<body pos="{text(where.translation)}" quat="{quaternion(where.rotation)}">{joint}'
            f'<inertial mass="{inertia.mass!r}" pos="{text(inertia.lever)}" fullinertia="{full}"/>'
            f"{''.join(body(k) for k in children.get(j, ()))}</body>"
        )

    return (
        '<mujoco><compiler angle="radian" boundmass="0" boundinertia="0" balanceinertia="false"/>'
        f'<option gravity="{text(tree.gravity.linear)}"/>'
        f"<worldbody>{''.join(body(j) for j in children[0])}</worldbody>{more}</mujoco>"
    )


class Mujoco:
    """MuJoCo's model in the coordinates of a cluster model; joints are found by their names."""

    def __init__(self, mujoco: Any, model: pc.ClusterModel, compiled: Any) -> None:
        self.mujoco, self.own, self.model, self.data = mujoco, model, compiled, mujoco.MjData(compiled)
        self.dofs = np.zeros(model.nv, dtype=int)
        for name in model.independent_joints:
            first, n = model.joint_idx_v(name), model.tree.joints[model.tree.getJointId(name)].nv
            self.dofs[first : first + n] = int(compiled.joint(name).dofadr[0]) + np.arange(n)
        assert sorted(self.dofs) == list(range(compiled.nv))

    def _set(self, q: np.ndarray) -> np.ndarray:
        """Put the configuration; return T with MuJoCo's velocity = T v."""
        tree, T = self.own.tree, np.zeros((self.own.nv, self.own.nv))
        for name in self.own.independent_joints:
            joint = tree.joints[tree.getJointId(name)]
            at, first = int(self.model.joint(name).qposadr[0]), self.own.joint_idx_v(name)
            mine, block = q[joint.idx_q : joint.idx_q + joint.nq], np.eye(joint.nv)
            if joint.nq == 7:
                pose = tree.jointPlacements[tree.getJointId(name)] * pin.XYZQUATToSE3(mine)
                self.data.qpos[at : at + 3] = pose.translation
                self.data.qpos[at + 3 : at + 7] = pin.Quaternion(pose.rotation).coeffs()[[3, 0, 1, 2]]
                block[:3, :3] = pose.rotation
            else:
                self.data.qpos[at] = np.arctan2(mine[1], mine[0]) if joint.nq == 2 else mine[0]
            columns = np.arange(first, first + joint.nv)
            T[np.ix_(self.dofs[columns], columns)] = block
        return T

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        T = self._set(q)
        self.mujoco.mj_forward(self.model, self.data)
        M = np.zeros((self.model.nv, self.model.nv))
        try:
            self.mujoco.mj_fullM(self.model, self.data, M)
        except TypeError:  # MuJoCo 3
            self.mujoco.mj_fullM(self.model, M, self.data.qM)
        return np.asarray(T.T @ M @ T)

    def torque(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        T = self._set(q)
        acceleration = T @ a
        for name in self.own.independent_joints:
            joint = self.own.tree.joints[self.own.tree.getJointId(name)]
            if joint.nq == 7:  # d(R v)/dt = R (dv/dt + w x v)
                i = self.own.joint_idx_v(name)
                rows = self.dofs[i : i + 3]
                acceleration[rows] += T[rows, i : i + 3] @ np.cross(v[i + 3 : i + 6], v[i : i + 3])
        self.data.qvel[:], self.data.qacc[:] = T @ v, acceleration
        self.mujoco.mj_inverse(self.model, self.data)
        return np.asarray(T.T @ self.data.qfrc_inverse)
