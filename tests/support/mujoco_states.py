"""States of a model that was read from MJCF, in MuJoCo's coordinates, and the map between their velocities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

import pin_clusters as pc


def joint_name(m: Any, j: int) -> str:
    """Return our name of a joint: its own, or its body's with the number of the joint there, if not the first."""
    body = int(m.jnt_bodyid[j])
    number = j - int(m.body_jntadr[body])
    return m.joint(j).name or body_name(m, body) + (f"_{number + 1}" if number else "")


def body_name(m: Any, body: int) -> str:
    """Return our name of a body: its own, or its number."""
    return m.body(body).name or f"body{body}"


@dataclass
class Twin:
    """A robot here and in MuJoCo, where nothing but its own dynamics acts: no contact, no equality, no limit."""

    model: pc.ClusterModel
    there: Any  # mujoco.MjModel

    def __post_init__(self) -> None:
        import mujoco

        self.data, self.state = self.model.createData(), mujoco.MjData(self.there)
        self.tree = self.model.tree
        self.places = self.tree.createData()
        self.there.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
        self.there.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_ACTUATION

    def _joints(self) -> list[tuple[str, int, int, int]]:
        m = self.there
        names = [joint_name(m, j) for j in range(m.njnt)]
        return list(zip(names, m.jnt_type.tolist(), m.jnt_qposadr.tolist(), m.jnt_dofadr.tolist(), strict=True))

    def put(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Set MuJoCo's state to one of the model; return its velocities per independent one, shape (nv there, nv)."""
        model, tree, m, d = self.model, self.tree, self.there, self.state
        G = pc.coupling_jacobian(model, self.data, q)
        v_tree = G @ v
        a_tree = pc.spanning_acceleration(model, self.data, q, v, a)
        pin.forwardKinematics(tree, self.places, q, v_tree, a_tree)
        pin.computeJointJacobians(tree, self.places, q)
        map_ = np.zeros((m.nv, model.nv))
        for index, (name, kind, iq, iv) in enumerate(self._joints()):
            if kind != 1 and not tree.existJointName(name):
                continue  # an equality holds it
            if kind >= 2:  # slide, hinge
                j = tree.joints[tree.getJointId(name)]
                d.qpos[iq], d.qvel[iv], d.qacc[iv], map_[iv] = q[j.idx_q], v_tree[j.idx_v], a_tree[j.idx_v], G[j.idx_v]
            elif kind == 0:
                j = tree.joints[tree.getJointId(name)]
                x, w, acc = q[j.idx_q : j.idx_q + 7], v_tree[j.idx_v : j.idx_v + 6], a_tree[j.idx_v : j.idx_v + 6]
                R = pin.Quaternion(x[3:]).toRotationMatrix()
                d.qpos[iq : iq + 7] = x[[0, 1, 2, 6, 3, 4, 5]]
                d.qvel[iv : iv + 6] = np.concatenate([R @ w[:3], w[3:]])
                d.qacc[iv : iv + 6] = np.concatenate([R @ (acc[:3] + np.cross(w[3:], w[:3])), acc[3:]])
                map_[iv : iv + 6] = np.vstack([R @ G[j.idx_v : j.idx_v + 3], G[j.idx_v + 3 : j.idx_v + 6]])
            else:
                self._ball(index, iq, iv, G, v_tree, a_tree, map_)
        return map_

    def _ball(self, index: int, iq: int, iv: int, G: Any, v_tree: Any, a_tree: Any, map_: np.ndarray) -> None:
        """A ball joint: by the rotations of its body and the parent."""
        m, d, tree, data = self.there, self.state, self.tree, self.places
        body = int(m.jnt_bodyid[index])

        def motion(i: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
            if i == 0:
                return np.eye(3), np.zeros(3), np.zeros(3), np.zeros((3, tree.nv))
            frame = tree.getFrameId(body_name(m, i), pin.FrameType.BODY)
            R = pin.updateFramePlacement(tree, data, frame).rotation
            w = pin.getFrameVelocity(tree, data, frame, pin.LOCAL).angular
            alpha = pin.getFrameAcceleration(tree, data, frame, pin.LOCAL).angular
            return R.copy(), w, alpha, pin.getFrameJacobian(tree, data, frame, pin.LOCAL)[3:].copy()

        R, w, alpha, J = motion(body)
        R_parent, w_parent, alpha_parent, J_parent = motion(int(m.body_parentid[body]))
        between = R.T @ R_parent
        at_rest = pin.Quaternion(*m.body_quat[body]).toRotationMatrix()
        quaternion = pin.Quaternion(at_rest.T @ between.T)
        relative = w - between @ w_parent
        d.qpos[iq : iq + 4] = [quaternion.w, quaternion.x, quaternion.y, quaternion.z]
        d.qvel[iv : iv + 3] = relative
        d.qacc[iv : iv + 3] = alpha - between @ alpha_parent + np.cross(relative, between @ w_parent)
        map_[iv : iv + 3] = (J - between @ J_parent) @ G

    def inverse(self, q: np.ndarray, v: np.ndarray, a: np.ndarray, passive: bool) -> np.ndarray:
        """Return MuJoCo's inverse dynamics on the independent joints, with its passive forces or without."""
        import mujoco

        map_ = self.put(q, v, a)
        mujoco.mj_inverse(self.there, self.state)
        force = self.state.qfrc_inverse + (0.0 if passive else self.state.qfrc_passive)
        return map_.T @ force

    def passive(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Return MuJoCo's passive forces on the independent joints."""
        import mujoco

        map_ = self.put(q, v, np.zeros(self.model.nv))
        mujoco.mj_forward(self.there, self.state)
        return map_.T @ self.state.qfrc_passive

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Return MuJoCo's mass matrix on the independent joints."""
        import mujoco

        map_ = self.put(q, np.zeros(self.model.nv), np.zeros(self.model.nv))
        mujoco.mj_forward(self.there, self.state)
        columns = np.zeros((self.there.nv, self.model.nv))
        for i in range(self.model.nv):
            column = np.zeros(self.there.nv)
            mujoco.mj_mulM(self.there, self.state, column, np.ascontiguousarray(map_[:, i]))
            columns[:, i] = column
        return map_.T @ columns
