"""Models of MuJoCo that ``pc.to_mjcf`` did not write: other frames and bodies, offsets of joints, sleeping bodies."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pinocchio as pin
import pytest
from support import exact_mujoco as em

import pin_clusters as pc
from pin_clusters._support.trees import joint_axis

pytest.importorskip("mujoco", minversion="3.11.0")

THEIRS = """<mujoco model="leg">
  <compiler angle="degree"/>
  <option integrator="Euler"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    {first}
    <body name="base" pos="0.1 0 1" euler="10 20 30"><freejoint name="root"/>
      <geom name="trunk" type="box" size=".1 .15 .2" pos=".01 .02 .03" mass="3"/>
      <body name="thigh" pos="0 0.1 0" euler="0 15 90"><joint name="hip" axis="1 1 0" pos=".02 0 .01" armature=".01"/>
        <geom name="g_thigh" type="capsule" fromto="0 0 0 0 .05 -.3" size=".03" mass="1"/>
        <body name="shank" pos="0 0 -.3" euler="40 0 0"><joint name="knee" axis="0 1 0" {ref}/>
          <geom name="g_shank" type="capsule" fromto="0 0 0 .1 0 -.3" size=".02" mass=".5"/>
          <body name="foot" pos="0 0 -.3"><geom type="box" size=".1 .02 .01" mass=".2"/></body>
        </body></body></body>
    {last}
  </worldbody>
</mujoco>"""
BOX = (
    '<body name="box{0}" pos="3 {0} 1"><freejoint name="of_box{0}"/><geom type="box" size=".1 .2 .1" mass="1"/></body>'
)


def made(ref: str = "", first: str = "", last: str = "", **options: Any) -> tuple[pc.ClusterModel, Any]:
    robot = pc.buildModelFromMJCF(THEIRS.format(ref=ref, first="", last=""))
    hip = pc.Rotor("hip", 8.0, axial_inertia=1e-4, armature="replace")
    belt = pc.Rotor(["hip", "knee"], [9.0, -9.0], axial_inertia=2e-4, armature="replace", name="belt")
    model = pc.ClusterModel(robot.tree, [hip, belt], robot.q_reference)
    spec = mujoco.MjSpec.from_string(THEIRS.format(ref=ref, first=first, last=last))
    for name, value in options.items():
        setattr(spec.option, name, value)
    return model, spec.compile()


def error(model: pc.ClusterModel, tree: Any, rng: np.random.Generator) -> float:
    """Return the largest relative error of the robot's accelerations; objects are in random states, too."""
    d, data, largest = mujoco.MjData(tree), model.createData(), 0.0
    at, base = em.Coordinates(model, tree), tree.joint("root")
    qpos, dofs = np.arange(7) + base.qposadr[0], np.arange(6) + base.dofadr[0]
    for q, v, tau in em.states(model, rng, 10):
        d.qvel[:] = rng.normal(size=tree.nv)
        d.qpos[at.qpos], d.qvel[at.dofs], d.qfrc_applied[at.dofs] = q[at.q], v[at.v], tau[at.v]
        d.qpos[qpos], d.qvel[dofs] = q[[0, 1, 2, 6, 3, 4, 5]], at.velocity(q, v)
        d.qfrc_applied[dofs] = at.velocity(q, tau)
        mujoco.mj_forward(tree, d)
        a = pc.aba(model, data, q, v, tau)
        there = np.concatenate([at.rotation(q) @ (a[:3] + np.cross(v[3:6], v[:3])), a[3:6], a[at.v]])
        here = np.concatenate([d.qacc[dofs], d.qacc[at.dofs]])
        largest = max(largest, float(np.abs(here - there).max() / np.abs(there).max()))
    return largest


@pytest.mark.parametrize("ref", ["", 'ref="20"'])
@pytest.mark.parametrize(("first", "last"), [("", ""), (BOX.format(0), BOX.format(1))])
def test_frames_offsets_and_other_bodies(ref: str, first: str, last: str, rng: np.random.Generator) -> None:
    model, tree = made(ref, first, last)
    with pc.mujoco.Exact(model, tree):
        assert error(model, tree, rng) < 1e-12
    assert error(model, tree, rng) > 1e-2


def test_rotors_in_bodies_with_other_frames(rng: np.random.Generator) -> None:
    """MuJoCo's frames are turned relative to the model's; rotors have opposite axes or are on their link."""
    model, _ = made()
    rotors = [
        pc.Rotor("knee", 7.0, axial_inertia=2e-5, carrier="hip", axis=[1, 2, 3], armature="keep", name="one"),
        pc.Rotor("knee", 5.0, axial_inertia=3e-5, carrier="hip", axis=[-1, -2, -3], armature="keep", name="opposite"),
        pc.Rotor(["hip", "knee"], [3.0, 4.0], axial_inertia=1e-5, carrier="knee", axis=[0, 1, 1], name="on its link"),
    ]
    turned, turn = pin.Model(), pin.SE3(pin.utils.rpyToMatrix(0.3, -0.5, 0.7), np.zeros(3))
    turned.name = "turned"
    for j in range(1, model.tree.njoints):
        before = turn if j > 2 else pin.SE3.Identity()
        after = turn if j > 1 else pin.SE3.Identity()  # the frame of the floating base is MuJoCo's
        axis = joint_axis(model.tree.joints[j])
        joint = model.tree.joints[j] if axis is None else pin.JointModelRevoluteUnaligned(after.rotation.T @ axis)
        placement = before.inverse() * model.tree.jointPlacements[j] * after
        turned.addJoint(j - 1, joint, placement, model.tree.names[j])
        turned.appendBodyToJoint(j, after.actInv(model.tree.inertias[j]), pin.SE3.Identity())
    other = pc.ClusterModel(turned, rotors)
    _, tree = made()
    tree.dof_armature[:] = 0.0
    with pc.mujoco.Exact(other, tree):
        assert error(other, tree, rng) < 1e-11


def test_masses_that_differ_in_other_frames(rng: np.random.Generator) -> None:
    model, tree = made()
    tree.body_ipos[2:4] += 0.01
    tree.body_mass[1] *= 1.0005
    tree.body_inertia[3] *= 1.2
    with pc.mujoco.Exact(model, tree):
        assert error(model, tree, rng) < 1e-12
    tree.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    with pc.mujoco.Exact(model.with_gravity([0.0, 0.0, 0.0]), tree):
        assert error(model.with_gravity([0.0, 0.0, 0.0]), tree, rng) < 1e-12


def test_sleeping_bodies() -> None:
    """MuJoCo does not compute the mass matrix of a sleeping robot again, so Delta M must not be added again."""
    model, tree = made(enableflags=int(mujoco.mjtEnableBit.mjENBL_SLEEP), gravity=[0, 0, 0], sleep_tolerance=1.0)
    d = mujoco.MjData(tree)
    with pc.mujoco.Exact(model, tree):
        mujoco.mj_forward(tree, d)
        M = d.M.copy()
        for _ in range(50):
            mujoco.mj_step(tree, d)
        assert (d.tree_asleep >= 0).any()
        np.testing.assert_allclose(d.M, M, rtol=1e-12, atol=1e-15)


def test_a_sliding_joint_with_a_rotor(rng: np.random.Generator) -> None:
    """MuJoCo copies the mass matrix of simple bodies, with armature, from ``dof_M0``."""
    text = (
        "<mujoco><option integrator='Euler'/><worldbody><body name='cart'>"
        "<joint name='slide' type='slide' axis='1 0 0' armature='2'/>"
        "<geom type='box' size='.1 .1 .1' mass='1'/></body></worldbody></mujoco>"
    )
    robot, tree = pc.buildModelFromMJCF(text), mujoco.MjModel.from_xml_string(text)
    model = pc.ClusterModel(
        robot.tree, [pc.Rotor("slide", 100.0, axial_inertia=1e-4, armature="replace", axis=[0, 1, 0])]
    )
    d = mujoco.MjData(tree)
    d.qfrc_applied[0] = 6.0
    with pc.mujoco.Exact(model, tree):
        mujoco.mj_forward(tree, d)
        assert d.qacc[0] == pytest.approx(
            pc.aba(model, model.createData(), np.zeros(1), np.zeros(1), [6.0])[0], rel=1e-12
        )
        assert d.qacc[0] == pytest.approx(3.0, rel=1e-12)
