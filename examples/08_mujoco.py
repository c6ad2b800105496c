"""Compare a humanoid with MuJoCo: results agree to 1e-10 with rotors as bodies, and differ with armature.

The script builds the spanning tree with all rotors in MuJoCo. MuJoCo's mass matrix and inverse dynamics, projected onto
the independent joints, equal `pc.crba` and `pc.rnea`. A second MuJoCo model has `armature` instead of rotors. In
Pinocchio, the velocity of a free-flyer is [linear; angular] in body axes; in MuJoCo, the linear part is in world axes.
"""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin

import pin_clusters as pc


def quaternion(R: np.ndarray) -> np.ndarray:
    """Return the quaternion of a rotation in MuJoCo's order, w first."""
    return pin.Quaternion(R).coeffs()[[3, 0, 1, 2]]


class Twin:
    """A MuJoCo model of a tree of revolute joints below a free-flyer, called with Pinocchio's q, v, a."""

    def __init__(self, tree: pin.Model) -> None:
        spec = mujoco.MjSpec()
        bodies = {0: spec.worldbody}
        for j in range(1, tree.njoints):  # MuJoCo also orders bodies depth-first
            place, inertia = tree.jointPlacements[j], tree.inertias[j]
            moments, axes = np.linalg.eigh(inertia.inertia)  # MuJoCo stores principal moments
            axes[:, 0] *= np.linalg.det(axes)
            body = bodies[tree.parents[j]].add_body(pos=place.translation, quat=quaternion(place.rotation))
            body.explicitinertial, body.mass, body.ipos = True, inertia.mass, inertia.lever
            body.inertia, body.iquat = moments, quaternion(axes)
            if j == 1:
                body.add_freejoint()
            else:  # revolute
                tree.joints[j].calc(data := tree.joints[j].createData(), np.zeros(1))
                axis, armature = np.asarray(data.S).ravel()[3:], tree.armature[tree.idx_vs[j]]
                body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=axis, armature=armature)
            bodies[j] = body
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)

    def rnea(self, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return torques and mass matrix, in Pinocchio's coordinates."""
        R = pin.Quaternion(q[3:7]).matrix()
        T = np.eye(self.model.nv)
        T[:3, :3] = R  # v of MuJoCo = T v of Pinocchio
        self.data.qpos[:] = np.concatenate([q[:3], q[[6, 3, 4, 5]], q[7:]])
        self.data.qvel[:] = T @ v
        self.data.qacc[:] = T @ a
        self.data.qacc[:3] += R @ np.cross(v[3:6], v[:3])  # d(R v)/dt = R (a + w x v)
        mujoco.mj_inverse(self.model, self.data)
        M = np.zeros((self.model.nv, self.model.nv))
        for i, column in enumerate(np.eye(self.model.nv)):
            mujoco.mj_mulM(self.model, self.data, M[i], column)
        return T.T @ self.data.qfrc_inverse, T.T @ M @ T


def main() -> dict[str, np.ndarray]:
    """Compare on random states; return the RMS error of MuJoCo with armature, and the RMS torque, per joint."""
    model = pc.load("mit_humanoid")
    data = model.createData()
    lumped = pc.baselines.armature_model(model, "diagonal")  # has a different joint order
    bodies, simplified = Twin(model.tree), Twin(lumped)
    order = np.r_[0:6, [lumped.idx_vs[lumped.getJointId(n)] for n in model.independent_joints[1:]]]
    G = pc.coupling_jacobian(model, data, pc.neutral(model))  # constant for gears and belts

    rng, worst, errors, torques = np.random.default_rng(0), np.zeros(2), [], []
    pin.seed(0)
    for _ in range(200):
        q = pc.randomConfiguration(model)
        v, a = rng.normal(0.0, 3.0, model.nv), rng.normal(0.0, 30.0, model.nv)
        tau, M = pc.rnea(model, data, q, v, a), pc.crba(model, data, q)
        other, whole = bodies.rnea(q, G @ v, G @ a)
        worst[0] = max(worst[0], np.abs(G.T @ whole @ G - M).max() / np.abs(M).max())
        worst[1] = max(worst[1], np.abs(G.T @ other - tau).max() / np.abs(tau).max())
        q_own, v_own, a_own = pin.neutral(lumped), np.zeros(model.nv), np.zeros(model.nv)
        q_own[:7], v_own[order], a_own[order] = q[:7], v, a
        for name in model.independent_joints[1:]:
            q_own[lumped.idx_qs[lumped.getJointId(name)]] = q[model.tree.idx_qs[model.getJointId(name)]]
        errors.append(simplified.rnea(q_own, v_own, a_own)[0][order] - tau)
        torques.append(tau)
    print(f"rotors as bodies, largest relative difference: mass matrix {worst[0]:.0e}, torques {worst[1]:.0e}")
    assert worst.max() < 1e-10
    rms = {n: np.sqrt(np.mean(np.square(x), axis=0))[6:] for n, x in (("error", errors), ("torque", torques))}
    print("armature instead: RMS error of the torque, RMS torque [N m]")
    for name, error, torque in zip(model.independent_joints[1:], rms["error"], rms["torque"], strict=True):
        print(f"  {name:18s} {error:8.3f} {torque:8.3f}")
    return rms | {"joints": np.array(model.independent_joints[1:])}


if __name__ == "__main__":
    main()
