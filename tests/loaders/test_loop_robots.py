"""The robots with closed loops that ship with the package: what they are, and that they are closed and move."""

from __future__ import annotations

import re
import warnings
from functools import cache
from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from support.messages import raises, warns

import pin_clusters as pc
import pin_clusters.files.readers.library as library

pytestmark = pytest.mark.jitless

# name: (nv, nv of the tree, independent joints, mass with rods [kg])
ROBOTS = {
    "ankle_2rsu": (2, 4, ("ankle_pitch", "ankle_roll"), 1.1 + 0.1),
    "cassie_leg": (
        7, 10, ("hip_roll", "hip_yaw", "hip_pitch", "knee", "shin", "foot", "heel_spring"), 11.3343 + 0.1567,
    ),
    "delta": (3, 6, ("arm_1", "arm_2", "arm_3"), 1.3 + 0.24),
    "digit_leg": (
        6, 9, ("hip_roll", "hip_yaw", "hip_pitch", "knee", "crank_1", "crank_2"), 8.244373 + 0.03141 + 2 * 0.01206,
    ),
    "four_bar": (1, 3, ("crank",), 0.73),
    "four_bar_change_point": (1, 3, ("crank",), 9.9),
    "kangaroo_leg": (
        6, 26, ("hip_yaw", "hip_roll", "hip_pitch", "thigh", "ankle_roll", "ankle_pitch"),
        2.69131 + 0.0111 + 0.0336 + 4 * 0.0314,
    ),
    "planar_leg_linkage": (2, 4, ("thigh", "shank_driver"), 0.476),
    "six_bar": (3, 5, ("left_1", "left_2", "left_3"), 16.5),
    "tello": (
        16, 26,
        ("root_joint", *(f"{s}_{j}" for s in ("left", "right") for j in (
            "hip_yaw", "hip_rotor_1", "hip_rotor_2", "knee_ankle_rotor_1", "knee_ankle_rotor_2"))),
        9.7494 + 0.7,
    ),
    "tello_with_arms": (
        24, 42,
        ("root_joint", *(f"{s}_{j}" for s in ("left", "right") for j in (
            "hip_yaw", "hip_rotor_1", "hip_rotor_2", "knee_ankle_rotor_1", "knee_ankle_rotor_2",
            "shoulder_ry", "shoulder_rx", "shoulder_rz", "elbow"))),
        9.7494 + 0.7 + 2 * (0.788506 + 0.80125 + 0.905588 + 0.34839),
    ),
    "watt_six_bar": (1, 5, ("crank",), None),
}  # fmt: skip
CLOSED_AT_ZERO = (
    "ankle_2rsu", "delta", "four_bar", "four_bar_change_point", "kangaroo_leg", "planar_leg_linkage", "watt_six_bar",
)  # fmt: skip


@cache
def model_of(name: str) -> pc.ClusterModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.load(name)


def rods(name: str) -> list[pc.Rod]:
    return [c for c in model_of(name).constraints if isinstance(c, pc.Rod)]


@pytest.mark.parametrize("name", ROBOTS)
def test_sizes(name: str) -> None:
    nv, nv_tree, independent, mass = ROBOTS[name]
    model = model_of(name)
    assert (model.nv, model.tree.nv) == (nv, nv_tree)
    assert set(model.independent_joints) == set(independent)
    assert model.tree.check(model.tree.createData())  # depth-first
    if mass is not None:
        assert pin.computeTotalMass(model.tree) + sum(r.mass for r in rods(name)) == pytest.approx(mass, rel=1e-9)


@pytest.mark.parametrize("name", ROBOTS)
def test_reference_pose_is_assembled(name: str) -> None:
    model = model_of(name)
    q = pc.neutral(model)
    assert np.abs(pc.residual(model, q)).max() < 1e-13
    if name == "digit_leg":  # its file has the pose, with six digits
        assert q[model.tree.joints[model.tree.getJointId("tarsus")].idx_q] == pytest.approx(0.455072, abs=1e-5)
        return
    file = ElementTree.fromstring(library.folders()[name].joinpath("model.urdf").read_text())
    said = file.findall("reference_pose/joint")
    if not said:
        np.testing.assert_allclose(q, pin.neutral(model.tree), atol=1e-13)
    for joint in said:
        i = model.tree.joints[model.tree.getJointId(joint.get("name"))].idx_q
        assert q[i] == pytest.approx(float(joint.get("q")), abs=1e-12)


@pytest.mark.parametrize("name", pool.some(ROBOTS, sorted(ROBOTS)[:3], rest="ci"))
def test_the_file_alone_is_the_robot(name: str) -> None:
    text = library.folders()[name].joinpath("model.urdf").read_text()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model, alone = pc.load(name, None), pc.buildModelFromXML(text)
    assert alone.constraints == model.constraints
    assert alone.independent_joints == model.independent_joints
    np.testing.assert_array_equal(alone.tables.params, model.tables.params)
    np.testing.assert_array_equal(pc.neutral(alone), pc.neutral(model))


@pytest.mark.parametrize("name", ROBOTS)
def test_zero_pose_is_as_the_readme_says(name: str) -> None:
    model = model_of(name)
    opening = np.abs(pc.residual(model, pin.neutral(model.tree))).max()
    assert (opening < 1e-13) == (name in CLOSED_AT_ZERO)
    if name.startswith("tello"):
        assert opening == pytest.approx(0.00371875, rel=1e-9)


@pytest.mark.parametrize("name", pool.some(ROBOTS, sorted(ROBOTS)[:3], rest="ci"))
def test_moves_and_stays_closed(name: str) -> None:
    model = model_of(name)
    q, v = pc.neutral(model), np.full(model.nv, 0.02)
    moved = pc.integrate(model, q, v)
    assert np.abs(pc.residual(model, moved)).max() < 1e-13
    np.testing.assert_allclose(pc.difference(model, q, moved), v, atol=1e-12)


@pytest.mark.parametrize("name", ["four_bar", "watt_six_bar"])
def test_cranks_turn_fully(name: str) -> None:
    model = model_of(name)
    q = pc.neutral(model)
    start = q.copy()
    for _ in range(72):
        q = pc.integrate(model, q, np.array([2.0 * np.pi / 72]))
    turns = (q - start) / (2.0 * np.pi)
    np.testing.assert_allclose(turns, np.round(turns), atol=1e-12)


@pytest.mark.parametrize("name", pool.some(ROBOTS, sorted(ROBOTS)[:3], rest="ci"))
def test_dynamics_are_consistent(name: str) -> None:
    model = model_of(name)
    data, rng = model.createData(), np.random.default_rng(1)
    q = pc.integrate(model, pc.neutral(model), 0.02 * rng.uniform(-1.0, 1.0, model.nv))
    v, a = rng.uniform(-1.0, 1.0, (2, model.nv))
    tau = pc.rnea(model, data, q, v, a)
    np.testing.assert_allclose(pc.aba(model, data, q, v, tau), a, rtol=1e-8, atol=1e-8)


def test_gravity_moves_what_hangs_in_a_vertical_plane() -> None:
    for name in ("four_bar", "watt_six_bar", "delta", "ankle_2rsu", "cassie_leg"):
        model = model_of(name)
        assert np.abs(pc.computeGeneralizedGravity(model, model.createData(), pc.neutral(model))).max() > 1e-3
    model = model_of("six_bar")
    assert np.abs(pc.computeGeneralizedGravity(model, model.createData(), pc.neutral(model))).max() < 1e-12


def test_tello_stands_upright_with_flat_feet() -> None:
    model = model_of("tello")
    data = model.tree.createData()
    pin.forwardKinematics(model.tree, data, pc.neutral(model))
    for side in ("left", "right"):
        R = data.oMi[model.tree.getJointId(f"{side}_ankle")].rotation
        np.testing.assert_allclose(R, np.eye(3), atol=1e-12)


def test_delta_platform_is_where_the_arms_put_it() -> None:
    """All arms at the same angle: the platform is on the axis, at the height that Pythagoras gives."""
    model = model_of("delta")
    q = pc.integrate(model, pc.neutral(model), np.full(3, 0.3))
    reach = 0.2 + 0.235 * np.cos(0.3) - 0.045
    height = -0.235 * np.sin(0.3) - np.sqrt(0.65**2 - reach**2)
    place = [q[model.tree.joints[model.tree.getJointId(f"platform_{x}")].idx_q] for x in "xyz"]
    np.testing.assert_allclose(place, [0.0, 0.0, height + 0.52], atol=1e-12)


def test_ankle_cranks_follow_pitch_and_roll() -> None:
    model = model_of("ankle_2rsu")
    at = {n: model.tree.joints[model.tree.getJointId(n)].idx_q for n in list(model.tree.names)[1:]}
    pitch = pc.integrate(model, pc.neutral(model), np.array([0.2, 0.0]))
    assert pitch[at["crank_left"]] == pytest.approx(0.2, abs=1e-10)  # a parallelogram
    assert pitch[at["crank_right"]] == pytest.approx(0.2, abs=1e-10)
    roll = pc.integrate(model, pc.neutral(model), np.array([0.0, 0.1]))
    assert abs(roll[at["crank_left"]]) > 0.05
    assert roll[at["crank_left"]] * roll[at["crank_right"]] < 0.0  # one up, one down


def test_cassie_knee_and_tarsus_are_almost_a_parallelogram() -> None:
    """Agility's rule of thumb for undeflected springs: tarsus = 13 deg - knee, to a degree."""
    model = model_of("cassie_leg")
    at = {n: model.tree.joints[model.tree.getJointId(n)].idx_q for n in list(model.tree.names)[1:]}
    knee = list(model.independent_joints).index("knee")
    q = pc.neutral(model)
    for _ in range(6):
        v = np.zeros(model.nv)
        v[knee] = -0.1
        q = pc.integrate(model, q, v)
        assert q[at["tarsus"]] + q[at["knee"]] == pytest.approx(np.deg2rad(13.0), abs=np.deg2rad(1.0))


@pytest.mark.parametrize("name", ROBOTS)
def test_files_are_complete(name: str) -> None:
    folder = library.folders()[name]
    text, readme = folder.joinpath("model.urdf").read_text(), folder.joinpath("README.md").read_text()
    for joint, kind in re.findall(r'<joint name="(\w+)" type="(\w+)"', text):
        assert f'<link name="{joint}_link"' in text
        assert kind == "fixed" or f"| {joint} |" in readme
    assert "<visual>" in text
    for needed in ("## What it exercises", "## Where the numbers come from", "## Licence"):
        assert needed in readme


@pytest.mark.parametrize("name", ROBOTS)
def test_readme_says_what_is_loaded(name: str) -> None:
    model = model_of(name)
    readme = " ".join(library.folders()[name].joinpath("README.md").read_text().split())
    assert f'Load it with `pc.load("{name}")`' in readme
    free = re.findall(r"(\d+) degrees? of freedom", readme)
    assert int(free[0]) == model.nv
    assert int(re.findall(r"(\d+) in the spanning tree", readme)[0]) == model.tree.nv
    if name.startswith("tello"):
        fixed = pc.load(name, root_joint=None)
        assert (int(free[1]), int(re.findall(r"(\d+) in the spanning tree", readme)[1])) == (fixed.nv, fixed.tree.nv)
    text = library.folders()[name].joinpath("README.md").read_text().partition("## Joints")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:2] == "| "]
    head, *joints = rows
    listed = {row[0]: row for row in joints}
    file = ElementTree.fromstring(library.folders()[name].joinpath("model.urdf").read_text())
    names = [n for n in list(model.tree.names)[1:] if n != "root_joint"]
    assert set(listed) == set(names)
    for joint in names:
        row = listed[joint]
        j = model.tree.getJointId(joint)
        assert row[head.index("independent")] == ("yes" if joint in model.independent_joints else "no")
        parent = model.tree.names[model.tree.parents[j]]
        if parent not in ("universe", "root_joint"):
            assert row[head.index("carried by")] == f"{parent}_link"
        assert row[head.index("axis")].upper() == model.tree.joints[j].shortname()[-1]
        link = file.find(f"link[@name='{joint}_link']/inertial/mass")  # alone: fixed joints add more bodies
        mass = 0.0 if link is None else float(link.get("value"))
        assert float(row[head.index("mass of the link [kg]")]) == pytest.approx(mass, rel=1e-5)


def test_tello_without_its_differentials_says_what_is_missing() -> None:
    text = library.folders()["tello"].joinpath("model.urdf").read_text()
    text = re.sub(r"<mechanism.*?</mechanism>", "", text, flags=re.DOTALL)
    with raises(pc.LoadError, "'left_hip_roll'"):
        pc.buildModelFromXML(text)


def test_load_takes_a_pose_and_independents() -> None:
    # crank up; the coupler goes down to (0.6, -0.3), the mirror image of the parallelogram's (1, 0.5)
    crossed = np.array([np.pi / 2.0, np.arctan2(-0.8, 0.6) - np.pi / 2.0, np.arctan2(-0.3, -0.4)])
    model = pc.load("four_bar_change_point", q_reference=crossed)
    np.testing.assert_allclose(pc.neutral(model), crossed, atol=1e-12)
    assert pc.load("four_bar", independent=["rocker"]).independent_joints == ("rocker",)


def test_a_file_without_keyframe_asks_for_a_reference_pose_if_its_own_is_none() -> None:
    """Cassie's zero pose stretches the linkage of its toes, whose crank and foot are outside of their ranges."""
    text = library.folders()["cassie"].joinpath("model.xml").read_text(encoding="utf-8")
    bare = re.sub(r"<keyframe>.*</keyframe>", "", text, flags=re.DOTALL)
    names = (
        "'left_foot_crank' 'left_foot' 'right_foot_crank' 'right_foot' 'left_plantar_rod' 4 q_reference=... <keyframe>"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        with warns(pc.PinClustersWarning, names):
            model = pc.buildModelFromMJCF(bare)
    # the pose that the message describes, with the joints that it names
    q, tree, cranks = model.q_reference.copy(), model.tree, ["left_foot_crank", "right_foot_crank"]
    for name in cranks:
        i = tree.joints[tree.getJointId(name)].idx_q
        q[i] = 0.5 * (tree.lowerPositionLimit[i] + tree.upperPositionLimit[i])
    q = pc.project(model, q, hold=cranks)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        good = pc.buildModelFromMJCF(bare, q_reference=q)
        pc.buildModelFromMJCF(text)
    assert not any("keyframe" in str(x.message) for x in said)
    assert max(c.K_d for c in pc.condition(good, good.createData(), good.q_reference)) < 100.0
