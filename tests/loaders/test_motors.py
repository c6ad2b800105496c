"""Motors beside a robot: the file and its lines, the mapping, the template; several stages are one motor."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
import yaml
from samples.motors import MOTORS, URDF, in_python
from support.messages import raises

import pin_clusters as pc
from pin_clusters.files.motor_keys import FILE, LIMITS, MOTOR, STAGE
from pin_clusters.files.readers.motors import with_motors
from pin_clusters.files.writers.motors import from_armature, motors_template, suggested, told
from pin_clusters.studies.design.actuators import motors
from pin_clusters.studies.design.coordinates import coordinates
from pin_clusters.studies.design.sweep import sweep
from pin_clusters.studies.design.transmission import transmission
from pin_clusters.verification import reference


@pytest.fixture
def leg(tmp_path: Path) -> Path:
    file = tmp_path / "leg.urdf"
    file.write_text(URDF, encoding="utf-8")
    return file


def of_text(leg: Path, text: str) -> pc.ClusterModel:
    file = leg.with_name("leg.motors.yaml")
    file.write_text(text, encoding="utf-8")
    return pc.open_robot(leg, motors=file)


def torques(model: pc.ClusterModel) -> np.ndarray:
    rng = np.random.default_rng(3)
    q, v, a = rng.normal(size=(3, model.nv))
    return pc.rnea(model, model.createData(), q, v, a)


def test_a_file_is_what_it_says_in_python(leg: Path) -> None:
    model, other = of_text(leg, MOTORS), pc.open_robot(leg, None, in_python())
    assert model.constraints == other.constraints
    assert np.array_equal(torques(model), torques(other))
    assert model.tree.effortLimit.tolist() == [23.7, 2.0 * 20.0]
    assert model.tree.velocityLimit.tolist() == [30.1, 300.0 / 20.0]
    assert model.inertia_tree.armature.tolist() == [0.0, 0.0]


def test_a_mapping_is_as_good_as_a_file(leg: Path) -> None:
    given = yaml.safe_load(MOTORS)
    given["motors"][0]["rotor_inertia"] = np.float64(1.2e-4)
    assert pc.open_robot(leg, motors=given).constraints == of_text(leg, MOTORS).constraints
    given["motors"][0]["source"] = None  # as a template leaves it: nobody has to say it
    assert pc.open_robot(leg, motors=given).constraints == of_text(leg, MOTORS).constraints
    given["motors"][0]["ratio"] = None
    with raises(pc.LoadError, "motors['motors'][0]['ratio'] ratio 'hip_joint'"):
        pc.open_robot(leg, motors=given)
    given["motors"][0]["ratio"] = True
    with raises(pc.LoadError, "ratio 'hip_joint' 'True'"):
        pc.open_robot(leg, motors=given)
    given["motors"][0]["ratio"] = 10**400
    with raises(pc.LoadError, "'ratio' ratio 'hip_joint'"):
        pc.open_robot(leg, motors=given)
    with raises(pc.ArgumentTypeError):
        pc.open_robot(leg, motors=3)


def test_a_pattern_means_each_joint_that_fits(leg: Path) -> None:
    text = "motors_version: 1\nmotors: [{joint: '*', ratio: 9, rotor_inertia: 1e-5, armature: keep}]"
    found = of_text(leg, text)
    assert [r.name for r in found.motors] == ["rotor:hip_joint", "rotor:knee_joint"]
    assert found.inertia_tree.armature.tolist() == [0.0, 0.02]


def test_the_joint_of_that_name_comes_before_others_that_fit(leg: Path) -> None:
    leg.write_text(URDF.replace('"hip_joint"', '"knee"'), encoding="utf-8")
    found = of_text(leg, "motors_version: 1\nmotors: [{joint: knee, ratio: 9, rotor_inertia: 1e-5}]")
    assert [r.name for r in found.motors] == ["rotor:knee"]


@pytest.mark.parametrize("pattern", ["hip*", "hi?", "[gh]ip", "*"])
def test_a_pattern_that_fits_a_joint_of_another_entry_is_refused_with_both_places(leg: Path, pattern: str) -> None:
    entry = "  - {{joint: '{}', ratio: 9, rotor_inertia: 1e-5, armature: keep{}}}\n"
    one, other = entry.format("hip_joint", ", name: a"), entry.format(pattern, "")
    for pair in ([one, other], [other, one]):
        with raises(pc.LoadError, "4 'hip_joint' 3") as e:
            of_text(leg, "motors_version: 1\nmotors:\n" + "".join(pair))
        assert str(e.value).count("leg.motors.yaml") == 2
    both = "motors_version: 1\nmotors:\n" + one + entry.format("hip", ", name: b")
    assert [r.name for r in of_text(leg, both).motors] == ["a", "b"]  # two motors on one joint, as is said


def test_a_finger_that_follows_is_left_to_the_joint_that_leads(tmp_path: Path) -> None:
    joint = '<joint name="knee_joint" type="revolute">'
    hand = URDF.replace(joint, joint + '<mimic joint="hip_joint" multiplier="-1"/>')
    (tmp_path / "hand.urdf").write_text(hand, encoding="utf-8")
    model = pc.open_robot(tmp_path / "hand.urdf")
    assert [s.joint for s in suggested(model)] == ["hip_joint"]
    motor = {"joint": "*", "ratio": 9, "rotor_inertia": 1e-5, "armature": "keep"}
    found = with_motors(model, {"motors_version": 1, "motors": [motor]})
    assert [r.name for r in found.motors] == ["rotor:hip_joint"]
    assert pc.actuation_matrix(found, found.createData(), pc.neutral(found)).tolist() == [[9.0]]


def test_nothing_is_read_unasked(leg: Path) -> None:
    of_text(leg, MOTORS)
    assert pc.open_robot(leg).rotors == ()


BAD = {
    "unknown key": ("source:", "sorce:", 7, "'sorce' 'hip_joint' 'source'"),
    "unknown key of a stage": ("inertia: 3e-5", "inertja: 3e-5", 12, "'inertja' 'knee'"),
    "unknown key of limits": ("effort: 2\n", "torque: 2\n", 18, "'torque' 'knee'"),
    "unknown key of the file": ("motors_version", "robt: leg\nmotors_version", 1, "'robt'"),
    "key twice": ("ratio: -6.33", "ratio: 1\n    ratio: -6.33", 5, "'ratio'"),
    "unknown joint": ("joint: hip_joint", "joint: hjp_joint", 3, "'hjp_joint' 'hip_joint'"),
    "unknown joint, name first": ("joint: hip_joint", "name: m\n    joint: elbow", 4, "'elbow'"),
    "a joint that does not move": ("joint: hip_joint", "joint: knee_rotor_joint", 3, "'knee_rotor_joint'"),
    "same motor twice": ("name: knee_motor", "name: rotor:hip_joint", 8, "'rotor:hip_joint' 3"),
    "joint twice": ("joint: knee ", "joint: hip ", 8, "'hip_joint' 3"),
    "limits twice": ("joint: hip_joint", "joint: knee\n    name: a\n    armature: keep", 10,
                     "'knee_joint' 3"),
    "no joint": ("joint: hip_joint", "name: hip", 3, "joint"),
    "no inertia": ("    rotor_inertia: 1.2e-4\n", "", 3, "rotor_inertia 'hip_joint'"),
    "no ratio": ("    ratio: -6.33\n", "", 3, "ratio 'hip_joint'"),
    "ratio and stages": ("    stages:", "    ratio: 2\n    stages:", 8, "ratio 'knee'"),
    "no side of limits": ("      at: motor\n", "", 16, "'knee'"),
    "no side that is one": ("at: motor", "at: gear", 17, "'knee' 'gear'"),
    "null": ("-6.33", "null", 4, "ratio 'hip_joint'"),
    "empty": ("-6.33", "", 4, "ratio 'hip_joint'"),
    "zero": ("-6.33", "0", 4, "ratio 'hip_joint' 0"),
    "negative inertia": ("1.2e-4", "-1.2e-4", 5, "rotor_inertia 'hip_joint' 0 -1.2e-4"),
    "negative limit": ("effort: 23.7", "effort: -23.7", 6, "'hip_joint' 0"),
    "negative inertia of a stage": ("3e-5", "-3e-5", 12, "'knee' 0"),
    "unit": ("1.2e-4", "1200 g cm^2", 5, "'1200 g cm^2'"),
    "truth": ("-6.33", "yes", 4, "ratio 'hip_joint' 'yes'"),
    "infinite": ("-6.33", ".inf", 4, "'.inf'"),
    "list for a number": ("-6.33", "[6.33]", 4, "ratio 'hip_joint'"),
    "mapping for a number": ("-6.33", "{value: 6.33}", 4, "ratio 'hip_joint'"),
    "text for a list": ("motors:\n", "motors: 3\nrest:\n", 3, "'rest'"),
    "number for stages": ("      - ratio: 5\n        inertia: 3e-5\n      - {ratio: 4, inertia: 2e-4}\n",
                          "      5\n", 10, "'knee'"),
    "number for limits": ("limits: {at: joint, effort: 23.7, velocity: 30.1}", "limits: 23.7", 6, "'hip_joint' 6"),
    "a stage that is a number": ("- ratio: 5\n        inertia: 3e-5\n", "- 5\n", 11, "'knee'"),
    "another version": ("motors_version: 1", "motors_version: 2", 1, "motors_version 1 '2'"),
    "no version": ("motors_version: 1\n", "", 1, "motors_version 1"),
    "armature that is not explained": ("    armature: replace\n", "", 8, "'knee_joint' armature 0.02 'replace'"),
    "armature by another word": ("armature: replace", "armature: drop", 15, "replace keep 'drop'"),
    "no friction": ("    ratio: -6.33", "    friction: {}\n    ratio: -6.33", 4, "friction 'hip_joint'"),
    "half of a character as name": ("name: knee_motor", 'name: "\\ud800"', 8, "'\\ud800'"),
    "half of a character as joint": ("joint: hip_joint", 'joint: "\\ud800"', 3, "'\\ud800'"),
    "digits of another script": ("-6.33", "\u0e56", 4, "ratio 'hip_joint' '\u0e56'"),
    "digits with a line": ("-6.33", "6_3", 4, "ratio 'hip_joint' '6_3'"),
    "name of a joint": ("name: knee_motor", "name: hip_joint", 8, "'hip_joint'"),
    "long name": ("joint: hip_joint", f"joint: {'x' * 950}", 3, "'" + "x" * 199 + "..."),
    "no YAML": ("motors:\n", "motors:\n  {", 3, "3"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_what_is_wrong_is_said_with_its_line(leg: Path, case: str) -> None:
    old, new, line, words = BAD[case]
    assert old in MOTORS
    with raises(pc.LoadError, words) as error:
        of_text(leg, MOTORS.replace(old, new, 1))
    assert re.search(rf"leg\.motors\.yaml'.*\bline {line}\b", str(error.value)), error.value


def with_itself() -> dict[str, object]:
    again: dict[str, object] = {"motors_version": 1}
    again["motors"] = [again]
    return again


MOTOR_OF_HIP = {"joint": "hip_joint", "ratio": 6.0, "rotor_inertia": 1e-4}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (with_itself(), "motors 20"),
        ({"motors_version": 1, "motors": [MOTOR_OF_HIP | {"rotor_inertia": 10**5000}]}, "rotor_inertia 'hip_joint'"),
        ({"motors_version": 1, "motors": [MOTOR_OF_HIP | {"ratio": -(10**400)}]}, "ratio 'hip_joint'"),
        ({"motors_version": 1, "motors": [MOTOR_OF_HIP | {10**5000: 1}]}, "int 'hip_joint'"),
        ({"motors_version": 1, "motors": [MOTOR_OF_HIP | {"name": "\ud800"}]}, "motors['motors'][0] '\\ud800'"),
        ({"motors_version": 1, "motors": [MOTOR_OF_HIP | {"friction": {}}]}, "motors['motors'][0]['friction']"),
        (
            {"motors_version": 1, "motors": [{"joints": {}, "ratio": 6, "rotor_inertia": 1e-4}]},
            "motors['motors'][0]['joints']",
        ),
        ({"motors_version": 1, "unknown": True, "motors": []}, "motors 'leg' unknown"),
    ],
)
def test_mappings_that_are_no_motors(leg: Path, given: dict[str, object], words: str) -> None:
    with raises(pc.LoadError, words):
        pc.open_robot(leg, motors=given)


def test_what_the_whole_robot_refuses_has_the_name_of_the_file(leg: Path) -> None:
    """The robot has a rotor of that name on another joint."""
    file = leg.with_name("leg.motors.yaml")
    file.write_text("motors_version: 1\nmotors:\n" + MOTORS[MOTORS.index("  - joint: knee") :], encoding="utf-8")
    tree = pc.open_robot(leg).own_tree
    model = pc.ClusterModel(tree, [pc.Rotor("hip_joint", 6.0, axial_inertia=1e-4, name="knee_motor")])
    with raises(pc.LoadError, "leg.motors.yaml 'knee_motor'"):
        with_motors(model, file)


@pytest.mark.parametrize("text", ["", "# nothing\n", "3", "motors_version: 1\nmotors: []"])
def test_a_file_without_motors_is_refused(leg: Path, text: str) -> None:
    with raises(pc.LoadError):
        of_text(leg, text)


def test_a_second_rotor_on_a_joint_of_the_file_is_refused(leg: Path) -> None:
    text = "motors_version: 1\nmotors: [{joint: hip, ratio: 9, rotor_inertia: 1e-5}]"
    with raises(pc.LoadError, "'hip_joint' 'rotor:hip_joint'"):
        with_motors(of_text(leg, MOTORS), yaml.safe_load(text))


def test_every_key_says_what_it_means() -> None:
    for table in (FILE, MOTOR, STAGE, LIMITS):
        assert all(key.about for key in table.values())


# --- several stages are one motor -------------------------------------------------------------------------------------


def test_counts_and_columns_are_those_of_motors(leg: Path) -> None:
    model = of_text(leg, MOTORS)
    data, q = model.createData(), pc.neutral(model)
    assert [r.name for r in model.motors] == ["rotor:hip_joint", "knee_motor"]
    assert len(model.rotors) == 4
    assert pc.actuation_matrix(model, data, q).tolist() == [[-6.33, 0.0], [0.0, 20.0]]
    assert pc.rotor_velocity(model, data, q, [1.0, 1.0]).tolist() == [-6.33, 20.0, 4.0, 1.0]
    assert np.abs(pc.motor_torque(model, data, q, [-6.33, 5.0]) - [1.0, 0.25]).max() < 1e-15
    assert pc.inverse_input_matrix(model, data, q).shape == (2, 2)
    assert reference.operational.motors(model, q).tolist() == pc.actuation_matrix(model, data, q).tolist()
    bare = pc.buildModelFromXML(URDF.replace('armature="0.02"', ""))
    more = pc.crba(model, data, q) - pc.crba(bare, bare.createData(), q)
    assert abs(more[1, 1] - (1e-5 * 20**2 + 3e-5 * 4**2 + 2e-4)) < 1e-12


def test_a_designer_is_told_of_motors_and_of_all_that_they_turn(leg: Path) -> None:
    model = of_text(leg, MOTORS)
    found = [m for cluster in model.clusters for m in motors(model, cluster)]
    assert [(m.name, m.limit) for m in found] == [("rotor:hip_joint", pytest.approx(23.7 / 6.33)), ("knee_motor", 2.0)]
    moved = sweep(model, model.clusters[1], coordinates(model, ("knee_joint",))[0], 3)
    assert transmission(model, moved).motors == pytest.approx(1e-5 * 20**2 + 3e-5 * 4**2 + 2e-4, rel=1e-12)


@pytest.mark.parametrize("approximation", ["best", "exact"])
def test_mjcf_has_a_control_per_motor(leg: Path, approximation: str) -> None:
    text = pc.to_mjcf(of_text(leg, MOTORS), approximation)
    motors = re.findall(r'<motor name="([^"]*)" joint="([^"]*)"', text)
    assert [name for name, _ in motors] == ["rotor:hip_joint", "knee_motor"]
    if approximation == "exact":
        assert [joint for _, joint in motors] == ["rotor:hip_joint", "knee_motor"]
    assert 'ctrlrange="-2 2"' in text


@pytest.mark.filterwarnings("ignore::pin_clusters.errors.PinClustersWarning")
@pytest.mark.parametrize("ratio", ["-6.33", "1", "0.5"])
def test_an_exact_mjcf_opens_with_the_same_motors(leg: Path, ratio: str) -> None:
    model = of_text(leg, MOTORS.replace("-6.33", ratio))
    file = leg.with_name("leg.xml")
    pc.to_mjcf(model, "exact", file=file)
    found = pc.open_robot(file)
    assert {r.name for r in found.motors} == {r.name for r in model.motors}
    assert found.independent_joints == model.independent_joints
    by_name = {r.name: r for r in found.rotors}
    assert not by_name["knee_motor_stage_1"].driven
    for r in model.motors:
        assert by_name[r.name].row == pytest.approx(r.row, rel=1e-12)
    M = [pc.crba(m, m.createData(), pc.neutral(m)) for m in (model, found)]
    assert np.allclose(*M, rtol=1e-5)  # the file's rotors have a little mass
    asked = pc.buildModelFromMJCF(file, independent=["knee_motor"])
    assert "knee_motor" in asked.independent_joints


def test_urdf_keeps_which_rotors_are_motors(leg: Path) -> None:
    model = of_text(leg, MOTORS)
    text = pc.to_urdf(model)
    other = pc.buildModelFromXML(text)
    assert [(r.name, r.driven) for r in other.rotors] == [(r.name, r.driven) for r in model.rotors]
    assert np.abs(torques(other) - torques(model)).max() < 1e-12
    with raises(pc.LoadError, "driven 'no'"):
        pc.buildModelFromXML(text.replace('driven="false"', 'driven="no"', 1))


# --- what a robot's own file says -------------------------------------------------------------------------------------


def test_a_template_has_what_the_file_says_and_names_what_it_has_not(leg: Path) -> None:
    text = motors_template(pc.open_robot(leg, pin.JointModelFreeFlyer()))
    assert 'joint: "hip_joint"\n    ratio: null\n    rotor_inertia: 0.00012' in text
    assert 'source: "link hip_rotor of the robot"' in text
    assert "rotor_inertia: 0.00011\n    armature: replace  # 0.02" in text
    assert text.count("limits: {at: joint, effort: 40, velocity: 20}") == 2
    assert text.count("joint: ") == 2 + 1  # no free joint; one in the comment
    line = text.splitlines().index("    ratio: null") + 1
    with raises(pc.LoadError, f"{line} ratio 'hip_joint'"):
        of_text(leg, text)
    filled = of_text(leg, text.replace("null", "9"))
    assert [r.axial_inertia for r in filled.motors] == pytest.approx([1.2e-4, 1.1e-4], rel=1e-12)
    with raises(pc.ModelError, "'leg'"):
        motors_template(filled)


def test_a_link_that_hangs_from_elsewhere_is_no_rotor_of_the_joint() -> None:
    text = URDF.replace(
        '<parent link="base"/><child link="hip_rotor"/>', '<parent link="shank"/><child link="hip_rotor"/>'
    )
    assert [s.link for s in suggested(pc.buildModelFromXML(text))] == ["", "knee_rotor"]


def test_armature_becomes_rotors_that_reflect_it(leg: Path) -> None:
    model = pc.open_robot(leg, pin.JointModelFreeFlyer())
    found = with_motors(model, from_armature(model, 10.0))
    assert [(r.source.joints, r.axial_inertia) for r in found.motors] == [(("knee_joint",), 0.02 / 100)]
    q = pc.neutral(model)
    both = [pc.crba(m, m.createData(), q)[-1, -1] for m in (model, found)]
    assert both[0] == pytest.approx(both[1], rel=1e-12)
    assert "Joints with armature: 1 (knee_joint: 0.02, " in told(model)
    with raises(pc.ModelError, "'leg' armature"):
        from_armature(found, 10.0)


KEYS = """
    model: mini_cheetah_hip
    armature: keep
    peak_torque: 2.5
    voltage: 24
    torque_constant: 0.1
    resistance: 0.5
    friction: {viscous: 1e-4, coulomb: 0.02}
    gear: {efficiency: 0.9, back_efficiency: -0.2}
"""


def test_what_a_motor_can_give_and_loses(leg: Path) -> None:
    model = of_text(leg, "motors_version: 1\nmotors:\n  - joint: hip" + KEYS)
    motor = model.rotors[0].motor
    assert motor is not None
    known = pc.motors()["mini_cheetah_hip"]
    assert (motor.name, motor.ratio, motor.rotor_inertia, motor.source) == (known.name, 6.0, 6.3e-5, known.source)
    assert (motor.peak_torque, motor.voltage, motor.torque_constant, motor.resistance) == (2.5, 24.0, 0.1, 0.5)
    assert (motor.viscous, motor.coulomb, motor.efficiency, motor.back_efficiency) == (1e-4, 0.02, 0.9, -0.2)
    assert model.rotors[0].row[0] == 6.0
    plain = of_text(leg, MOTORS)
    assert [r.motor for r in plain.rotors] == [None] * len(plain.rotors)
    own = {"joint": "hip", "ratio": 9, "rotor_inertia": 1e-5, "rated_torque": 1, "no_load_speed": 200, "source": "mine"}
    stated = pc.open_robot(leg, motors={"motors_version": 1, "motors": [own]}).rotors[0].motor
    assert stated == pc.Motor("rotor:hip_joint", rated_torque=1.0, no_load_speed=200.0, source="mine")


@pytest.mark.parametrize(
    ("more", "line", "words"),
    [
        ("model: mini_cheeta_hip", 3, "'mini_cheeta_hip' 'mini_cheetah_hip'"),
        ("friction: {viscos: 1}", 4, "'viscos' 'hip' 'viscous'"),
        ("friction: {viscous: -1}", 4, "viscous 'hip' -1"),
        ("friction: 1", 4, "'hip' viscous"),
        ("gear: {back_efficiency: 0.5}", 4, "efficiency 'hip'"),
        ("gear: {efficiency: 1.5}", 3, "efficiency 0 1 1.5"),
        ("gear: {efficiency: 0.8, back_efficiency: 2}", 3, "back_efficiency 2"),
        ("peak_torque: 0", 4, "peak_torque 'hip' 0"),
        ("voltage: 48 V", 4, "voltage 'hip' '48 V' [V]"),
        ("torque: 3", 4, "'torque' 'hip' 'peak_torque'"),
    ],
)
def test_what_a_motor_cannot_be(leg: Path, more: str, line: int, words: str) -> None:
    text = f"motors_version: 1\nmotors:\n  - joint: hip\n    {more}\n"
    if not more.startswith("model"):
        text += "    ratio: 6\n    rotor_inertia: 1e-5\n"
    with raises(pc.LoadError, f"{line} {words}"):
        of_text(leg, text)


def test_a_model_without_a_number_asks_for_it(leg: Path) -> None:
    with raises(pc.LoadError, "3 rotor_inertia 'hip'"):
        of_text(leg, "motors_version: 1\nmotors:\n  - joint: hip\n    ratio: 6\n")
    with raises(pc.LoadError, "ratio"):
        of_text(leg, "motors_version: 1\nmotors:\n  - joint: hip\n    rotor_inertia: 1e-5\n")
