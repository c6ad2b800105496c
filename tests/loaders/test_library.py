"""Robots by name: what ships, what their files say, and wrong names."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises, warns
from support.urdf_text import coupling_matrix

import pin_clusters.files.readers.library as library
from pin_clusters._support.trees import joint_axis, spin_defect
from pin_clusters.errors import ArgumentTypeError, LoadError, PinClustersWarning, UnknownNameError
from pin_clusters.files.readers.urdf import parse_urdf
from pin_clusters.model import ClusterModel

# name: (degrees of freedom by default, of the spanning tree, rotors that are not axisymmetric, mass, warns)
ROBOTS = {
    "jvrc1": (38, 70, 0, 62.24, True),
    "jvrc1_as_published": (38, 70, 22, 62.24, True),
    "mini_cheetah": (18, 30, 0, 8.912, True),
    "mit_humanoid": (24, 42, 0, 25.96855, False),
    "mit_humanoid_leg": (5, 10, 0, 5.330541, False),
    "teleop_arm": (7, 14, 7, 8.499945163, False),
}
# robots with closed loops; test_loop_robots.py has more on them
LOOPS = (
    "ankle_2rsu", "cassie", "cassie_leg", "delta", "digit_leg", "four_bar", "four_bar_change_point", "kangaroo_leg",
    "planar_leg_linkage", "robotiq_2f85", "six_bar", "tello", "tello_with_arms", "watt_six_bar",
)  # fmt: skip
UNREAL = "ignore:.*no real body has the inertia:pin_clusters.errors.PinClustersWarning"


def text_of(name: str) -> str:
    return library.folders()[name].joinpath("model.urdf").read_text()


def parts(name: str, root_joint: object = "default") -> tuple[pin.Model, tuple]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PinClustersWarning)
        return library._parts(name, root_joint, {})[:2]


def test_names():
    assert library.robots() == tuple(sorted([*ROBOTS, *LOOPS, "belt_chain", "geared_chain"]))


@pytest.mark.parametrize("name", ROBOTS)
def test_sizes_and_rotors(name):
    nv, nv_tree, bodies, mass, _ = ROBOTS[name]
    tree, constraints = parts(name)
    G = coupling_matrix(tree, constraints)
    assert G.shape == (nv_tree, nv)
    assert tree.check(tree.createData())  # depth-first
    assert pin.computeTotalMass(tree) == pytest.approx(mass, rel=1e-9)
    rotors = [j for j in range(1, tree.njoints) if tree.names[j].endswith("_rotor")]
    assert len(rotors) == len(constraints)
    defects = [spin_defect(tree.inertias[j], joint_axis(tree.joints[j])) for j in rotors]
    assert sum(d != "" for d in defects) == bodies
    assert all("symmetric" in d for d in defects if d)
    for j in rotors:  # exactly: no noise from rotated frames
        assert np.array_equal(tree.inertias[j].inertia, np.diag(np.diag(tree.inertias[j].inertia)))
        assert not tree.inertias[j].lever.any()


@pytest.mark.parametrize("name", ROBOTS)
def test_root_joints(name):
    default, _ = parts(name)
    floats = ROBOTS[name][0] not in (5, 7)
    assert default.joints[1].shortname() == ("JointModelFreeFlyer" if floats else default.joints[1].shortname())
    fixed, _ = parts(name, None)
    free, _ = parts(name, pin.JointModelFreeFlyer())
    assert free.nv == fixed.nv + 6
    assert default.nv == (free.nv if floats else fixed.nv)
    planar, _ = parts(name, pin.JointModelPlanar())
    assert planar.nv == fixed.nv + 3


@pytest.mark.parametrize("name", ROBOTS)
def test_joints_and_links_are_named_alike(name):
    text = text_of(name)
    joints = re.findall(r'<joint name="(\w+)"', text)
    links = re.findall(r'<link name="(\w+)"', text)
    assert len(links) == len(joints) + 1
    assert {f"{j}_link" for j in joints} == set(links[1:] if f"{links[0]}_link" not in joints else links) - {links[0]}
    for j in joints:
        if j.endswith("_rotor"):
            assert j.removesuffix("_rotor") in joints


@pytest.mark.parametrize("name", ROBOTS)
def test_readme_lists_every_joint(name):
    readme = library.folders()[name].joinpath("README.md").read_text()
    tree, _ = parts(name, None)
    for joint in list(tree.names)[1:]:
        if not joint.endswith("_rotor"):
            assert f"| {joint} |" in readme
    for needed in ("2311.13732", "2411.19753", "MIT licence", "generalized_rbda"):
        assert needed in readme


@pytest.mark.parametrize("name", ROBOTS)
def test_unreal_inertias_are_said_once(name):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        library._parts(name, "default", {})
    assert [w.category for w in said] == [PinClustersWarning] * ROBOTS[name][4]
    if said:
        assert name in str(said[0].message)


def test_transmissions():
    leg, constraints = parts("mit_humanoid_leg")
    names = list(leg.names)[1:]
    independent = [n for n in names if not n.endswith("_rotor")]
    assert independent == ["hip_rz", "hip_rx", "hip_ry", "knee", "ankle"]
    G = coupling_matrix(leg, constraints)
    speed = {n: G[leg.joints[leg.getJointId(n)].idx_v] for n in names}
    np.testing.assert_array_equal(speed["hip_rz_rotor"], [6.0, 0.0, 0.0, 0.0, 0.0])
    np.testing.assert_array_equal(speed["knee_rotor"], [0.0, 0.0, 0.0, 12.0, 0.0])
    np.testing.assert_array_equal(speed["ankle_rotor"], [0.0, 0.0, 0.0, 12.0, 12.0])
    arm, constraints = parts("teleop_arm")
    G = coupling_matrix(arm, constraints)
    roll = G[arm.joints[arm.getJointId("wrist_roll_rotor")].idx_v]
    np.testing.assert_array_equal(roll, [0.0, 0.0, 0.0, -6.0, -6.0, 6.0, 0.0])
    _, constraints = parts("mini_cheetah")
    assert sorted({c.ratio for c in constraints}) == [6.0, 9.33]


def test_jvrc1_differs_from_the_published_one_in_rotors_only():
    ours, _ = parts("jvrc1")
    published, _ = parts("jvrc1_as_published")
    assert list(ours.names) == list(published.names)
    moved = 0
    for j in range(1, ours.njoints):
        assert ours.jointPlacements[j] == published.jointPlacements[j]
        if not ours.names[j].endswith("_rotor"):
            assert ours.inertias[j] == published.inertias[j]
            continue
        np.testing.assert_array_equal(np.diag(published.inertias[j].inertia), [2e-5, 2e-5, 5e-5])
        axis = joint_axis(ours.joints[j])
        np.testing.assert_array_equal(ours.inertias[j].inertia, np.diag(2e-5 + 3e-5 * axis).round(6))
        moved += ours.inertias[j] != published.inertias[j]
    assert moved == 22


def test_files_hold_nothing_that_is_ignored():
    for name in ROBOTS:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            parse_urdf(text_of(name))
        assert not any("ignored" in str(w.message) for w in said)


def test_unknown_robot():
    with raises(UnknownNameError, "'mini_cheeta' 'mini_cheetah'"):
        library.load("mini_cheeta")
    with raises(UnknownNameError, "ankle_2rsu geared_chain"):
        library.load("zzz", n=3)
    with raises(ArgumentTypeError, "NoneType ankle_2rsu belt_chain"):
        library.load(None)


def test_parameters():
    with raises(ArgumentTypeError, "'teleop_arm' 'n'"):
        library.load("teleop_arm", n=3)
    with raises(ArgumentTypeError, "'belt_chain' 'm' n seed"):
        library.load("belt_chain", m=3)
    with raises(LoadError):
        library.load("belt_chain", n=3)
    for root in ("floating", pin.JointModelFreeFlyer, 3):
        for robot in ("teleop_arm", "geared_chain"):
            with raises(ArgumentTypeError, "root_joint"):
                library.load(robot, root)


@pytest.mark.filterwarnings(UNREAL)
@pytest.mark.parametrize("name", ROBOTS)
def test_load_gives_a_cluster_model(name):
    model = library.load(name)
    assert isinstance(model, ClusterModel)
    assert model.name == name
    assert (model.nv, model.tree.nv) == ROBOTS[name][:2]
    assert all(j.endswith("_rotor") for j in model.dependent_joints)
    assert sum(not r.spins for r in model.rotors) == ROBOTS[name][2]


@pytest.mark.parametrize("name", ["geared_chain", "belt_chain"])
def test_load_chains(name):
    assert library.load(name).nv == 12
    model = library.load(name, n=4, seed=2)
    assert (model.nv, model.tree.nv) == (4, 8)
    assert all(r.spins for r in model.rotors)
    assert library.load(name, pin.JointModelFreeFlyer(), n=2).nv == 8


def test_warnings_point_to_the_caller():
    with warns(PinClustersWarning, "'mini_cheetah' 'HR_hip_link' 'HL_hip_link'") as said:
        library.load("mini_cheetah")
    assert Path(said[0].filename) == Path(__file__)


def test_an_installation_without_robots(monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.resources.files", lambda package: tmp_path / "pin_clusters")
    with raises(LoadError):
        library.robots()


def test_robots_inside_the_package_come_first(monkeypatch, tmp_path):
    inside = tmp_path / "pin_clusters" / "robot_models" / "only"
    inside.mkdir(parents=True)
    (inside / "model.urdf").write_text(text_of("teleop_arm"))
    (tmp_path / "robot_models" / "other").mkdir(parents=True)
    (tmp_path / "robot_models" / "other" / "model.urdf").write_text("")
    monkeypatch.setattr("importlib.resources.files", lambda package: tmp_path / "pin_clusters")
    assert library.robots() == ("belt_chain", "geared_chain", "only")
    assert library.load("only").nv == 7
