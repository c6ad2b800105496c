"""A tree of Pinocchio as a MuJoCo model: another program's mass matrix, inverse dynamics and energies, to be projected.

Joints: hinges (continuous ones too), slides, universal joints, translations, balls and free flyers. Results are in
Pinocchio's coordinates: the velocity of a free flyer is that of the body, MuJoCo's is partly of the world.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin

import pin_clusters as pc

NOTHING = 1e-10
"""Mass [kg] or moment of inertia that MuJoCo takes for none."""


class MujocoTree:
    """MuJoCo's model of a tree.

    Args:
        tree: Pinocchio's model.

    Raises:
        NotAvailableError: A joint or a body is nothing that MuJoCo knows.
    """

    def __init__(self, tree: pin.Model) -> None:
        import mujoco

        self.mujoco, self.tree = mujoco, tree
        spec = mujoco.MjSpec()
        spec.compiler.boundmass = spec.compiler.boundinertia = 0.0
        spec.option.gravity = tree.gravity.linear
        spec.option.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
        bodies = [spec.worldbody]
        self.parts: list[list[str]] = [[]]
        for j in range(1, tree.njoints):
            parent = bodies[tree.parents[j]]
            where = tree.jointPlacements[j]
            body = parent.add_body(name=f"b{j}", pos=where.translation, quat=_wxyz(where.rotation))
            self.parts.append(self._joints(body, j))
            inertia = tree.inertias[j]
            moments, axes = np.linalg.eigh(inertia.inertia)
            if inertia.mass < NOTHING or moments[0] < NOTHING or moments[0] + moments[1] < moments[2] * (1.0 - 1e-9):
                raise pc.NotAvailableError(f"MuJoCo has no body with the mass and the moments of inertia of joint {j}.")
            axes[:, 2] *= np.linalg.det(axes)
            body.mass, body.ipos, body.inertia, body.iquat = inertia.mass, inertia.lever, moments, _wxyz(axes)
            body.explicitinertial = True
            bodies.append(body)
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.at = [[self._address(name) for name in names] for names in self.parts]
        for j in range(1, tree.njoints):
            for k in range(tree.nvs[j]):
                self.model.dof_armature[self._dofs(j)[k]] = tree.armature[tree.idx_vs[j] + k]

    def _joints(self, body: object, j: int) -> list[str]:
        """Give a body the joints of Pinocchio's joint j; return their names."""
        kinds, joint = self.mujoco.mjtJoint, self.tree.joints[j]
        name = joint.shortname()
        if name in ("JointModelFreeFlyer", "JointModelSpherical"):
            if name == "JointModelFreeFlyer" and self.tree.parents[j] != 0:
                raise pc.NotAvailableError("MuJoCo has free joints below the world only.")
            kind = kinds.mjJNT_FREE if name == "JointModelFreeFlyer" else kinds.mjJNT_BALL
            body.add_joint(name=f"j{j}", type=kind)  # type: ignore[attr-defined]
            return [f"j{j}"]
        data = joint.createData()
        joint.calc(data, pin.neutral(self.tree))
        S = np.asarray(data.S).reshape(6, joint.nv)
        if joint.nq not in (1, 2, 3) or name in ("JointModelComposite", "JointModelPlanar", "JointModelSphericalZYX"):
            raise pc.NotAvailableError(f"MuJoCo has no {name}.")
        names = []
        for k, column in enumerate(S.T):
            slides, turns = np.any(column[:3]), np.any(column[3:])
            if slides == turns:
                raise pc.NotAvailableError(f"MuJoCo has no {name}.")
            kind, axis = (kinds.mjJNT_SLIDE, column[:3]) if slides else (kinds.mjJNT_HINGE, column[3:])
            names.append(f"j{j}_{k}")
            body.add_joint(name=names[-1], type=kind, axis=axis)  # type: ignore[attr-defined]
        return names

    def _address(self, name: str) -> tuple[int, int]:
        joint = self.model.joint(name)
        return int(joint.qposadr[0]), int(joint.dofadr[0])

    def _dofs(self, j: int) -> np.ndarray:
        first = self.at[j][0][1]
        return np.arange(first, first + self.tree.nvs[j])

    def _set(self, q: np.ndarray) -> np.ndarray:
        """Put the configuration; return S with MuJoCo's velocity = S times Pinocchio's."""
        S = np.zeros((self.tree.nv, self.tree.nv))
        for j in range(1, self.tree.njoints):
            joint, iq, iv = self.tree.joints[j], self.tree.idx_qs[j], self.tree.idx_vs[j]
            mine, n = q[iq : iq + joint.nq], self.tree.nvs[j]
            block, at = np.eye(n), self.at[j][0][0]
            if joint.nq == 7:
                pose = self.tree.jointPlacements[j] * pin.XYZQUATToSE3(mine)
                self.data.qpos[at : at + 3] = pose.translation
                self.data.qpos[at + 3 : at + 7] = _wxyz(pose.rotation)
                block[:3, :3] = pose.rotation
            elif joint.nq == 4:
                self.data.qpos[at : at + 4] = mine[[3, 0, 1, 2]]
            elif joint.nq == 2 and n == 1:
                self.data.qpos[at] = np.arctan2(mine[1], mine[0])
            else:
                self.data.qpos[at : at + joint.nq] = mine
            S[np.ix_(self._dofs(j), np.arange(iv, iv + n))] = block
        return S

    def mass_matrix(self, q: np.ndarray) -> np.ndarray:
        """Return the mass matrix of the tree, Pinocchio's coordinates."""
        S = self._set(q)
        self.data.qvel[:] = 0.0
        self.mujoco.mj_forward(self.model, self.data)
        M = np.zeros((self.model.nv, self.model.nv))
        try:
            self.mujoco.mj_fullM(self.model, self.data, M)
        except TypeError:  # MuJoCo 3
            self.mujoco.mj_fullM(self.model, M, self.data.qM)
        return np.asarray(S.T @ M @ S)

    def torque(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Return the inverse dynamics of the tree (``mj_inverse``), Pinocchio's coordinates."""
        S = self._set(q)
        acceleration = S @ a
        for j in range(1, self.tree.njoints):
            if self.tree.nqs[j] == 7:  # d(R v)/dt = R (dv/dt + w x v)
                i, rows = self.tree.idx_vs[j], self._dofs(j)[:3]
                acceleration[rows] += S[rows, i : i + 3] @ np.cross(v[i + 3 : i + 6], v[i : i + 3])
        self.data.qvel[:], self.data.qacc[:] = S @ v, acceleration
        self.mujoco.mj_inverse(self.model, self.data)
        return np.asarray(S.T @ self.data.qfrc_inverse)

    def energies(self, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
        """Return kinetic and potential energy, [J]."""
        S = self._set(q)
        self.data.qvel[:] = S @ v
        self.mujoco.mj_forward(self.model, self.data)
        potential, kinetic = self.data.energy
        return float(kinetic), float(potential)


def _wxyz(rotation: np.ndarray) -> np.ndarray:
    return np.asarray(pin.Quaternion(np.asarray(rotation)).coeffs()[[3, 0, 1, 2]])
