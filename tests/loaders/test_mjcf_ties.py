"""What ties joints in MJCF: each equality against what MuJoCo's documentation says of it, on assembled poses."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises, warns

import pin_clusters as pc

ARM = """
<mujoco model="arm"><compiler angle="radian"/>
  <worldbody>
    <body name="one">
      <joint name="a" axis="0 1 0" ref="0.3"/><joint name="b" type="slide" axis="1 0 0" pos="0 0 0.1" ref="-0.1"/>
      <inertial mass="1" pos="0 0 0.2" diaginertia="0.1 0.1 0.1"/>
      <body name="two" pos="0 0 0.5"><joint name="c" axis="1 0 0" ref="0.2"/>
        <inertial mass="1" pos="0.1 0 0.2" diaginertia="0.1 0.1 0.1"/>
        <site name="tip" pos="0 0 0.4"/></body>
    </body>
    <body name="three" pos="1 0 0"><joint name="d" axis="0 0 1"/><joint name="e" axis="0 1 0"/>
      <inertial mass="1" pos="0.1 0 0.2" diaginertia="0.1 0.1 0.1"/><site name="end" pos="0 0.1 0.4"/></body>
  </worldbody>
  <tendon><fixed name="t"><joint joint="c" coef="2"/><joint joint="d" coef="-1"/></fixed>
    <fixed name="u"><joint joint="b" coef="1"/></fixed>
    <spatial name="s"><site site="tip"/><site site="end"/></spatial></tendon>
  {more}
</mujoco>
"""
REF = {"a": 0.3, "b": -0.1, "c": 0.2, "d": 0.0, "e": 0.0}


def load(more: str = "", **options: Any) -> pc.ClusterModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.buildModelFromMJCF(ARM.format(more=more), **options)


def equality(text: str) -> pc.ClusterModel:
    return load(f"<equality>{text}</equality>")


def displacements(model: pc.ClusterModel, rng: np.random.Generator) -> Any:
    """Coordinates from the pose of the file, by joint, at poses of the model."""
    q = pc.neutral(model)
    for _ in range(5):
        q = pc.integrate(model, q, 0.3 * rng.uniform(-1, 1, model.nv))
        yield {n: q[model.tree.joints[model.getJointId(n)].idx_q] - REF[n] for n in REF if model.existJointName(n)}


@pytest.mark.parametrize(
    "coefficients", ["0 1", "0.1 -2 0 0 0", "0.1 0.5 0.3", "0.2 0 0.4", "0 1 0.2 -0.5 0", "0.1 0.4 0.2 0.3 0.5"]
)
def test_joints_follow_polynomials_about_the_pose_of_the_file(coefficients: str, rng: np.random.Generator) -> None:
    model = equality(f'<joint joint1="b" joint2="c" polycoef="{coefficients}"/>')
    assert model.nv == 4
    c = np.array([float(x) for x in coefficients.split()])
    for x in displacements(model, rng):
        assert x["b"] == pytest.approx(np.polynomial.polynomial.polyval(x["c"], c), abs=1e-12)


def test_polynomials_of_the_fourth_degree_pickle_and_are_compiled() -> None:
    model = equality('<joint joint1="b" joint2="c" polycoef="0.1 0.4 0.2 0.3 0.5"/>')
    again = pickle.loads(pickle.dumps(model))
    q, v, a = pc.neutral(model), np.ones(model.nv), np.ones(model.nv)
    assert np.array_equal(pc.rnea(model, model.createData(), q, v, a), pc.rnea(again, again.createData(), q, v, a))
    assert copy.deepcopy(model) is model


def test_an_equality_on_the_second_joint_of_a_body() -> None:
    model = equality('<joint joint1="e" joint2="b" polycoef="0 3"/>')
    G = pc.coupling_jacobian(model, model.createData(), pc.neutral(model))
    e, b = (model.tree.joints[model.getJointId(n)].idx_v for n in ("e", "b"))
    assert np.allclose(G[e], 3.0 * G[b])


@pytest.mark.parametrize(
    "text",
    ['<joint joint1="c" polycoef="0.7"/>', '<joint joint1="c" joint2="a" polycoef="0.7 0 0 0 0"/>',
     '<joint joint1="c" joint2="a" polycoef="0.5 2"/><joint joint1="a" polycoef="0.1 1"/>',
     '<joint joint1="a" joint2="c" polycoef="0.1 0 1"/><joint joint1="c" polycoef="0.7"/>'],
)  # fmt: skip
def test_a_joint_that_is_held_is_fixed_where_it_is_held(text: str) -> None:
    model = equality(text)
    assert not model.existJointName("c")
    free = load()
    q = pc.neutral(free)
    for name in REF:
        if not model.existJointName(name):
            x = {"c": 0.7, "a": 0.1 + 0.49 if "0 1" in text and "0.1 0 1" in text else 0.1}[name]
            q[free.tree.joints[free.getJointId(name)].idx_q] = REF[name] + x
    places = []
    for m, pose in ((model, pc.neutral(model)), (free, q)):
        data = m.tree.createData()
        pin.framesForwardKinematics(m.tree, data, pose)
        places.append(data.oMf[m.tree.getFrameId("tip")].homogeneous)
    assert np.allclose(*places, atol=1e-14)


def test_tendons_tie_sums(rng: np.random.Generator) -> None:
    model = equality('<tendon tendon1="t" tendon2="u" polycoef="0.05 2"/>')
    for x in displacements(model, rng):
        assert 2 * x["c"] - x["d"] == pytest.approx(0.05 + 2 * x["b"], abs=1e-13)
    model = equality('<tendon tendon1="t" polycoef="0.05"/>')
    for x in displacements(model, rng):
        assert 2 * x["c"] - x["d"] == pytest.approx(0.05, abs=1e-13)
    model = equality('<tendon tendon1="t" tendon2="u" polycoef="0.05 2 0.5"/>')
    for x in displacements(model, rng):
        assert 2 * x["c"] - x["d"] == pytest.approx(0.05 + 2 * x["b"] + 0.5 * x["b"] ** 2, abs=1e-12)


def places(model: pc.ClusterModel, rng: np.random.Generator, *names: str) -> Any:
    q = pc.neutral(model)
    for _ in range(3):
        q = pc.integrate(model, q, 0.05 * rng.uniform(-1, 1, model.nv))
        data = model.tree.createData()
        pin.framesForwardKinematics(model.tree, data, q)
        yield [data.oMf[model.tree.getFrameId(n)] for n in names]


def test_a_tendon_between_two_sites_is_a_rod(rng: np.random.Generator) -> None:
    model = equality('<tendon tendon1="s" polycoef="0.01"/>')
    start = next(iter(places(load(), np.random.default_rng(0), "tip", "end")))
    assert len(model.closures) == 1
    free = load()
    data = free.tree.createData()
    pin.framesForwardKinematics(free.tree, data, pc.neutral(free))
    a, b = (data.oMf[free.tree.getFrameId(n)].translation for n in ("tip", "end"))
    for first, second in places(model, rng, "tip", "end"):
        assert np.linalg.norm(first.translation - second.translation) == pytest.approx(np.linalg.norm(a - b) + 0.01)
    assert start is not None


def test_a_connect_holds_the_point_of_the_file(rng: np.random.Generator) -> None:
    model = equality('<connect body1="two" body2="three" anchor="0.1 0.2 0.3"/>')
    assert model.nv == 2
    point = np.array([0.1, 0.2, 0.3])
    free = load()
    data = free.tree.createData()
    pin.framesForwardKinematics(free.tree, data, pc.neutral(free))
    two, three = (data.oMf[free.tree.getFrameId(n, pin.FrameType.BODY)] for n in ("two", "three"))
    other = three.actInv(two.act(point))
    for a, b in places(model, rng, "two", "three"):
        assert np.allclose(a.act(point), b.act(other), atol=1e-10)


def test_a_connect_of_a_robot_of_one_hinge() -> None:
    """On its axis it holds nothing; off it, all there is."""
    hinge = """<mujoco><worldbody><body name="b"><joint name="j" axis="0 1 0"/>
      <inertial mass="1" pos="0.1 0 0.2" diaginertia="1 1 1"/></body></worldbody>
      <equality><connect body1="b" anchor="{}"/></equality></mujoco>"""
    assert pc.buildModelFromMJCF(hinge.format("0 0.3 0")).nv == 1
    with raises(pc.ConstraintError, "'connect b' 'j'"):
        pc.buildModelFromMJCF(hinge.format("0.3 0 0"))


def test_a_weld_between_sites_and_with_a_relative_pose(rng: np.random.Generator) -> None:
    tall = """<mujoco><worldbody>
      <body name="p"><freejoint/><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/></body>
      <body name="x" pos="0.3 0 0"><joint name="x1" axis="1 0 0"/><joint name="x2" axis="0 1 0"/>
        <joint name="x3" axis="0 0 1"/><joint name="x4" type="slide"/>
        <inertial mass="1" pos="0 0 0.2" diaginertia="1 1 1"/><site name="sx" pos="0 0 1" euler="0 30 0"/>
        <body name="y" pos="0 0 1"><joint name="y1" axis="1 0 0"/><joint name="y2" axis="0 1 0"/>
        <joint name="y3" axis="0 0 1"/><joint name="y4" type="slide" axis="0 1 1"/>
        <inertial mass="1" pos="0 0 0.2" diaginertia="1 1 1"/><site name="sy" pos="0 0.2 0"/></body></body>
      </worldbody><equality>{}</equality></mujoco>"""
    weld = '<weld site1="sy" site2="sz"/>'
    fixed = tall.replace("</worldbody>", '<site name="sz" pos="0.3 0.2 1"/></worldbody>')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = pc.buildModelFromMJCF(fixed.format(weld))
        other = pc.buildModelFromMJCF(tall.format('<weld body1="y" relpose="-0.3 0 -1 1 0 0 0"/>'))
        point = pc.buildModelFromMJCF(tall.format('<connect body1="y" anchor="0 0.1 0.2"/>'))
        same = pc.buildModelFromMJCF(tall.format('<weld body1="x" body2="y" anchor="0 0.1 0.2" torquescale="0"/>'))
    assert model.nv == other.nv == 6 + 8 - 6
    assert point.nv == same.nv == 6 + 8 - 3
    end = np.array([0, 0.1, 0.2])
    for (a,) in places(point, rng, "y"):
        assert np.allclose(a.act(end), [0.3, 0.1, 1.2], atol=1e-10)
    for a, b in places(same, rng, "x", "y"):
        assert np.allclose(a.actInv(b).act(end), [0, 0.1, 1.2], atol=1e-10)
    for a, b in places(model, rng, "sy", "sz"):
        assert np.allclose(a.homogeneous, b.homogeneous, atol=1e-9)
    for (a,) in places(other, rng, "y"):
        assert np.allclose(a.inverse().homogeneous, pin.SE3(np.eye(3), np.array([-0.3, 0, -1])).homogeneous, atol=1e-9)


def test_what_is_not_active_is_left_out_and_said() -> None:
    text = ARM.format(more='<equality><joint name="off" joint1="b" joint2="c" active="false"/></equality>')
    with warns(pc.PinClustersWarning, "'joint off'"):
        model = pc.buildModelFromMJCF(text)
    assert model.nv == 5
    text = text.replace(' active="false"', "").replace(
        "<worldbody>", '<option><flag equality="disable"/></option><worldbody>', 1
    )
    with warns(pc.PinClustersWarning, "'joint off'"):
        assert pc.buildModelFromMJCF(text).nv == 5


def test_softness_is_ignored_and_said_once() -> None:
    both = '<joint joint1="b" joint2="c" solref="0.1 1"/><joint joint1="d" joint2="e" solimp="0 1 1"/>'
    more = f"<equality>{both}</equality>"
    with pytest.warns(pc.PinClustersWarning) as caught:
        pc.buildModelFromMJCF(ARM.format(more=more))
    assert [str(w.message) for w in caught] == [
        "robot 'arm': equality constraints are exact: solref and solimp are ignored."
    ]


def test_motors_choose_what_follows() -> None:
    tie = '<equality><joint joint1="b" joint2="c" polycoef="0 2"/></equality>'
    assert "c" in load(tie).independent_joints
    model = load(tie + '<actuator><motor joint="b"/></actuator>')
    assert "b" in model.independent_joints
    assert "c" in model.dependent_joints
    model = load(tie + '<actuator><motor tendon="u"/></actuator>')
    assert "b" in model.independent_joints


def test_what_is_asked_for_is_independent_before_what_a_motor_drives() -> None:
    text = (
        '<equality><joint joint1="b" joint2="c" polycoef="0 2"/></equality>'
        '<actuator><motor joint="b"/><motor joint="c"/></actuator>'
    )
    for name, other in (("b", "c"), ("c", "b")):
        model = load(text, independent=(n for n in ("a", name)))
        assert name in model.independent_joints
        assert other in model.dependent_joints


def test_keyframes_are_kept_and_closed() -> None:
    text = ARM.format(
        more='<equality><connect body1="two" body2="three" anchor="0.1 0.2 0.3"/></equality>'
        '<keyframe><key name="first" qpos="0.31 -0.1 0.2 0 0"/><key qpos="0.3 -0.1 0.2 0 0"/><key name="v"/></keyframe>'
    )
    with warns(pc.PinClustersWarning, "keyframe 'first'"):
        model = pc.buildModelFromMJCF(text)
    assert set({e.key() for e in model.tree.referenceConfigurations}) == {"first", "1"}
    assert model.tree.referenceConfigurations["first"][0] == 0.31
    assert np.abs(pc.neutral(model) - model.tree.referenceConfigurations["first"]).max() < 0.02
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = pc.buildModelFromMJCF(text, keyframe="1")
    assert np.allclose(pc.neutral(model), [0.3, -0.1, 0.2, 0, 0])


def test_free_joints_and_balls_have_pinocchios_quaternions() -> None:
    text = """<mujoco><worldbody><body pos="1 2 3" quat="0 1 0 0"><freejoint/><geom size="0.1"/>
      <body><joint name="ball" type="ball"/><geom size="0.1" pos="0 0 1"/></body></body></worldbody>
      <keyframe><key name="home" qpos="4 5 6 1 0 0 0  0 0 2 0"/></keyframe></mujoco>"""
    model = pc.buildModelFromMJCF(text)
    assert pc.neutral(model).tolist() == [4, 5, 6, 0, 0, 0, 1, 0, 1, 0, 0]
    assert list(model.names)[1:] == ["body1", "ball"]
    model = pc.buildModelFromMJCF(text.replace("qpos", "qvel").replace("4 5 6 1 0 0 0  0 0 2 0", "1"))
    assert pc.neutral(model).tolist() == [1, 2, 3, 1, 0, 0, 0, 0, 0, 0, 1]


def test_a_root_joint_above_a_fixed_body() -> None:
    text = """<mujoco><worldbody><body name="base" pos="0 0 2"><geom size="1"/><body pos="1 0 0"><joint name="j"/>
      <geom size="0.1"/></body></body></worldbody></mujoco>"""
    fixed, free = pc.buildModelFromMJCF(text), pc.buildModelFromMJCF(text, pin.JointModelFreeFlyer())
    assert (fixed.nv, free.nv) == (1, 7)
    assert list(free.names)[1:] == ["root_joint", "j"]
    assert pc.neutral(free)[:7].tolist() == [0, 0, 2, 0, 0, 0, 1]
    planar = pc.buildModelFromMJCF(text, pin.JointModelPlanar())
    data = planar.tree.createData()
    pin.framesForwardKinematics(planar.tree, data, pc.neutral(planar))
    assert data.oMf[planar.tree.getFrameId("base")].translation.tolist() == [0, 0, 2]
