"""What couplings, mimics and the attribute ``independent`` become."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises, warns
from support.urdf_text import FOLLOWS, INERTIAL, LEG, LEG_PARTS, coupling, joint, link, robot, rows

from pin_clusters.constraints import Belt, Gear, LinearCoupling, Rotor
from pin_clusters.errors import LoadError, PinClustersWarning
from pin_clusters.files.readers.urdf import parse_urdf


def test_tree_is_pinocchios():
    tree, *_ = parse_urdf(LEG)
    same = pin.buildModelFromXML(LEG)
    assert list(tree.names) == list(same.names)
    assert tree == same
    assert tree.name == "test_robot"


def test_coupling_sums_the_joints_on_both_paths():
    tree, constraints, *_ = parse_urdf(LEG)
    assert all(isinstance(c, Belt) for c in constraints)
    assert rows(tree, constraints) == {
        "knee_rotor": ({"knee": 12.0}, 0.0),
        "ankle_rotor": ({"knee": -8.0, "ankle": -8.0}, 0.0),
    }


def test_root_joint_is_put_on_top():
    tree, constraints, *_ = parse_urdf(LEG, pin.JointModelFreeFlyer())
    assert tree.names[1] == "root_joint"
    assert tree.nq == 12
    assert rows(tree, constraints)["knee_rotor"] == ({"knee": 12.0}, 0.0)


@pytest.mark.parametrize("flag", ['independent="false"', 'independent="False"'])
def test_the_flagged_joint_follows_even_as_predecessor(flag):
    text = robot(
        link("ground", ""), link("a"), link("b"),
        joint("ja", "ground", "a", attributes=flag), joint("jb", "ground", "b"),
        coupling("a", "b", "4"),
    )  # fmt: skip
    assert rows(*parse_urdf(text)[:2]) == {"ja": ({"jb": 0.25}, 0.0)}


def test_without_flags_the_last_joint_of_the_successor_follows():
    text = robot(
        link("ground", ""), link("a"), link("b"), joint("ja", "ground", "a"), joint("jb", "ground", "b"),
        coupling("a", "b", "4", inside='<offset value="0.5"/>'),
    )  # fmt: skip
    assert rows(*parse_urdf(text)[:2]) == {"jb": ({"ja": 4.0}, 0.5)}


def test_several_flagged_joints_are_shared_out():
    # both belts run over jb; the first needs jb, as its other joints are independent
    text = robot(
        link("ground", ""), link("a"), link("b"), link("c"),
        joint("ja", "ground", "a"), joint("jb", "ground", "b", attributes=FOLLOWS),
        joint("jc", "b", "c", attributes=FOLLOWS),
        coupling("a", "c", "2", "long"), coupling("a", "b", "3", "short"),
    )  # fmt: skip
    assert rows(*parse_urdf(text)[:2]) == {"jc": ({"ja": 2.0, "jb": -1.0}, 0.0), "jb": ({"ja": 3.0}, 0.0)}


def test_extension_names_joints_and_ratios():
    text = robot(
        *LEG_PARTS,
        '<coupling name="a"><dependent joint="knee_rotor"/><independent joint="knee" ratio="-6"/>'
        '<independent joint="ankle" ratio="+6.5"/><offset value="-.25"/></coupling>',
        coupling("foot", "ankle_rotor_link", "1e1", "ankle_belt"),
    )
    tree, constraints, *_ = parse_urdf(text)
    assert rows(tree, constraints)["knee_rotor"] == ({"knee": -6.0, "ankle": 6.5}, -0.25)


def test_links_behind_fixed_joints_are_their_moving_bodies():
    text = robot(
        *LEG_PARTS,
        link("sole"), joint("weld", "foot", "sole", "fixed", None, ""),
        link("magnet"), joint("weld2", "ankle_rotor_link", "magnet", "fixed", None, ""),
        coupling("sole", "magnet", "8", "ankle_belt"), coupling("shank", "knee_rotor_link", "12", "knee_belt"),
    )  # fmt: skip
    assert rows(*parse_urdf(text)[:2])["ankle_rotor"] == ({"knee": 8.0, "ankle": 8.0}, 0.0)


def test_a_link_with_the_name_of_another_joint_is_the_link():
    text = robot(
        link("ground", ""), link("swap"), link("other"), link("r"),
        joint("other", "ground", "swap"), joint("swap", "swap", "other"),
        joint("rotor", "ground", "r", attributes=FOLLOWS),
        coupling("swap", "r", "3"),
    )  # fmt: skip
    assert rows(*parse_urdf(text)[:2]) == {"rotor": ({"other": 3.0}, 0.0)}


def test_mimic_chains_signs_and_offsets():
    text = robot(
        link("ground", ""), link("a"), link("b"), link("c"),
        joint("ja", "ground", "a"),
        joint("jb", "a", "b", inside='<mimic joint="ja" multiplier="-2" offset="0.3"/>'),
        joint("jc", "b", "c", "prismatic", inside='<mimic joint="jb"/>'),
    )  # fmt: skip
    tree, constraints, *_ = parse_urdf(text)
    assert all(isinstance(c, LinearCoupling) for c in constraints)
    assert rows(tree, constraints) == {"jb": ({"ja": -2.0}, 0.3), "jc": ({"jb": 1.0}, 0.0)}
    assert tree.nq == 3


def test_floating_and_planar_joints_inside_the_file():
    text = robot(
        link("world", ""), link("a"), link("b"), link("c"),
        joint("base", "world", "a", "floating", None, ""), joint("slide", "a", "b", "planar", "0 0 1", ""),
        joint("j", "b", "c"),
    )  # fmt: skip
    tree, constraints, *_ = parse_urdf(text)
    assert (tree.nq, tree.nv, constraints) == (7 + 4 + 1, 6 + 3 + 1, ())


def test_continuous_joints_in_a_coupling_become_revolute():
    text = robot(
        link("ground", ""), link("a"), link("b"), link("c"), link("d"),
        joint("ja", "ground", "a", "continuous", limit=""),
        joint("jb", "ground", "b", "continuous", limit='<limit effort="2" velocity="3"/>', attributes=FOLLOWS),
        joint("jc", "ground", "c", "continuous", limit=""),
        joint("jd", "ground", "d", "continuous", limit="", inside='<mimic joint="ja"/>'),
        coupling("a", "b", "9.33"),
    )  # fmt: skip
    with warns(PinClustersWarning, "'ja' 'jb' 'jd'") as said:
        tree, *_ = parse_urdf(text)
    assert len(said) == 1
    nq = {name: j.nq for name, j in zip(tree.names, tree.joints, strict=True)}
    assert nq == {"universe": nq["universe"], "ja": 1, "jb": 1, "jc": 2, "jd": 1}
    free = pin.Model()
    free.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "free")
    iq = tree.joints[tree.getJointId("jb")].idx_q
    assert tree.upperPositionLimit[iq] == free.upperPositionLimit[0]
    assert tree.lowerPositionLimit[iq] == free.lowerPositionLimit[0]


def test_constraints_in_python_tie_joints_of_the_file():
    gears = [Gear("knee", "knee_rotor", 5.0), Gear("ankle", "ankle_rotor", 7.0), Rotor("hip", 6.0, axial_inertia=1e-4)]
    tree, constraints, *_ = parse_urdf(robot(*LEG_PARTS), None, gears)
    assert constraints == tuple(gears)
    assert rows(tree, constraints[:2]) == {"knee_rotor": ({"knee": 5.0}, 0.0), "ankle_rotor": ({"ankle": 7.0}, 0.0)}


def test_continuous_joints_of_constraints_in_python_become_revolute_too():
    text = robot(
        link("ground", ""), link("a"), link("b"),
        joint("ja", "ground", "a", "continuous", limit=""), joint("jb", "ground", "b", "continuous", limit=""),
    )  # fmt: skip
    with warns(PinClustersWarning, "continuous"):
        tree, *_ = parse_urdf(text, None, [Gear("ja", "jb", 9.33)])
    assert tree.nq == 2
    tree, *_ = parse_urdf(text, None, [Rotor("ja", 9.33, axial_inertia=1e-5)])
    assert tree.nq == 4


@pytest.mark.parametrize(
    ("constraints", "named"),
    [((), "'knee_rotor'"), ((Gear("knee", "knee_rotor", 5.0),), "ankle_rotor"),
     ((Gear("knee_rotor", "knee", 5.0), Gear("ankle", "ankle_rotor", 1.0)), "knee_rotor")],
)  # fmt: skip
def test_a_dependent_joint_that_nothing_ties_is_named(constraints, named):
    with raises(LoadError, named):
        parse_urdf(robot(*LEG_PARTS), None, constraints)


def test_an_independent_joint_must_not_follow():
    flag = 'independent="true"'
    parts = (
        link("ground", ""), link("a"), link("b"),
        joint("ja", "ground", "a"), joint("jb", "ground", "b", attributes=flag),
    )  # fmt: skip
    with raises(LoadError, "'jb'"):
        parse_urdf(robot(*parts, coupling("a", "b")))
    with raises(LoadError, "'jb'"):
        parse_urdf(robot(*parts), None, [Gear("ja", "jb", 2.0)])
    with raises(LoadError, "<mimic> 'jb'"):
        parse_urdf(robot(*parts[:-1], joint("jb", "ground", "b", inside='<mimic joint="ja"/>', attributes=flag)))


def test_default_namespace_and_byte_order_mark():
    text = LEG.replace("<robot ", '<robot xmlns="http://drake.mit.edu" xmlns:xacro="http://ros.org/wiki/xacro" ')
    tree, *_ = parse_urdf(text.encode("utf-8-sig"))
    assert tree == parse_urdf(LEG)[0]


def test_meshes_and_materials_that_do_not_exist_do_not_matter():
    visual = (
        '<visual><geometry><mesh filename="package://nowhere/a.stl"/></geometry><material name="undefined"/></visual>'
        '<collision><geometry><mesh filename="gone.dae"/></geometry></collision>'
    )
    text = robot(link("ground", ""), link("a", INERTIAL + visual), joint("ja", "ground", "a"))
    with warns(PinClustersWarning, "'gone.dae'"):
        assert parse_urdf(text)[0].nv == 1


def test_numbers_arrive_unchanged():
    value = repr(float(np.nextafter(1.0, 2.0)))
    text = robot(
        link("ground", ""), link("a", INERTIAL.replace('value="1"', f'value="{value}"')), joint("j", "ground", "a")
    )
    assert parse_urdf(text)[0].inertias[1].mass == float(value)
