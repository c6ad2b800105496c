"""What docs/from-mujoco.md says about MuJoCo's conventions, checked against MuJoCo."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import pin_clusters as pc

mujoco = pytest.importorskip("mujoco", minversion="3.2.3")

# both compute the same sums of a few terms of order 1 to 100, so that only rounding is between them
NEAR = 1e-11
ARMATURE = 1e-4
XML = """<mujoco><worldbody>
<body><freejoint/><inertial pos="0.1 0 0.2" mass="2" diaginertia="0.1 0.2 0.25"/>
  <body pos="0 0 -0.3"><joint name="knee" axis="0 1 0"/><inertial pos="0 0 -0.1" mass="1" diaginertia="0.01 0.01 0.01"/>
    <body pos="0 0 -0.3"><joint name="ankle" axis="0 1 0"/>
      <inertial pos="0 0 -0.1" mass="0.5" diaginertia="0.01 0.01 0.01"/>
      <site name="foot" pos="0.05 0 -0.2"/></body></body></body></worldbody>%s</mujoco>"""
TENDON = """<tendon><fixed armature="1e-4">
<joint joint="knee" coef="12"/><joint joint="ankle" coef="12"/></fixed></tendon>"""


class Both:
    """One robot in both, at one state; T maps velocities, ``T a + extra`` accelerations, from here to MuJoCo."""

    def __init__(self, more: str = "") -> None:
        tree, parent = pin.Model(), 0
        for name, kind, z, mass, centre, moments in (
            ("base", pin.JointModelFreeFlyer(), 0.0, 2.0, (0.1, 0.0, 0.2), (0.1, 0.2, 0.25)),
            ("knee", pin.JointModelRY(), -0.3, 1.0, (0.0, 0.0, -0.1), (0.01, 0.01, 0.01)),
            ("ankle", pin.JointModelRY(), -0.3, 0.5, (0.0, 0.0, -0.1), (0.01, 0.01, 0.01)),
        ):
            parent = tree.addJoint(parent, kind, pin.SE3(np.eye(3), np.array([0.0, 0.0, z])), name)
            inertia = pin.Inertia(mass, np.array(centre), np.diag(moments))
            tree.appendBodyToJoint(parent, inertia, pin.SE3.Identity())
        self.ankle, place = parent, pin.SE3(np.eye(3), np.array([0.05, 0.0, -0.2]))
        self.foot = tree.addFrame(pin.Frame("foot", parent, place, pin.OP_FRAME))
        self.model = pc.ClusterModel(tree)
        self.data = self.model.createData()
        rng = np.random.default_rng(0)
        self.q = pc.integrate(self.model, pc.neutral(self.model), rng.normal(size=8))
        self.v, self.a = rng.normal(size=(2, 8))
        R = pin.Quaternion(self.q[3:7]).matrix()
        self.T, self.extra = np.eye(8), np.zeros(8)
        self.T[:3, :3] = R
        self.extra[:3] = R @ np.cross(self.v[3:6], self.v[:3])
        self.there = mujoco.MjModel.from_xml_string(XML % more)
        self.state = mujoco.MjData(self.there)
        self.state.qpos[:] = np.concatenate([self.q[:3], self.q[[6, 3, 4, 5]], self.q[7:]])
        self.state.qvel[:] = self.T @ self.v
        mujoco.mj_forward(self.there, self.state)

    def mass_matrix(self) -> np.ndarray:
        M = np.zeros((8, 8))
        for row, unit in zip(M, np.eye(8), strict=True):
            mujoco.mj_mulM(self.there, self.state, row, unit)
        return M


@pytest.fixture(scope="module")
def both() -> Both:
    return Both()


def test_mass_matrix_and_bias(both: Both) -> None:
    M, T = both.mass_matrix(), both.T
    np.testing.assert_allclose(T.T @ M @ T, pc.crba(both.model, both.data, both.q), rtol=0.0, atol=NEAR)
    here = pc.nonLinearEffects(both.model, both.data, both.q, both.v)
    np.testing.assert_allclose(T.T @ (both.state.qfrc_bias + M @ both.extra), here, rtol=0.0, atol=NEAR)
    assert np.abs(T.T @ both.state.qfrc_bias - here).max() > 0.1, "the linear accelerations of a base do differ"


def test_inverse_dynamics(both: Both) -> None:
    both.state.qacc[:] = both.T @ both.a + both.extra
    mujoco.mj_inverse(both.there, both.state)
    here = pc.rnea(both.model, both.data, both.q, both.v, both.a)
    np.testing.assert_allclose(both.T.T @ both.state.qfrc_inverse, here, rtol=0.0, atol=NEAR)


def test_jacobian_is_local_world_aligned_and_velocity_is_angular_first(both: Both) -> None:
    linear, angular = np.zeros((2, 3, 8))
    mujoco.mj_jacSite(both.there, both.state, linear, angular, 0)
    J = pc.computeFrameJacobian(both.model, both.data, both.q, both.foot, pin.LOCAL_WORLD_ALIGNED)
    np.testing.assert_allclose(np.vstack([linear, angular]) @ both.T, J, rtol=0.0, atol=NEAR)
    velocity = np.zeros(6)
    mujoco.mj_objectVelocity(both.there, both.state, mujoco.mjtObj.mjOBJ_XBODY, 1, velocity, 1)
    np.testing.assert_allclose(velocity, both.v[[3, 4, 5, 0, 1, 2]], rtol=0.0, atol=NEAR)


def test_external_force_acts_at_the_centre_of_mass_in_world_axes() -> None:
    both = Both()
    force, moment = np.array([1.0, 2.0, 3.0]), np.array([0.4, 0.5, 0.6])
    both.state.xfrc_applied[3] = np.concatenate([force, moment])
    mujoco.mj_forward(both.there, both.state)
    pc.forwardKinematics(both.model, both.data, both.q)
    R = both.data.tree.oMi[both.ankle].rotation
    arm = R @ both.model.tree.inertias[both.ankle].lever
    fext = [pin.Force.Zero()] * 3 + [pin.Force(R.T @ force, R.T @ (moment + np.cross(arm, force)))]
    here = pc.aba(both.model, both.data, both.q, both.v, np.zeros(8), fext)
    np.testing.assert_allclose(both.state.qacc, both.T @ here + both.extra, rtol=0.0, atol=NEAR)


def test_armature_of_a_fixed_tendon_is_the_block_of_a_rotor() -> None:
    try:
        both = Both(TENDON)
    except ValueError as error:
        pytest.skip(f"this MuJoCo knows no armature of tendons: {error}")
    row = np.array([0.0] * 6 + [12.0, 12.0])
    here = pc.crba(both.model, both.data, both.q) + ARMATURE * np.outer(row, row)
    np.testing.assert_allclose(both.T.T @ both.mass_matrix() @ both.T, here, rtol=0.0, atol=NEAR)


def test_polynomial_of_a_joint_equality_is_a_gear(both: Both) -> None:
    """joint1 = 9 joint2 closes where the first turns nine times as far."""
    equality = '<equality><joint joint1="ankle" joint2="knee" polycoef="0 9 0 0 0"/></equality>'
    there = mujoco.MjModel.from_xml_string(XML % equality)
    state = mujoco.MjData(there)
    for ankle, gap in ((0.9, 0.0), (0.8, -0.1)):
        state.qpos[7:] = [0.1, ankle]
        mujoco.mj_forward(there, state)
        assert abs(state.efc_pos[0] - gap) < NEAR
    gear = pc.ClusterModel(both.model.tree, [pc.Gear("knee", "ankle", 9.0)])
    assert abs(pc.residual(gear, pc.integrate(gear, pc.neutral(gear), np.eye(7)[6] * 0.1)))[0] < NEAR
