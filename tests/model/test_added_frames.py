"""``model.with_frames``: the same robot with further frames, and frames of files in every loader."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from support import sdf_text
from support.messages import raises
from support.urdf_text import joint as urdf_joint
from support.urdf_text import link, robot

import pin_clusters as pc


def load(name: str) -> pc.ClusterModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.load(name)


def foot(model: pc.ClusterModel) -> str:
    return str(model.names[-1])


@pytest.mark.parametrize("name", ["cassie", "mini_cheetah", "tello"])
def test_all_else_stays(name: str, rng: np.random.Generator) -> None:
    """Of Cassie, the tree alone with new frames would get other independent joints, as it does not know the motors."""
    model = load(name)
    last = foot(model)
    M = pin.SE3(pin.exp3(rng.normal(size=3)), rng.normal(size=3))
    other = model.with_frames({"toe": (last, M), "heel": ("toe", [0.0, 0.0, -1.0])})
    if name == "cassie":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", pc.PinClustersWarning)
            alone = pc.ClusterModel(other.tree, model.constraints, model.q_reference)
        assert alone.independent_joints != model.independent_joints
    assert other.independent_joints == model.independent_joints
    assert other.preferred == model.preferred
    assert other.nframes == model.nframes + 2
    assert [f.name for f in model.frames] == [f.name for f in other.frames][:-2]
    assert not model.existFrame("toe")
    assert np.array_equal(other.q_reference, model.q_reference)
    assert np.array_equal(pc.neutral(other), pc.neutral(model))
    assert not other.was_changed()
    q, v, tau = pc.neutral(model), rng.normal(size=model.nv), rng.normal(size=model.nv)
    mine, theirs = other.createData(), model.createData()
    assert np.array_equal(pc.aba(other, mine, q, v, tau), pc.aba(model, theirs, q, v, tau))
    pc.framesForwardKinematics(other, mine, q)
    tree_data = other.tree.createData()
    pin.framesForwardKinematics(other.tree, tree_data, q)
    for frame, at in (("toe", M), ("heel", M * pin.SE3(np.eye(3), np.array([0.0, 0.0, -1.0])))):
        k = other.getFrameId(frame)
        assert mine.oMf[k].isApprox(tree_data.oMf[k], 1e-12)
        assert mine.oMf[k].isApprox(mine.oMi[other.getJointId(last)] * at, 1e-12)
    J = pc.computeFrameJacobian(other, mine, q, other.getFrameId("heel"), pin.LOCAL)
    G = pc.coupling_jacobian(other, mine, q)
    full = pin.computeFrameJacobian(other.tree, tree_data, q, other.getFrameId("heel"), pin.LOCAL)
    assert np.abs(J - full @ G).max() < 1e-9
    again = pickle.loads(pickle.dumps(other))
    assert again.existFrame("heel")
    assert again.independent_joints == model.independent_joints
    assert other.with_gravity([0.0, 0.0, 0.0]).existFrame("toe")


def test_places_are_named_as_in_constraints() -> None:
    model = load("mini_cheetah")
    point, M = [0.0, 0.0, -0.2], pin.SE3(np.eye(3), np.array([0.0, 0.0, -0.2]))
    other = model.with_frames(
        {"a": ("FL_knee", point), "b": ("FL_knee", M), "c": ("FL_knee", M.homogeneous), "d": "FL_knee",
         "e": ("a", point), "w": ("universe", point)}
    )  # fmt: skip
    frames = {f.name: f for f in other.frames}
    for name in "abc":
        assert frames[name].placement.isApprox(M, 0.0)
        assert other.names[frames[name].parentJoint] == "FL_knee"
        assert other.frames[frames[name].parentFrame].name == "FL_knee"
    assert frames["d"].placement.isIdentity()
    assert frames["e"].placement.isApprox(M * M)
    assert other.frames[frames["e"].parentFrame].name == "a"
    assert frames["w"].parentJoint == 0


@pytest.mark.parametrize(
    ("frames", "kind", "words"),
    [
        ({"FL_knee": ("FL_knee", [0, 0, 0])}, pc.ModelError, "'FL_knee'"),
        ({"foot": ("FL_kne", [0, 0, 0])}, pc.UnknownNameError, "'FL_kne' 'FL_knee'"),
        ({"foot": ("FL_knee", [0, 0])}, pc.ConstraintError, "'foot' 'FL_knee' pinocchio.SE3"),
        ({"foot": ("FL_knee", [0, 0, np.nan])}, pc.ConstraintError, "'foot' 'FL_knee' with_frames"),
        ({"foot": 7}, pc.ConstraintError, "'foot' with_frames pinocchio.SE3"),
        ({7: "FL_knee"}, pc.ArgumentTypeError, "7"),
        ({"": "FL_knee"}, pc.ArgumentTypeError, "with_frames"),
        ([("foot", "FL_knee")], pc.ArgumentTypeError, "frames"),
    ],
)
def test_refusals(frames: object, kind: type[Exception], words: str) -> None:
    with raises(kind, words):
        load("mini_cheetah").with_frames(frames)  # type: ignore[arg-type]


def test_adding_a_frame_to_the_model_itself_names_the_cure() -> None:
    with raises(pc.NotAvailableError, "model.with_frames"):
        load("four_bar").addFrame(None)


def test_functions_that_were_asked_for_stay() -> None:
    model = pc.specialise(load("four_bar"), ["aba"])
    other = model.with_frames({"tip": (foot(model), [0.0, 0.0, 0.1])})
    assert [f.function for f in other.specialised] == [f.function for f in model.specialised] == ["aba"]


def test_frames_of_files_are_kept(tmp_path: Path) -> None:
    """Links without inertia on fixed joints, sites, frames of SDF; and joints that extended URDF fixes."""
    urdf = robot(
        link("ground", ""), link("leg"), urdf_joint("knee", "ground", "leg"), link("toe", ""),
        urdf_joint("toe_weld", "leg", "toe", "fixed", None, ""),
    )  # fmt: skip
    (tmp_path / "robot.urdf").write_text(
        urdf.replace("</robot>", f"{link('tip')}{urdf_joint('ankle', 'toe', 'tip')}</robot>")
    )
    (tmp_path / "robot.yaml").write_text("joint_name: [ankle]\njoint_type: [FIXED]\n")
    mjcf = """<mujoco><worldbody><body name="leg"><joint name="knee"/><geom size="0.1"/><site name="toe" pos="1 2 3"/>
      <body name="sole" pos="0 0 1"><geom size="0.1"/><site name="heel"/></body></body></worldbody></mujoco>"""
    sdf = sdf_text.model(
        sdf_text.link("leg"), sdf_text.joint("knee", "world", "leg"),
        '<frame name="toe" attached_to="leg"><pose>1 2 3 0 0 0</pose></frame>',
    )  # fmt: skip
    (tmp_path / "r.xml").write_text(mjcf)
    (tmp_path / "r.sdf").write_text(sdf)
    for file, names in (
        ("robot.urdf", ("toe", "toe_weld", "tip")), ("robot.yaml", ("toe", "tip", "ankle")),
        ("r.xml", ("toe", "heel", "sole")), ("r.sdf", ("toe", "leg")),
    ):  # fmt: skip
        model = pc.open_robot(tmp_path / file)
        for name in names:
            assert model.names[model.frames[model.getFrameId(name)].parentJoint] in ("knee", "ankle")
        if file[:2] == "r.":
            assert model.frames[model.getFrameId("toe")].placement.translation.tolist() == [1.0, 2.0, 3.0]
    again = pc.buildModelFromXML(pc.to_urdf(load("four_bar").with_frames({"mark": ("universe", [1.0, 2.0, 3.0])})))
    assert again.frames[again.getFrameId("mark")].placement.translation.tolist() == [1.0, 2.0, 3.0]
