"""MuJoCo on a file that ``pc.to_mjcf`` wrote, called with the configurations of the model.

Its coordinates are more than the model's: rods, halves of bodies, rotors. At the model's configuration the others are
found by MuJoCo's own equalities; the null space of their Jacobian reduces everything to the independent velocities.
"""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
from samples.pool import slope

import pin_clusters as pc

EQUALITY = int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)


class Compiled:
    """A compiled file.

    Args:
        model: The robot.
        text: What was written.
    """

    def __init__(self, model: pc.ClusterModel, text: str) -> None:
        self.model, self.tree = model, model.tree
        self.there = mujoco.MjModel.from_xml_string(text)
        self.there.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS
        self.there.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
        self.data = mujoco.MjData(self.there)
        names = {self.there.joint(i).name: i for i in range(self.there.njnt)}
        self.joints = {j: names[self.tree.names[j]] for j in range(1, model.njoints) if self.tree.names[j] in names}
        self.known: list[int] = []  # velocities of MuJoCo's that the model has
        self.free = np.zeros(model.nv, dtype=int)  # where each independent velocity is
        for j, i in self.joints.items():
            first = self.there.jnt_dofadr[i] - (2 if self.chain(j) else 0)
            dofs = range(first, first + self.tree.nvs[j])
            self.known += dofs
            for k, at in enumerate(range(self.tree.idx_vs[j], self.tree.idx_vs[j] + self.tree.nvs[j])):
                where = np.flatnonzero(model.idx_v_independent == at)
                if len(where):
                    self.free[where[0]] = dofs[k]

    def chain(self, j: int) -> bool:
        """Whether a joint has become three, of which the last bears its name."""
        return bool(self.tree.nqs[j] == self.tree.nvs[j] == 3)

    def place(self, q: np.ndarray) -> None:
        """Go to a configuration of the model, from the keyframe."""
        mujoco.mj_resetDataKeyframe(self.there, self.data, 0)
        for j, i in self.joints.items():
            mine, at = q[self.tree.idx_qs[j] : self.tree.idx_qs[j] + self.tree.nqs[j]], self.there.jnt_qposadr[i]
            if len(mine) == 7:
                pose = self.tree.jointPlacements[j] * pin.XYZQUATToSE3(mine)
                rest = pin.Quaternion(pose.rotation).coeffs()[[3, 0, 1, 2]]
                self.data.qpos[at : at + 7] = np.concatenate([pose.translation, rest])
            elif self.chain(j):
                self.data.qpos[at - 2 : at + 1] = mine
            elif len(mine) == 4:
                self.data.qpos[at : at + 4] = mine[[3, 0, 1, 2]]
            else:
                self.data.qpos[at] = np.arctan2(mine[1], mine[0]) if len(mine) == 2 else mine[0]
        others = np.setdiff1d(np.arange(self.there.nv), self.known)
        for _ in range(20 if len(others) else 0):
            mujoco.mj_fwdPosition(self.there, self.data)
            step = np.zeros(self.there.nv)
            rows = self.rows()
            step[others] = -np.linalg.lstsq(self.efc_J()[:, others], self.data.efc_pos[rows], rcond=1e-10)[0]
            mujoco.mj_integratePos(self.there, self.data.qpos, step, 1.0)
        mujoco.mj_fwdPosition(self.there, self.data)

    def rows(self) -> np.ndarray:
        return np.flatnonzero(self.data.efc_type == EQUALITY)

    def efc_J(self) -> np.ndarray:
        return np.array(self.data.efc_J).reshape(-1, self.there.nv)[self.rows()]

    def residual(self) -> float:
        """How far the equalities are open, [m] or [rad]."""
        return float(np.abs(self.data.efc_pos[self.rows()]).max(initial=0.0))

    def turn(self, q: np.ndarray) -> np.ndarray:
        """MuJoCo's independent velocity of the model's: a free joint's linear one is of the world there."""
        T = np.eye(self.model.nv)
        for j in self.joints:
            if self.tree.nvs[j] == 6:
                at = int(np.flatnonzero(self.model.idx_v_independent == self.tree.idx_vs[j])[0])
                i = self.tree.idx_qs[j] + 3
                here = self.tree.jointPlacements[j].rotation @ pin.Quaternion(q[i : i + 4]).toRotationMatrix()
                T[at : at + 3, at : at + 3] = here
        return T

    def G(self, q: np.ndarray) -> np.ndarray:
        """All velocities of MuJoCo's from the model's independent ones, at a configuration."""
        self.place(q)
        N = np.eye(self.there.nv)
        J = self.efc_J()
        if len(J):
            J = J / np.maximum(np.linalg.norm(J, axis=1), 1e-9)[:, None]
            _, S, Vt = np.linalg.svd(J)
            N = Vt[int(np.sum(S > 1e-7 * S[0])) :].T
        assert N.shape[1] == self.model.nv
        return np.asarray(N @ np.linalg.inv(N[self.free]) @ self.turn(q))

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """The mass matrix of independent velocities, G' M G."""
        G = self.G(q)
        M = np.zeros((self.there.nv, self.there.nv))
        for k, unit in enumerate(np.eye(self.there.nv)):
            mujoco.mj_mulM(self.there, self.data, M[k], unit)
        return np.asarray(G.T @ M @ G)

    def torque(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Inverse dynamics of independent velocities: forces of equalities drop out."""
        G = self.G(q)
        rate, J = G @ v, self.efc_J()
        held = np.setdiff1d(np.arange(self.there.nv), self.free)
        qpos = self.data.qpos.copy()
        acceleration = self.turn(q) @ self._in_world(q, v, a)

        def along(t: float) -> np.ndarray:
            self.data.qpos[:] = qpos
            mujoco.mj_integratePos(self.there, self.data.qpos, rate, t)
            mujoco.mj_fwdPosition(self.there, self.data)
            return self.efc_J() @ rate

        full = np.zeros(self.there.nv)
        full[self.free] = acceleration
        if len(J):
            change = slope(along, 1e-3 / max(1.0, float(np.abs(rate).max())))
            right = -change - J[:, self.free] @ acceleration
            full[held] = np.linalg.lstsq(J[:, held], right, rcond=1e-7)[0]
        self.data.qpos[:] = qpos
        self.data.qvel[:], self.data.qacc[:] = rate, full
        mujoco.mj_inverse(self.there, self.data)
        force = self.data.qfrc_inverse + self.data.qfrc_constraint + self.data.qfrc_passive
        return np.asarray(G.T @ force)

    def _in_world(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """The acceleration whose free joints are derivatives of MuJoCo's velocity, still in axes of the body."""
        found = a.copy()
        for j in self.joints:
            if self.tree.nvs[j] == 6:
                at = int(np.flatnonzero(self.model.idx_v_independent == self.tree.idx_vs[j])[0])
                found[at : at + 3] += np.cross(v[at + 3 : at + 6], v[at : at + 3])
        return found


def load(name: str, **options: Any) -> pc.ClusterModel:
    """A robot that ships, without the warnings about it."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.load(name, **options)
