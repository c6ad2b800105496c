"""The YAML of extended URDF: loops, kinds of joints, motors; and every bad file."""

from __future__ import annotations

import warnings

import numpy as np
import pinocchio as pin
import pytest
from samples.bad_extended_urdf import CASES, LEG, PLAIN, fixed, hinge
from support.messages import raises

import pin_clusters as pc
from pin_clusters.errors import ArgumentTypeError, LoadError

pytestmark = pytest.mark.jitless


def write(folder, text: str | bytes = PLAIN, urdf: str | None = LEG):
    if urdf is not None:
        (folder / "robot.urdf").write_text(urdf)
    file = folder / "robot.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def read(file, *args, **kwargs):
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", message=".*(continuous joints|closing|redundant)", category=pc.PinClustersWarning
        )
        return pc.buildModelFromYAML(file, *args, **kwargs)


@pytest.mark.parametrize(("kind", "rows"), [("3d", "spherical"), ("6d", "fixed"), ("3D", "spherical"), ("6D", "fixed")])
def test_loops(tmp_path, kind, rows):
    """6d holds two frames together, 3d their origins: the same loops in Python give the same dynamics."""
    text = PLAIN.replace("3d", kind)
    urdf = LEG
    if rows == "fixed":  # a pin: one hinge more
        urdf = LEG.replace(fixed("end_b", "rocker_link", "0 0 0.1"), hinge("pin", "rocker_link", "0 0 0.1")
                           + fixed("end_b", "pin_link", "0 0 0"))  # fmt: skip
    file = write(tmp_path, text, urdf)
    model = read(file)
    assert [c.kind for c in model.constraints] == [rows]
    assert model.independent_joints == ("rocker", "wrist")
    twin = pc.ClusterModel(
        model.tree, [pc.Loop(("coupler_link", [0.3, 0, 0]), ("rocker_link", [0, 0, 0.1]), "revolute", axis=(0, 1, 0))],
        independent=["rocker"],
    ) if rows == "spherical" else None  # fmt: skip
    q = pc.integrate(model, pc.neutral(model), [0.3, 0.2])
    data = model.tree.createData()
    pin.forwardKinematics(model.tree, data, q)
    pin.updateFramePlacements(model.tree, data)
    ends = [data.oMf[model.tree.getFrameId(name)] for name in ("end_a", "end_b")]
    assert np.allclose(ends[0].translation, ends[1].translation, rtol=0.0, atol=1e-9)
    if rows == "fixed":
        assert ends[0].isApprox(ends[1], 1e-9)
    else:
        expected = pc.aba(twin, twin.createData(), q, [0.1, 0.2], [1.0, 2.0])
        assert pc.aba(model, model.createData(), q, [0.1, 0.2], [1.0, 2.0]) == pytest.approx(expected, rel=1e-9)


def test_kinds_of_joints(tmp_path):
    """The body of a joint that is two hinges, a ball or fixed moves as those do."""
    text = PLAIN + "joint_name: [wrist]\njoint_type: [KIND]\n"
    y, z = 0.3, -0.5
    for kind, names, nv in (("UJOINT_ZX", ("wrist_Z", "wrist_X"), 3), ("SPHERICAL", ("wrist",), 4), ("FIXED", (), 1)):
        model = read(write(tmp_path, text.replace("KIND", kind)))
        assert model.nv == nv
        assert set(names) <= set(model.tree.names)
        assert ("wrist" in model.tree.names) == (kind == "SPHERICAL")
        assert model.tree.existFrame("wrist_link")
        q = np.array(pin.neutral(model.tree))
        expected = np.eye(3)
        if kind == "UJOINT_ZX":
            q[model.tree.joints[model.tree.getJointId("wrist_Z")].idx_q] = y
            q[model.tree.joints[model.tree.getJointId("wrist_X")].idx_q] = z
            expected = pin.rpy.rpyToMatrix(0, 0, y) @ pin.rpy.rpyToMatrix(z, 0, 0)
        data = model.tree.createData()
        pin.framesForwardKinematics(model.tree, data, q)
        place = data.oMf[model.tree.getFrameId("wrist_link")]
        assert np.allclose(place.rotation, expected)
        assert np.allclose(place.translation, [0.3, 0.0, 0.2])
        mass = sum(inertia.mass for inertia in model.tree.inertias)
        assert mass == pytest.approx(4.0)


def test_where_the_urdf_is(tmp_path):
    file = write(tmp_path, urdf=None)
    (tmp_path / "other.urdf").write_text(LEG)
    assert read(file).nv == 2  # the only one beside it
    assert read(tmp_path).nv == 2  # the folder
    (tmp_path / "third.urdf").write_text(LEG)
    with raises(LoadError, "2"):
        read(file)
    assert read(file, urdf=tmp_path / "other.urdf").nv == 2


def test_root_joint_constraints_and_independent(tmp_path):
    file = write(tmp_path)
    assert read(file, pin.JointModelFreeFlyer()).nv == 8
    rotor = pc.Rotor("rocker", 50.0, axial_inertia=1e-5)
    assert [r.name for r in read(file, constraints=[rotor]).rotors] == ["rotor:rocker"]
    assert read(file, independent=["crank"]).independent_joints == ("crank", "wrist")


@pytest.mark.parametrize("name", CASES)
def test_refused(name, tmp_path):
    text, words = CASES[name]
    with raises((LoadError, pc.PinClustersError), words):
        read(write(tmp_path, text))


def test_missing_files(tmp_path):
    with raises(LoadError, "robot.urdf"):
        read(write(tmp_path, urdf=None))
    with raises(LoadError, "nowhere.yaml"):
        read(tmp_path / "nowhere.yaml")
    with raises(ArgumentTypeError, "file"):
        read(7)


def test_what_is_left_out_is_said(tmp_path):
    with pytest.warns(pc.PinClustersWarning) as told:
        pc.buildModelFromYAML(write(tmp_path, PLAIN.replace("[rocker]", "[rocker, motor]") + "author: me\n"))
    said = " ".join(str(w.message) for w in told)
    assert "motors are not joints of the tree: 'motor'" in said
    assert "'author'" in said
