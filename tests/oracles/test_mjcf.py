"""Robots from MJCF against MuJoCo's own reading of the same file: inverse dynamics, passive forces, mass matrix."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises, warns
from support.mujoco_states import Twin

import pin_clusters as pc

mujoco = pytest.importorskip("mujoco")
ROBOTS = ("cassie", "robotiq_2f85")

# Everything that a tree can have, as MuJoCo compiles it; no equality.
TREE = """
<mujoco model="tree">
  <compiler angle="{angle}" eulerseq="zYx" boundmass="0.01" boundinertia="1e-4" balanceinertia="true"
    inertiagrouprange="0 3" settotalmass="7"/>
  <option gravity="0.3 -0.5 -9"/>
  <default>
    <joint damping="0.3"/>
    <geom density="700"/>
    <default class="thin">
      <joint armature="0.02" axis="0 1 0"/>
      <geom type="capsule" size="0.03" shellinertia="true"/>
      <default class="thinner"><geom size="0.01"/></default>
    </default>
  </default>
  <worldbody>
    <body name="base" pos="0.1 0.2 0.3" euler="{turn}">
      <joint name="free" type="free" stiffness="3" damping="0.2"/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.01 0 0.02" euler="{turn}"/>
      <geom type="ellipsoid" size="0.1 0.05 0.2" mass="0.5" group="4"/>
      <frame pos="0 0 0.2" axisangle="1 1 0 {small}" childclass="thin">
        <body name="two" pos="0.1 0 0">
          <joint name="two_first" pos="0.02 0.03 0.01" ref="{small}" stiffness="5 2 1" damping="0.1 0.2 0.3"/>
          <joint name="two_second" type="slide" axis="1 0 1" ref="0.1" stiffness="7" springref="0.2"/>
          <geom fromto="0 0 0 0.3 0.1 0"/>
          <body childclass="thinner" pos="0.3 0.1 0" zaxis="1 0 0.5">
            <geom type="cylinder" size="0.05 0.1"/>
            <joint type="ball" pos="0.01 0.02 0.03" stiffness="2" damping="0.4"/>
            <body name="welded" pos="0 0.1 0" xyaxes="0 1 0 -1 0 0.2" gravcomp="0.4">
              <geom type="sphere" size="0.04" pos="0.02 0 0"/>
              <site name="tip" pos="0 0.1 0.1"/>
            </body>
          </body>
        </body>
      </frame>
      <body name="massless"><joint axis="0 0 -1"/><joint name="massless_b" axis="0.6 0.8 0"/>
        <body name="end" pos="0 0 -0.2"><inertial mass="0.7" pos="0.1 0 0" diaginertia="0.1 0.02 0.5"/>
          <joint name="end" axis="1 0 0" damping="0"/>
          <geom type="box" size="1 1 1"/>
          <site name="low" pos="0.1 0 0"/>
        </body>
      </body>
    </body>
    <body name="other" pos="1 0 0"><joint name="other" type="slide" axis="0 0 1"/>
      <inertial mass="1" pos="0 0 0.1" fullinertia="0.2 0.3 0.25 0.01 0.02 0.03"/>
      <site name="anchor"/>
    </body>
  </worldbody>
  <tendon>
    <fixed name="both" stiffness="3" springlength="0.1 0.2" damping="0.5" armature="0.3">
      <joint joint="two_first" coef="0.5"/><joint joint="two_second" coef="-2"/>
    </fixed>
    <fixed name="alone" armature="0.2"><joint joint="end" coef="3"/></fixed>
    <spatial name="cable" stiffness="30 5" damping="2">
      <site site="tip"/><site site="low"/><site site="anchor"/>
    </spatial>
  </tendon>
  <actuator>
    <motor joint="end" gear="4" armature="0.01" damping="0.02 0.01 0.03"/>
    <motor tendon="both" gear="3" armature="0.02" damping="0.1"/>
  </actuator>
</mujoco>
"""


def twin(text: str) -> Twin:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.buildModelFromMJCF(text)
    return Twin(model, mujoco.MjModel.from_xml_string(text))


def file_of(robot: str) -> Path:
    package = resources.files("pin_clusters")
    places = [Path(str(package)) / "robot_models", Path(str(package)).parent / "robot_models"]
    return next(p / robot / "model.xml" for p in places if p.is_dir())


def states(model: pc.ClusterModel, rng: np.random.Generator, count: int) -> Iterator[tuple[Any, Any, Any]]:
    q = pc.neutral(model)
    for _ in range(count):
        yield q, rng.uniform(-2, 2, model.nv), rng.uniform(-5, 5, model.nv)
        q = pc.integrate(model, q, 0.2 * rng.uniform(-1, 1, model.nv))


def agree(mine: np.ndarray, theirs: np.ndarray, tolerance: float = 1e-10) -> None:
    assert np.abs(theirs).max() > 1e-3  # there is something to compare
    assert np.abs(mine - theirs).max() < tolerance * max(1.0, np.abs(theirs).max())


def compare(twin: Twin, rng: np.random.Generator, count: int = 4) -> None:
    model, data = twin.model, twin.data
    for q, v, a in states(model, rng, count):
        tau = pc.rnea(model, data, q, v, a).copy()
        acting = pc.passive_torque(model, data, q, v, friction_speed=np.inf)
        agree(tau, twin.inverse(q, v, a, passive=False))
        agree(acting, twin.passive(q, v))
        agree(tau - acting, twin.inverse(q, v, a, passive=True))
        agree(pc.crba(model, data, q), twin.mass_matrix(q))


@pytest.mark.parametrize("robot", ROBOTS)
def test_robots_with_loops_have_mujocos_inverse_dynamics_projected(robot: str, rng: np.random.Generator) -> None:
    compare(twin(file_of(robot).read_text()), rng)


def test_cassie_is_as_expected() -> None:
    model = pc.load("cassie")
    free = [name for name in model.independent_joints if "left" in name]
    assert free == [f"left_{j}" for j in ("hip_roll", "hip_yaw", "hip_pitch", "knee", "shin", "heel_spring", "foot")]
    worst = max(c.K_d for c in pc.condition(model, model.createData(), pc.neutral(model)) if "left_knee" in c.cluster)
    assert worst < 6.0


@pytest.mark.parametrize("angle", ["degree", "radian"])
def test_all_that_a_tree_can_have(angle: str, rng: np.random.Generator) -> None:
    turn, small = ("20 -30 40", "17") if angle == "degree" else ("0.3 -0.5 0.7", "0.3")
    compare(twin(TREE.format(angle=angle, turn=turn, small=small)), rng)


def test_the_pose_of_the_file_is_mujocos(rng: np.random.Generator) -> None:
    here = twin(TREE.format(angle="radian", turn="0.3 -0.5 0.7", small="0.3"))
    q = pc.neutral(here.model)
    here.put(q, np.zeros(here.model.nv), np.zeros(here.model.nv))
    assert np.allclose(here.state.qpos, here.there.qpos0, atol=1e-14)
    q = pc.integrate(here.model, q, rng.uniform(-1, 1, here.model.nv))
    here.put(q, np.zeros(here.model.nv), np.zeros(here.model.nv))
    mujoco.mj_forward(here.there, here.state)
    tree, data = here.model.tree, here.model.tree.createData()
    pin.framesForwardKinematics(tree, data, q)
    for site in ("tip", "low", "anchor"):
        place = data.oMf[tree.getFrameId(site)]
        assert np.allclose(place.translation, here.state.site(site).xpos, atol=1e-14)
        assert np.allclose(place.rotation, here.state.site(site).xmat.reshape(3, 3), atol=1e-14)


def test_armature_of_motors_as_rotors_has_the_same_diagonal() -> None:
    text = file_of("cassie").read_text()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        kept, turned = pc.buildModelFromMJCF(text), pc.buildModelFromMJCF(text, armature="rotor")
    assert len(turned.rotors) == 10
    assert not turned.tree.armature.any()
    q = pc.neutral(kept)
    M = pc.crba(kept, kept.createData(), q)
    N = pc.crba(turned, turned.createData(), q)
    i = kept.joint_idx_v("left_knee")
    # of a motor with gear 16: the term A / N with the carrier is what armature leaves out
    assert 0.0 < np.abs(M - N).max() < 0.02
    assert M[i, i] == pytest.approx(N[i, i], abs=1e-12)


def test_the_pose_of_a_ball_that_became_hinges_is_kept() -> None:
    model = pc.load("cassie")
    home = model.tree.referenceConfigurations["home"]
    assert np.abs(pc.residual(model, home)).max() < 1e-9  # the file has it closed, in quaternions
    assert abs(home[model.tree.joints[model.getJointId("left_achilles_rod_1")].idx_q]) > 1e-2


def test_weight_that_actuators_hold_is_not_passive(rng: np.random.Generator) -> None:
    """MuJoCo counts it among the forces of actuators, if there is one."""
    text = """<mujoco><worldbody><body gravcomp="1"><joint name="j" axis="0 1 0" {0}/>
      <geom type="box" size=".1 .1 .1" pos=".3 0 0"/><body gravcomp="0.5"><joint name="k" axis="1 0 0" {0}/>
      <geom type="box" size=".1 .1 .2" pos=".3 0.1 0"/></body></body></worldbody></mujoco>"""
    for given in ("", 'actuatorgravcomp="false"', 'actuatorgravcomp="true"'):
        here = twin(text.format(given))
        for q, v, _ in states(here.model, rng, 2):
            held = here.passive(q, v)
            assert np.any(held) == ("true" not in given)
            assert np.allclose(pc.passive_torque(here.model, here.data, q, v), held, atol=1e-10)
    with warns(pc.PinClustersWarning, "'body1' 'body2' tau"):
        pc.buildModelFromMJCF(text.format(given))


def test_armature_of_a_free_joint_is_another_force_than_mujocos(rng: np.random.Generator) -> None:
    """There it acts on the velocity in the world, which turns in the body."""
    body = """<mujoco><default><joint armature="0.5"/></default><worldbody><body><joint type="free" {}/>
      <inertial pos="0.1 0 0.2" mass="2" diaginertia=".1 .2 .25"/></body></worldbody></mujoco>"""
    with warns(pc.PinClustersWarning, "'body1' armature 0.5 v <freejoint/>"):
        model = pc.buildModelFromMJCF(body.format(""))
    here = Twin(model, mujoco.MjModel.from_xml_string(body.format("")))
    for q, v, a in states(model, rng, 3):
        tau = pc.rnea(model, here.data, q, v, a) + 0.5 * np.r_[np.cross(v[3:], v[:3]), np.zeros(3)]
        agree(tau, here.inverse(q, v, a, passive=False))
        agree(pc.crba(model, here.data, q), here.mass_matrix(q))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pc.buildModelFromMJCF(body.format('armature="0"'))
        pc.buildModelFromMJCF(body.replace('<joint type="free" {}/>', "<freejoint/>"))


def test_limits_of_all_joints_by_a_default(rng: np.random.Generator) -> None:
    """A ball needs no range for them."""
    text = """<mujoco><default><joint limited="true"/></default><worldbody><body><joint type="ball"/>
      <geom type="box" size=".1 .2 .3" pos=".3 0 0"/></body></worldbody></mujoco>"""
    here = twin(text)
    for q, _, _ in states(here.model, rng, 2):
        agree(pc.crba(here.model, here.data, q), here.mass_matrix(q))


SHAPES = (
    'type="sphere" size="0.2"', 'type="capsule" size="0.1 0.3"', 'size="0.1" type="capsule" fromto="1 2 3 4 5 6"',
    'type="ellipsoid" size="0.1 0.2 0.3"', 'type="cylinder" size="0.1 0.3"', 'type="box" size="0.1 0.2 0.3"',
    'type="box" size="0.1" fromto="0 0 0 1 1 0"', 'type="cylinder" size="0.1" fromto="0 0 0 1 1 0" mass="3"',
)  # fmt: skip


@pytest.mark.parametrize("shell", ["true", "false"])
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_have_mujocos_inertia(shape: str, shell: str) -> None:
    place = "" if "fromto" in shape else 'pos="0.1 0.2 0.3" euler="10 20 30"'
    text = f"""<mujoco><worldbody><body><freejoint/><geom {shape} shellinertia="{shell}" {place}/></body></worldbody>
      </mujoco>"""
    if "ellipsoid" in shape and shell == "true":
        with raises(pc.LoadError):
            pc.buildModelFromMJCF(text)
        return
    mine, theirs = pc.buildModelFromMJCF(text).tree.inertias[1], mujoco.MjModel.from_xml_string(text)
    R = pin.Quaternion(*theirs.body_iquat[1]).toRotationMatrix()
    assert mine.mass == pytest.approx(theirs.body_mass[1], rel=1e-12)
    assert np.allclose(mine.lever, theirs.body_ipos[1], atol=1e-12)
    assert np.allclose(mine.inertia, R @ np.diag(theirs.body_inertia[1]) @ R.T, rtol=1e-9, atol=1e-12)


def test_bounds_of_an_empty_body_lie_where_mujoco_lays_them(rng: np.random.Generator) -> None:
    inner = '<body pos="0.3 0.2 0.1" quat="1 1 0 0"><joint name="k" axis="1 2 3"/></body>'
    body = f'<body><joint name="j" axis="0 1 0"/><geom size="0.1"/>{inner}</body>'
    here = twin(f'<mujoco><compiler boundmass="0.5" boundinertia="0.01"/><worldbody>{body}</worldbody></mujoco>')
    for q, _, _ in states(here.model, rng, 3):
        agree(pc.crba(here.model, here.data, q), here.mass_matrix(q))
