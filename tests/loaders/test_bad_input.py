"""Every bad file: which exception, and what its message names."""

from __future__ import annotations

import pinocchio as pin
import pytest
from support.messages import raises, warns
from support.urdf_text import FOLLOWS, INERTIAL, LEG, LEG_PARTS, coupling, joint, link, robot

import pin_clusters.files.readers.urdf as urdf
from pin_clusters.errors import ArgumentTypeError, InertiaError, LoadError, PinClustersError, PinClustersWarning
from pin_clusters.files.readers.urdf import parse_urdf

BASE = (link("ground", ""), link("a"), link("b"))
TWO = (*BASE, joint("ja", "ground", "a"), joint("jb", "ground", "b"))


def inertial(mass: str = "1", **entries: str) -> str:
    values = {"ixx": "1", "iyy": "1", "izz": "1", "ixy": "0", "ixz": "0", "iyz": "0", **entries}
    text = " ".join(f'{k}="{v}"' for k, v in values.items())
    return f'<inertial><mass value="{mass}"/><inertia {text}/></inertial>'


def one(body: str = INERTIAL, **kwargs: str) -> str:
    return robot(link("ground", ""), link("a", body), joint("ja", "ground", "a", **kwargs))


DOCTYPE = '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
LAUGHS = '<!DOCTYPE r [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>'

DRAKE = "http://drake.mit.edu"


def drake(text: str, address: str = DRAKE) -> str:
    return text.replace("<robot ", f'<robot xmlns:drake="{address}" ')


def follower(inside: str) -> str:
    return robot(*TWO[:-1], joint("jb", "ground", "b", inside=inside))


CASES = {
    # the document
    "empty": ("", LoadError, ""),
    "blank": (" \n ", LoadError, ""),
    "malformed": (LEG.replace("</robot>", ""), LoadError, ""),
    "text": ("<robot", LoadError, ""),
    "unknown encoding": (b'<?xml version="1.0" encoding="klingon"?><robot/>', LoadError, ""),
    "wrong encoding": (b'<?xml version="1.0" encoding="utf-8"?><robot name="\xe9"/>', LoadError, ""),
    "deeply nested": ("<robot>" + "<a>" * 100_000 + "</a>" * 100_000 + "</robot>", LoadError, "100"),
    "unbound prefix": (robot("<xacro:include/>"), LoadError, ""),
    "not a URDF": ("<mujoco/>", LoadError, "<mujoco> <robot>"),
    "doctype": (DOCTYPE + '<robot name="&x;"/>', LoadError, ""),
    "entity bomb": (LAUGHS + '<r name="&b;"/>', LoadError, ""),
    "external DTD": ('<!DOCTYPE robot SYSTEM "http://localhost:1/x.dtd"><robot/>', LoadError, ""),
    "undeclared entity": ('<robot name="&x;"/>', LoadError, ""),
    "no links": ("<robot name='x'/>", LoadError, "<link>"),
    # names and topology
    "two links": (robot(*TWO, link("a")), LoadError, "'a'"),
    "two joints": (robot(*TWO, link("c"), joint("ja", "a", "c")), LoadError, "'ja'"),
    "two couplings": (robot(*TWO, coupling("a", "b"), coupling("a", "b")), LoadError, "'belt'"),
    "no link name": (robot(*TWO, "<link/>"), LoadError, "<link>"),
    "no joint name": (robot(*TWO, '<joint type="fixed"/>'), LoadError, "<joint>"),
    "no coupling name": (robot(*TWO, coupling("a", "b").replace('name="belt"', "")), LoadError, "<coupling>"),
    "universe": (robot(*BASE[:2], joint("universe", "ground", "a")), LoadError, "universe"),
    "two roots": (robot(*BASE, joint("ja", "ground", "a")), LoadError, "2 'ground' 'b'"),
    "circle": (robot(*BASE[1:], joint("x", "a", "b"), joint("y", "b", "a")), LoadError, "cycle"),
    "circle aside": (
        robot(*BASE, link("c"), joint("x", "a", "b"), joint("y", "b", "a"), joint("z", "ground", "c")),
        LoadError, "cycle",
    ),
    "two parents": (robot(*TWO, joint("jc", "a", "b")), LoadError, "'b'"),
    "unknown parent": (one().replace('parent link="ground"', 'parent link="grond"'), LoadError, "'grond' 'ground'"),
    "unknown child": (one().replace('child link="a"', 'child link="aa"'), LoadError, "'aa'"),
    "no parent": (one().replace('<parent link="ground"/>', ""), LoadError, "'ja'"),
    "joint type": (one(kind="continous"), LoadError, "'continous' 'continuous'"),
    "no joint type": (one().replace('type="revolute"', ""), LoadError, "'ja'"),
    # numbers
    "no mass": (one('<inertial><inertia ixx="1"/></inertial>'), LoadError, "'a' <mass>"),
    "no inertia": (one('<inertial><mass value="1"/></inertial>'), LoadError, "'a' <inertia>"),
    "mass text": (one(inertial("one")), LoadError, "'a' 'one'"),
    "mass nan": (one(inertial("nan")), LoadError, "'a'"),
    "mass overflow": (one(inertial("1e999")), LoadError, "'a'"),
    "mass underscore": (one(inertial("1_0")), LoadError, "'a'"),
    "no ixy": (one(inertial().replace('ixy="0"', "")), LoadError, "'a' ixy"),
    "mass negative": (one(inertial("-1")), InertiaError, "'a' -1"),
    "inertia negative": (one(inertial(ixx="-1")), InertiaError, "'a'"),
    "inertia indefinite": (one(inertial(ixy="1.5")), InertiaError, "'a'"),
    "two inertials": (one(INERTIAL * 2), LoadError, "'a' 2 <inertial>"),
    "origin": (one().replace('xyz="0.1 0.2 0.3"', 'xyz="0.1 0.2"'), LoadError, "'ja' 3"),
    "origin text": (one().replace('rpy="0.4 0 0"', 'rpy="0.4 0 x"'), LoadError, "'ja' 'x'"),
    "axis zero": (one(axis="0 0 0"), LoadError, "'ja'"),
    "axis nan": (one(axis="0 nan 1"), LoadError, "'ja' 'nan'"),
    "axis of two": (one(axis="0 1"), LoadError, "'ja' 3"),
    "axis without xyz": (one(axis=None, inside="<axis/>"), LoadError, "'ja'"),
    "no limit": (one(limit=""), LoadError, "'ja' <limit lower"),
    "no effort": (one(limit='<limit velocity="1"/>'), LoadError, "'ja'"),
    "limit text": (one(limit='<limit effort="1" velocity="fast"/>'), LoadError, "'ja' 'fast'"),
    # couplings
    "unknown predecessor": (robot(*TWO, coupling("aa", "b")), LoadError, "'belt' predecessor 'aa' 'a'"),
    "unknown successor": (robot(*TWO, coupling("a", "nope")), LoadError, "'belt' 'nope'"),
    "no predecessor": (
        robot(*TWO, coupling("a", "b").replace('<predecessor link="a"/>', "")), LoadError, "'belt' predecessor",
    ),
    "ratio 0": (robot(*TWO, coupling("a", "b", "0")), LoadError, "'belt' 0"),
    "ratio nan": (robot(*TWO, coupling("a", "b", "nan")), LoadError, "'belt' 'nan'"),
    "ratio inf": (robot(*TWO, coupling("a", "b", "inf")), LoadError, "'belt' 'inf'"),
    "ratio text": (robot(*TWO, coupling("a", "b", "six")), LoadError, "'belt' 'six'"),
    "ratio empty": (robot(*TWO, coupling("a", "b", "")), LoadError, "'belt'"),
    "ratio missing": (robot(*TWO, coupling("a", "b", None)), LoadError, "'belt'"),
    "ratio without value": (robot(*TWO, coupling("a", "b", None, inside="<ratio/>")), LoadError, "'belt'"),
    "two ratios": (robot(*TWO, coupling("a", "b", inside='<ratio value="1"/>')), LoadError, "'belt' 2 <ratio>"),
    "to itself": (robot(*TWO, coupling("a", "a")), LoadError, "'belt'"),
    "to the ground": (robot(*TWO, coupling("ground", "b")), LoadError, "'belt'"),
    "along a branch": (
        robot(*BASE, joint("ja", "ground", "a"), joint("jb", "a", "b"), coupling("a", "b")), LoadError, "",
    ),
    "free flyer": (
        robot(*BASE, joint("ja", "ground", "a", "floating"), joint("jb", "ground", "b"), coupling("a", "b")),
        LoadError, "'belt' 'ja' 6",
    ),
    "unknown dependent": (
        robot(*TWO, '<coupling name="x"><dependent joint="jc"/><independent joint="ja" ratio="1"/></coupling>'),
        LoadError, "'x' 'jc'",
    ),
    "no independent": (
        robot(*TWO, '<coupling name="x"><dependent joint="jb"/></coupling>'), LoadError, "'x'",
    ),
    "no dependent": (
        robot(*TWO, '<coupling name="x"><independent joint="ja" ratio="1"/></coupling>'), LoadError, "'x'",
    ),
    "no ratio of one joint": (
        robot(*TWO, '<coupling name="x"><dependent joint="jb"/><independent joint="ja"/></coupling>'),
        LoadError, "'x' 'ja'",
    ),
    "follows itself": (
        robot(*TWO, '<coupling name="x"><dependent joint="jb"/><independent joint="jb" ratio="1"/></coupling>'),
        LoadError, "'x'",
    ),
    "joint twice": (
        robot(*TWO, '<coupling name="x"><dependent joint="jb"/><independent joint="ja" ratio="1"/>'
              '<independent joint="ja" ratio="1"/></coupling>'),
        LoadError, "'x' 'ja'",
    ),
    "mixed": (
        robot(*TWO, '<coupling name="x"><dependent joint="jb"/><ratio value="1"/></coupling>'), LoadError, "",
    ),
    "constraint element": (robot(*TWO, '<constraint name="x"/>'), LoadError, "<constraint>"),
    "loop": (
        robot(*TWO, '<loop name="four_bar" type="ball"><predecessor link="a"/><successor link="b"/></loop>'),
        LoadError, "'four_bar' 'ball'",
    ),
    "misplaced": (one(INERTIAL + '<mimic joint="ja"/>'), LoadError, "'a' <mimic>"),
    "misspelt coupling": (robot(*TWO, "<cupling/>"), LoadError, "<cupling> <coupling>"),
    "misspelt in a joint": (one(inside='<mimick joint="ja"/>'), LoadError, "'ja' <mimick> <mimic>"),
    "misspelt attribute": (one(attributes='independant="false"'), LoadError, "'ja' 'independant' 'independent'"),
    "unknown in inertial": (one(INERTIAL.replace("<mass", "<com/><mass")), LoadError, "'a' <com>"),
    "xacro": (
        robot("<xacro:macro/>").replace("<robot ", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" '),
        LoadError, "xacro",
    ),
    # independence
    "independent text": (one(attributes='independent="no"'), LoadError, "'ja' 'no'"),
    "tied by nothing": (robot(*LEG_PARTS), LoadError, "'knee_rotor'"),
    # mimics
    "mimic unknown": (one(inside='<mimic joint="jaa"/>'), LoadError, "'ja' 'jaa'"),
    "mimic without joint": (one(inside="<mimic/>"), LoadError, "<mimic> 'ja'"),
    "mimic itself": (one(inside='<mimic joint="ja"/>'), LoadError, "'ja' <mimic>"),
    "mimic 0": (
        robot(*TWO[:-1], joint("jb", "ground", "b", inside='<mimic joint="ja" multiplier="0"/>')), LoadError, "'jb' 0",
    ),
    "mimic text": (
        robot(*TWO[:-1], joint("jb", "ground", "b", inside='<mimic joint="ja" multiplier="x"/>')), LoadError, "'x'",
    ),
    "mimic of a fixed joint": (
        robot(*BASE, joint("ja", "ground", "a", "fixed"), joint("jb", "ground", "b", inside='<mimic joint="ja"/>')),
        LoadError, "'ja'",
    ),
    "mimic of a free flyer": (
        robot(*BASE, joint("ja", "ground", "a", "floating"), joint("jb", "ground", "b", inside='<mimic joint="ja"/>')),
        LoadError, "'ja'",
    ),
    "mimic circle": (
        robot(*BASE, joint("ja", "ground", "a", inside='<mimic joint="jb"/>'),
              joint("jb", "ground", "b", inside='<mimic joint="ja"/>')),
        LoadError, "<mimic> 'ja' 'jb'",
    ),
    "mimic into a circle": (
        robot(*BASE, link("c"), joint("ja", "ground", "a", inside='<mimic joint="jb"/>'),
              joint("jb", "ground", "b", inside='<mimic joint="jc"/>'),
              joint("jc", "ground", "c", inside='<mimic joint="jb"/>')),
        LoadError, "'jb' <mimic> 'jc'",
    ),
    "mimic and belt in a circle": (
        robot(*BASE, joint("ja", "ground", "a", inside='<mimic joint="jb"/>'), joint("jb", "ground", "b"),
              coupling("a", "b")),
        LoadError, "'belt' <mimic> 'ja'",
    ),
    # attributes that would be lost
    "mimic multiplyer": (
        follower('<mimic joint="ja" multiplyer="5"/>'), LoadError, "'jb' 'multiplyer' <mimic> 'multiplier'",
    ),
    "mimic ratio": (follower('<mimic joint="ja" ratio="5"/>'), LoadError, "'ratio' <mimic>"),
    "dependent ratio": (
        robot(*TWO, '<coupling name="x"><dependent joint="jb" ratio="2"/>'
              '<independent joint="ja" ratio="1"/></coupling>'),
        LoadError, "'x' 'ratio' <dependent>",
    ),
    "independent ofset": (
        robot(*TWO, '<coupling name="x"><dependent joint="jb"/>'
              '<independent joint="ja" ratio="1" ofset="1"/></coupling>'),
        LoadError, "'x' 'ofset' <independent>",
    ),
    "ratio ofset": (
        robot(*TWO, coupling("a", "b", None, inside='<ratio value="2" ofset="1"/>')), LoadError, "'belt' 'ofset'",
    ),
    "ratio Value": (
        robot(*TWO, coupling("a", "b", None, inside='<ratio value="2" VALUE="3"/>')), LoadError, "'VALUE' 'value'",
    ),
    "offset valu": (robot(*TWO, coupling("a", "b", inside='<offset valu="1"/>')), LoadError, "'valu' 'value'"),
    "predecessor": (
        robot(*TWO, coupling("a", "b").replace('predecessor link="a"', 'predecessor link="a" joint="ja"')),
        LoadError, "'joint' <predecessor>",
    ),
    "dynamics armature": (one(inside='<dynamics armature="3 4"/>'), LoadError, "1 2"),
    "dynamics stiffness": (one(inside='<dynamics spring_stiffness="3"/>'), LoadError, "'spring_stiffness'"),
    "dynamics dampin": (one(inside='<dynamics dampin="3"/>'), LoadError, "'dampin' 'damping'"),
    "joint armature": (one(attributes='armature="1"'), LoadError, "'armature' <joint> pc.Rotor"),
    "limit lowr": (one(limit='<limit effort="1" velocity="1" lowr="0"/>'), LoadError, "'lowr' 'lower'"),
    "origin quaternion": (
        one().replace('rpy="0.4 0 0"', 'quat_xyzw="1 0 0 0"'), LoadError, "'ja' 'quat_xyzw' <origin>",
    ),
    "origin in inertial": (one(INERTIAL.replace("xyz=", "xzy=")), LoadError, "'a' 'xzy' <origin>"),
    "axis rpy": (one(axis=None, inside='<axis xyz="0 0 1" rpy="0 1 0"/>'), LoadError, "'rpy' <axis>"),
    "mass unit": (one(INERTIAL.replace("<mass ", '<mass unit="g" ')), LoadError, "'a' 'unit' <mass>"),
    "inertia IXX": (one(INERTIAL.replace("<inertia ", '<inertia IXX="1" ')), LoadError, "'IXX' 'ixx'"),
    # Drake's elements
    "bushing": (drake(robot(*TWO, "<drake:linear_bushing_rpy/>")), LoadError, "<drake:linear_bushing_rpy>"),
    "ball": (drake(robot(*TWO, "<drake:ball_constraint/>")), LoadError, "<drake:ball_constraint>"),
    "ball of others": (drake(robot(*TWO, "<drake:ball_constraint/>"), "urn:x"), LoadError, "<urn:x:ball_constraint>"),
    "drake joint": (drake(robot(*TWO, "<drake:joint/>")), LoadError, "<drake:joint>"),
    "drake mimic": (drake(one(inside='<drake:mimic joint="x"/>')), LoadError, "'ja' <drake:mimic>"),
    "drake axis": (drake(one(inside='<drake:axis xyz="1 0 0"/>')), LoadError, "'ja' <drake:axis>"),
    "rotor in a joint": (
        drake(one(inside='<drake:rotor_inertia value="1"/>')), LoadError,
        "'ja' <drake:rotor_inertia> pc.Rotor",
    ),
    "rotor in a transmission without a joint": (
        robot(*TWO, '<transmission><actuator><rotor_inertia value="2"/></actuator></transmission>'),
        LoadError, "<transmission> 1 pc.Rotor",
    ),
}  # fmt: skip


@pytest.mark.parametrize("address", [DRAKE, DRAKE + "/", "https://www.drake.mit.edu", "x/drake", "drake"])
def test_drakes_namespace_may_have_any_address(address):
    with raises(LoadError, "<drake:rotor_inertia>"):
        parse_urdf(drake(one(inside="<drake:rotor_inertia/>"), address))


@pytest.mark.parametrize("case", CASES)
def test_bad_text(case, capfd):
    text, error, message = CASES[case]
    with raises(error, message) as caught:
        parse_urdf(text)
    assert isinstance(caught.value, PinClustersError)
    assert isinstance(caught.value, ValueError)
    assert capfd.readouterr().err == ""  # found before Pinocchio's parser writes to the terminal


def test_entities_are_not_read(monkeypatch, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("hidden")
    text = f'<!DOCTYPE r [<!ENTITY x SYSTEM "{secret.as_uri()}">]><robot name="r"><link name="&x;"/></robot>'
    with pytest.raises(LoadError) as caught:
        parse_urdf(text)
    assert "hidden" not in str(caught.value)


def test_missing_file(tmp_path):
    with raises(LoadError, "none.urdf"):
        urdf.buildModelFromUrdf(tmp_path / "none.urdf")
    with raises(LoadError):
        urdf.buildModelFromUrdf(str(tmp_path))
    empty = tmp_path / "empty.urdf"
    empty.write_text("")
    with raises(LoadError, "empty.urdf"):
        urdf.buildModelFromUrdf(empty)


def test_file_and_text_mixed_up():
    with raises(LoadError, "buildModelFromXML"):
        urdf.buildModelFromUrdf(LEG)
    with raises(LoadError, "buildModelFromUrdf"):
        urdf.buildModelFromXML("robot.urdf")


@pytest.mark.parametrize("argument", [None, 3, pin.Model()])
def test_argument_types(argument):
    with pytest.raises(ArgumentTypeError):
        urdf.buildModelFromXML(argument)
    with pytest.raises(ArgumentTypeError):
        urdf.buildModelFromUrdf(argument)


@pytest.mark.parametrize("root", [pin.JointModelFreeFlyer, "free", 1, pin.SE3.Identity()])
def test_root_joint_type(root):
    with raises(ArgumentTypeError, "root_joint"):
        parse_urdf(LEG, root)


@pytest.mark.parametrize("constraints", [None, 3, "gear"])
def test_constraints_type(constraints):
    with raises(ArgumentTypeError, "constraints"):
        parse_urdf(LEG, None, constraints)


def test_root_joint_name_taken():
    text = robot(*BASE[:2], joint("root_joint", "ground", "a"))
    assert parse_urdf(text)[0].nv == 1
    with raises(LoadError, "'root_joint'"):
        parse_urdf(text, pin.JointModelFreeFlyer())


def one_warning(text: str) -> str:
    with pytest.warns(PinClustersWarning) as said:
        parse_urdf(text)
    assert len(said) == 1
    return str(said[0].message)


def test_what_has_no_effect_is_named_once():
    extras = (
        "<gazebo/><gazebo reference='a'/><transmission name='t'/><ros2_control name='r'/>"
        "<drake:x xmlns:drake='http://drake.mit.edu'/><material name='grey'/>"
    )
    text = robot(*TWO, extras).replace("<robot ", '<robot version="1.0" ')
    message = one_warning(text)
    for part in ("<gazebo> (2)", "<transmission>", "<ros2_control>", "<drake:x>"):
        assert part in message
    assert "do not affect the dynamics" in message.partition("unknown contents: <drake:x>")[2]
    assert "do not change" not in message
    assert "material" not in message


def test_unknown_attributes_without_effect_are_named_once():
    limit = '<limit effort="1" velocity="2" acceleration="3" jerk="4" gear_velocity="5" drake:acceleration="6"/>'
    inside = '<dynamics damping="1" mu_coulomb="0"/><axis xyz="0 0 1" rpy="0 0 0"/>'
    message = one_warning(
        drake(one(INERTIAL.replace("<mass ", '<mass name="m" '), axis=None, limit=limit, inside=inside))
    )
    for part in ("'gear_velocity' of <limit>", "'mu_coulomb' of <dynamics>", "'rpy' of <axis>", "'name' of <mass>"):
        assert part in message
    assert "acceleration" not in message
    assert "jerk" not in message


def test_only_programs_are_named():
    message = one_warning(robot(*TWO, "<gazebo/>"))
    assert "for other programs: <gazebo>" in message
    assert "unknown" not in message


def test_unreal_inertias_are_named_once():
    flat = inertial(izz="3")
    message = one_warning(
        robot(link("ground", ""), link("a", flat), link("b", flat), joint("x", "ground", "a"), joint("y", "a", "b"))
    )
    assert "'a', 'b'" in message
    assert "test_robot" in message


def test_long_axes_are_normalised():
    assert "'ja'" in one_warning(one(axis="0 0 2"))
    with warns(PinClustersWarning, "'ja'"):
        tree, *_ = parse_urdf(one(axis="0 0 -1e-200"))
    assert tree == parse_urdf(one(axis="0 0 -1"))[0]
    with warns(PinClustersWarning, "'ja'"):
        assert parse_urdf(one(axis="0 0 2"))[0].joints[1].shortname() == "JointModelRZ"


def test_noise_in_place_of_zero_inertia():
    parse_urdf(one(inertial(ixx="0", iyy="0", izz="0", ixy="-2e-20")))


def test_frames_with_an_origin_in_the_link_are_read():
    assert "<origin>" in one_warning(one(INERTIAL + '<origin xyz="0 0 0"/>'))


def test_a_missing_axis_is_x():
    assert parse_urdf(one(axis=None))[0].joints[1].shortname() == "JointModelRX"


def test_printed_digits_of_an_axis_are_enough():
    parse_urdf(one(axis="0.70710678 0.70710678 0"))  # warnings are errors here


def test_coupling_types():
    parse_urdf(robot(*TWO, coupling("a", "b", attributes='type="rolling"')))
    assert "'sliding'" in one_warning(robot(*TWO, coupling("a", "b", attributes='type="sliding"')))


def test_mimic_on_a_fixed_joint_has_no_effect():
    text = robot(*TWO, link("c"), joint("w", "a", "c", "fixed", inside='<mimic joint="ja"/>'))
    assert "'w'" in one_warning(text)


def test_flag_on_a_fixed_joint_is_harmless():
    text = robot(*TWO, link("c"), joint("w", "a", "c", "fixed", attributes=FOLLOWS))
    assert parse_urdf(text)[0].nv == 2
