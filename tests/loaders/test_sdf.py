"""SDF: where links are, what joints do, what gearboxes and loops tie; by geometry, Pinocchio and other routes."""

from __future__ import annotations

import math
import re
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises, warns
from support.sdf_text import BODY, INERTIAL, axis, gearbox, joint, link, model

import pin_clusters as pc

pytestmark = pytest.mark.jitless
ROBOTS = Path(pin.__file__).parents[4] / "share" / "example-robot-data" / "robots"
CASSIE = sorted((ROBOTS / "cassie_description" / "robots").glob("*.sdf"))
HALF = math.sqrt(0.5)
DRAKE = 'xmlns:d="http://drake.mit.edu"'


def read(text: str, *args, **kwargs):
    """Read a model whose text gives no cause for a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return pc.buildModelFromSdf(text, *args, **kwargs)


def places(robot, q=None) -> dict[str, pin.SE3]:
    """Where the frames of the tree are."""
    data = robot.tree.createData()
    pin.framesForwardKinematics(robot.tree, data, pc.neutral(robot) if q is None else q)
    return {f.name: data.oMf[i] for i, f in enumerate(robot.tree.frames)}


def pose(text: str) -> pin.SE3:
    x = np.array(text.split(), dtype=float)
    return pin.SE3(pin.Quaternion(pin.rpy.rpyToMatrix(*x[3:])).matrix(), x[:3])


A, B, C = "1 2 3 0.3 -0.4 0.5", "0.5 -1 0.2 1 0.2 -0.7", "0.1 0.2 0.3 -1.2 0.6 2"
TWO = joint("j1", "world", "a") + joint("j2", "a", "b")


@pytest.mark.parametrize(
    "text",
    [
        model(link("a", A), link("b", B, relative_to="a"), TWO),
        model(f'<frame name="f"><pose>{A}</pose></frame>', link("a", relative_to="f", pose="0 0 0 0 0 0"),
              f'<frame name="g" attached_to="a"><pose>{B}</pose></frame>',
              link("b", "0 0 0 0 0 0", relative_to="g"), TWO),
        model(link("a", A), link("b", "0 0 0 0 0 0", relative_to="j2"), joint("j1", "world", "a"),
              f'<joint name="j2" type="revolute"><parent>a</parent><child>b</child><pose relative_to="a">{B}</pose>'
              + axis() + "</joint>"),
        model(link("a", A), f'<model name="m"><pose relative_to="a">{B}</pose>{link("b")}</model>',
              joint("j1", "world", "a"), joint("j2", "a", "m::b")),
        model(link("a", A), '<model name="m" placement_frame="b">'
              f'<pose relative_to="a">{B}</pose>{link("b", C)}</model>',
              joint("j1", "world", "a"), joint("j2", "a", "m::b")),
        f'<sdf version="1.7"><world name="w"><model name="floor"><static>1</static>{link("x")}</model><model name="r">'
        f"<pose>{A}</pose>" + link("a") + link("b", B) + TWO.replace("world", "world") + "</model></world></sdf>",
    ],
    ids=["relative_to", "frames", "joint", "nested", "placement_frame", "world"],
)  # fmt: skip
def test_poses(text):
    """However a file says it: a is at A, b at A B."""
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        robot = pc.buildModelFromSdf(text)
    where = places(robot)
    assert where["a"].isApprox(pose(A), 1e-12)
    assert where["m::b" if "m::b" in where else "b"].isApprox(pose(A) * pose(B), 1e-12)


def test_rotation_formats():
    quaternion = f"<pose rotation_format='quat_xyzw'>1 2 3 0 0 {HALF} {HALF}</pose>"
    degrees = "<pose degrees='true'>1 2 3 0 0 90</pose>"
    for text in (quaternion, degrees):
        robot = read(model(f'<link name="a">{text}{BODY}</link>', joint("j", "world", "a"), version="1.9"))
        assert places(robot)["a"].isApprox(pose(f"1 2 3 0 0 {math.pi / 2}"), 1e-12)


def test_inertia_is_turned_and_placed():
    robot = read(model(link("a", A), joint("j", "world", "a", pose=B)))
    given = pin.Inertia(
        1.5, np.zeros(3), np.array([[0.02, 0.001, 0.002], [0.001, 0.03, -0.003], [0.002, -0.003, 0.025]])
    )
    expected = pose("0.05 0.02 -0.1 0.3 -0.2 0.1").act(given)
    assert pose(B).inverse().act(expected).isApprox(robot.tree.inertias[1], 1e-12)


@pytest.mark.parametrize(
    ("version", "inside", "direction"),
    [
        ("1.7", axis("0.6 0 0.8"), pose(A).rotation @ pose(B).rotation @ [0.6, 0, 0.8]),  # the frame of the joint
        ("1.7", axis("0.6 0 0.8", expressed_in="__model__"), np.array([0.6, 0, 0.8])),
        ("1.7", axis("0.6 0 0.8", expressed_in="a"), pose(A).rotation @ [0.6, 0, 0.8]),
        ("1.6", axis("0.6 0 0.8"), pose(A).rotation @ pose(B).rotation @ [0.6, 0, 0.8]),
        ("1.6", axis("0.6 0 0.8", "<use_parent_model_frame>1</use_parent_model_frame>"), np.array([0.6, 0, 0.8])),
        ("1.4", axis("0.6 0 0.8"), np.array([0.6, 0, 0.8])),
    ],
)
@pytest.mark.parametrize("kind", ["revolute", "prismatic"])
def test_axes(version, inside, direction, kind):
    robot = read(model(link("a", A), joint("j", "world", "a", kind, inside, B), version=version))
    moved = places(robot, np.array([0.3]))["a"] * places(robot)["a"].inverse()
    if kind == "prismatic":
        assert np.allclose(moved.translation, 0.3 * direction, rtol=0.0, atol=1e-12)
    else:
        assert np.allclose(pin.log3(moved.rotation), 0.3 * direction, rtol=0.0, atol=1e-12)


def test_limits_and_names():
    inside = axis(
        "0 0 1", "<limit><lower>-1</lower><upper>inf</upper><effort>-1</effort><velocity>7</velocity></limit>"
    )
    tree = read(model(link("a"), joint("j", "world", "a", "revolute", inside))).tree
    assert tree.lowerPositionLimit[0] == -1.0
    assert tree.upperPositionLimit[0] > 1e300 < tree.effortLimit[0]
    assert tree.velocityLimit[0] == 7.0
    assert {"j", "a"} <= {f.name for f in tree.frames}


def test_screw():
    right_handed = joint("j", "world", "a", "screw", axis("0 0 1") + "<screw_thread_pitch>0.02</screw_thread_pitch>")
    old = right_handed.replace("screw_thread_pitch>0.02<", f"thread_pitch>{-2.0 * math.pi / 0.02}<")
    for text in (right_handed, old.replace("screw_thread_pitch", "thread_pitch")):
        moved = places(read(model(link("a"), text)), np.array([2.0 * math.pi]))["a"]
        assert np.allclose(moved.translation, [0.0, 0.0, 0.02], rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("kind", ["universal", "revolute2"])
def test_universal(kind):
    """The first axis is fixed in the parent, the second in the child."""
    text = model(link("a", A), joint("j", "world", "a", kind, axis("1 0 0") + axis("0 0 1", tag="axis2")))
    robot = read(text)
    assert robot.independent_joints == ("j", "j_axis2")
    turned = places(robot, np.array([0.4, -0.7]))["a"].rotation
    start = pose(A).rotation
    expected = start @ pin.rpy.rpyToMatrix(0.4, 0.0, 0.0) @ pin.rpy.rpyToMatrix(0.0, 0.0, -0.7)
    assert np.allclose(turned, expected, rtol=0.0, atol=1e-12)


def test_a_joint_passed_backwards_keeps_its_sense():
    """The base b is fixed; its joint to a has a as parent."""
    for kind, inside in (("revolute", axis("0 0.6 0.8")), ("prismatic", axis("0 0.6 0.8")),
                         ("screw", axis("0 0.6 0.8") + "<screw_thread_pitch>0.3</screw_thread_pitch>"),
                         ("universal", axis("1 0 0") + axis("0 0 1", tag="axis2"))):  # fmt: skip
        parts = link("a", A), link("b", B)
        there = read(model(*parts, joint("w", "world", "a", "fixed", ""), joint("j", "a", "b", kind, inside, C)))
        back = read(model(*parts, joint("w", "world", "b", "fixed", ""), joint("j", "a", "b", kind, inside, C)))
        q = np.array([0.4, -0.3])[: there.nq]
        first, second = places(there, q), places(back, q[[1, 0]] if kind == "universal" else q)
        assert (first["a"].actInv(first["b"])).isApprox(second["a"].actInv(second["b"]), 1e-12), kind
        assert there.joint_idx_v("j") == 0


def test_mimic():
    """follower = multiplier (leader - reference) + offset."""
    follows = axis(
        "0 0 1", '<mimic joint="j1"><multiplier>2</multiplier><offset>0.5</offset><reference>0.1</reference></mimic>'
    )
    robot = read(
        model(link("a"), link("b"), joint("j1", "world", "a"), joint("j2", "a", "b", inside=follows), version="1.11")
    )
    q = pc.integrate(robot, pc.neutral(robot), np.array([0.7]))
    leader, follower = q[robot.tree.joints[1].idx_q], q[robot.tree.joints[2].idx_q]
    assert follower == pytest.approx(2.0 * (leader - 0.1) + 0.5, abs=1e-12)
    assert robot.independent_joints == ("j1",)


def turned(robot, q, link_name: str, reference: str, direction: np.ndarray) -> float:
    """Return by how much a link has turned relative to another one, about a direction in the model's frame at q = 0."""
    start, now = places(robot, pin.neutral(robot.tree)), places(robot, q)
    before = start[reference].actInv(start[link_name])
    after = now[reference].actInv(now[link_name])
    rotation = pin.log3(after.rotation @ before.rotation.T)  # in axes of the reference
    along = start[reference].rotation @ rotation
    assert np.linalg.norm(np.cross(along, direction)) < 1e-9
    return float(along @ direction)


@pytest.mark.parametrize("second", ["0 0 1", "0 0 -1"])
@pytest.mark.parametrize("ratio", ["0.25", "-0.5"])
@pytest.mark.parametrize("case", ["siblings", "chain", "backwards", "oblique"])
def test_gearbox(second, ratio, case):
    """theta_2 = -ratio theta_1, both measured from the reference body by geometry."""
    z = np.array([0.0, 0.0, 1.0])
    reference = "base"
    rotor, out = link("rotor", "0.1 0 0 0 0 0"), link("out", "0 0.2 0 0 0 0")
    base = link("base") + joint("w", "world", "base", "fixed", "")
    if case == "oblique":  # frames of the links are turned, the axes are not
        rotor, out = link("rotor", "0.1 0 0 0 3.14159265358979 0"), link("out", "0 0.2 0 0 0 0.7")
    parts = {
        "siblings": joint("ja", "base", "rotor") + joint("jb", "base", "out"),
        "chain": joint("ja", "base", "rotor") + joint("jm", "base", "middle") + joint("jb", "middle", "out"),
        "backwards": joint("ja", "rotor", "base") + joint("jb", "base", "out"),
        "oblique": joint("ja", "base", "rotor") + joint("jb", "base", "out", inside=axis("0 0 -1")),
    }[case]
    more = link("middle") if case == "chain" else ""
    gears = gearbox("rotor", "out", reference, ratio, "0 0 1", second)
    robot = read(model(base, rotor, out, more, parts, gears, version="1.7"))
    v = np.zeros(robot.nv)
    v[robot.joint_idx_v("jb")] = 0.3
    q = pc.integrate(robot, pc.neutral(robot), v)
    # axes of the gearbox stand in its joint frame, which is that of its child
    frame = places(robot, pin.neutral(robot.tree))["out"].rotation
    first_axis, second_axis = frame @ z, frame @ np.array(second.split(), dtype=float)
    theta_1 = turned(robot, q, "rotor", reference, first_axis)
    theta_2 = turned(robot, q, "out", reference, second_axis)
    assert theta_2 == pytest.approx(-float(ratio) * theta_1, abs=1e-12)
    assert abs(theta_1) > 0.1
    assert [r.name for r in robot.rotors] == ["ja"] * (case != "backwards")  # there it swings about the base


def four_bar(version: str = "1.7") -> str:
    """The links of the shipped four-bar, in the pose in which all joints are at zero."""
    tree = pc.load("four_bar").tree
    data = tree.createData()
    pin.framesForwardKinematics(tree, data, pin.neutral(tree))
    parts = []
    for name in ("crank", "coupler", "rocker"):
        j = tree.getJointId(name)
        inertia, place = tree.inertias[j], data.oMi[j]
        I = inertia.inertia
        numbers = {"ixx": I[0, 0], "iyy": I[1, 1], "izz": I[2, 2], "ixy": I[0, 1], "ixz": I[0, 2], "iyz": I[1, 2]}
        moments = "".join(f"<{k}>{float(x)!r}</{k}>" for k, x in numbers.items())
        at = " ".join(map(repr, [*place.translation.tolist(), *pin.rpy.matrixToRpy(place.rotation).tolist()]))
        lever = " ".join(map(repr, inertia.lever.tolist()))
        parts.append(
            f'<link name="{name}_body"><pose>{at}</pose><inertial><pose>{lever} 0 0 0</pose><mass>{inertia.mass!r}'
            f"</mass><inertia>{moments}</inertia></inertial></link>"
        )
    y = axis("0 1 0")
    parts.append(joint("crank", "world", "crank_body", inside=y))
    parts.append(joint("coupler", "crank_body", "coupler_body", inside=y))
    parts.append(joint("rocker", "world", "rocker_body", inside=y))
    parts.append(joint("closing", "coupler_body", "rocker_body", inside=y, pose="-0.16 0 0.3 0 0 0"))
    return model(*parts, version=version)


def test_a_link_with_two_parents_closes_a_loop():
    """The shipped four-bar, read from SDF: the same dynamics."""
    robot, shipped = read(four_bar()), pc.load("four_bar")
    assert [type(c).__name__ for c in robot.constraints] == ["Loop"]
    assert robot.constraints[0].kind == "revolute"
    assert robot.nv == 1
    rng = np.random.default_rng(3)
    leading = shipped.independent_joints
    robot = read(four_bar(), independent=leading)
    for _ in range(3):
        q = pc.integrate(shipped, pc.neutral(shipped), rng.uniform(-0.3, 0.3, 1))
        v, tau = rng.normal(size=1), rng.normal(size=1)
        here = np.zeros(robot.nq)
        for j in range(1, shipped.tree.njoints):
            here[robot.tree.joints[robot.tree.getJointId(shipped.tree.names[j])].idx_q] = q[
                shipped.tree.joints[j].idx_q
            ]
        expected = pc.aba(shipped, shipped.createData(), q, v, tau)
        assert pc.aba(robot, robot.createData(), here, v, tau) == pytest.approx(expected, rel=1e-9)


def test_the_cut_loses_least():
    """Of a loop the ball is cut; a joint with a spring never, though the search meets it last."""
    text = four_bar().replace('name="closing" type="revolute"', 'name="closing" type="ball"')
    assert read(text).constraints[0].kind == "spherical"
    spring = "<dynamics><spring_stiffness>5</spring_stiffness><spring_reference>0</spring_reference></dynamics>"
    y = "<xyz>0 1 0</xyz>"
    start, end = four_bar().split('name="closing"')
    sprung = read(start + 'name="closing"' + end.replace(y, y + spring))
    assert "closing" in sprung.tree.names
    assert sprung.passive is not None
    (loop,) = [c for c in sprung.constraints if isinstance(c, pc.Loop)]
    assert loop.name == "coupler"


def pendulum_with_rod(inertia: str, more: str = "") -> str:
    """Two levers about x and y, and a rod with ball joints between them."""
    return model(
        link("a", "0 0 0 0 0 0", INERTIAL.format(pose="0 0 -0.2 0 0 0", mass="2")),
        link("b", "1 0.2 0 0 0 0", INERTIAL.format(pose="0 0 -0.3 0 0 0", mass="1")),
        f'<link name="rod"><pose>0 0 -0.4 0 0 0</pose>{inertia}</link>',
        joint("ja", "world", "a", inside=axis("0 1 0")),
        joint("jb", "world", "b", inside=axis("0 0.8 0.6")),
        joint("one", "a", "rod", "ball", ""),
        joint("two", "rod", "b", "ball", "", "0 0 -0.5 0 0 0"),
        more,
    )


ROUND = (
    "<inertial><pose>0.5 0.1 -0.05 0 0.0985376 0.1973956</pose><mass>0.3</mass><inertia><ixx>0</ixx><iyy>0.02</iyy>"
    "<izz>0.02</izz><ixy>0</ixy><ixz>0</ixz><iyz>0</iyz></inertia></inertial>"
)


def test_a_round_rod_needs_no_joint():
    """A rod as a Rod, and the same one with a hair more of inertia as a body with a universal joint: equal dynamics."""
    with warns(pc.PinClustersWarning):  # angles of the text have seven digits
        rod = pc.buildModelFromSdf(pendulum_with_rod(ROUND), independent=["ja"])
    assert [type(c).__name__ for c in rod.constraints] == ["Rod"]
    oval = ROUND.replace("<ixx>0</ixx><iyy>0.02", "<ixx>7e-4</ixx><iyy>0.0206")
    with warns(pc.PinClustersWarning, "'rod'"):
        body = pc.buildModelFromSdf(pendulum_with_rod(oval), independent=["ja"])
    assert {"one_1", "one_2"} <= set(body.tree.names) or {"two_1", "two_2"} <= set(body.tree.names)
    results = []
    for robot in (rod, body):
        q = pc.integrate(robot, pc.neutral(robot), [0.2])
        results.append(pc.aba(robot, robot.createData(), q, [0.7], [0.3]))
    assert results[0] == pytest.approx(results[1], rel=0.02)
    assert results[0] != pytest.approx(results[1], rel=1e-6)


def test_gravity_of_the_world_and_static_models():
    world = model(link("a"), joint("j", "world", "a")).replace(
        "<model", '<world name="w"><gravity>0 0 -1.6</gravity><model'
    )
    robot = read(world.replace("</sdf>", "</world></sdf>"))
    assert robot.gravity.linear.tolist() == [0.0, 0.0, -1.6]
    static = read(model("<static>true</static>", link("a"), link("b")))
    assert static.nv == 0
    assert places(static)["a"].isApprox(pin.SE3.Identity())


def test_root_joint():
    text = model(link("a", A), link("b", B), joint("j", "a", "b"))
    fixed, free = read(text), read(text, pin.JointModelFreeFlyer())
    assert (fixed.nv, free.nv) == (1, 7)
    assert places(fixed)["a"].isApprox(pose(A))
    assert places(free)["a"].isApprox(pin.SE3.Identity())
    with raises(pc.LoadError, "root_joint"):
        read(model(link("a"), joint("j", "world", "a")), pin.JointModelFreeFlyer())


def test_included_files(tmp_path):
    (tmp_path / "arm").mkdir()
    (tmp_path / "arm" / "arm.sdf").write_text(model(link("b"), version="1.6", name="arm"))
    include = f'<include><uri>model://arm</uri><name>left</name><pose relative_to="a">{B}</pose></include>'
    file = tmp_path / "robot.sdf"
    file.write_text(model(link("a", A), include, joint("j1", "world", "a"), joint("j2", "a", "left::b")))
    assert places(read(file))["left::b"].isApprox(pose(A) * pose(B), 1e-12)


def test_loops_that_cannot_move_are_locked():
    """Three hinges that are not parallel, and a ball: nothing moves, and the file says no more."""
    text = model(
        link("a"), link("b", "1 0 0 0 0 0"), link("c", "1 1 0 0 0 0"), link("d"),
        joint("j0", "world", "d"),
        joint("j1", "d", "a"), joint("j2", "a", "b", inside=axis("0 0.1 1")), joint("j3", "d", "c"),
        joint("closing", "b", "c", "ball", "", "0.3 0 0 0 0 0"),
    )  # fmt: skip
    with pytest.warns(pc.PinClustersWarning) as told:
        robot = pc.buildModelFromSdf(text)
    assert any(
        re.search("'closing' allow no motion of their joints, so these joints are fixed: 'j1'", str(w.message))
        for w in told
    )
    assert robot.independent_joints == ("j0",)


def test_loops_of_a_robot_of_one_hinge():
    """What holds the only hinge locks it, as it does where there are more; the same hinge once more holds nothing."""
    hinge = link("a") + joint("j1", "world", "a")
    with warns(pc.PinClustersWarning, "'j2' 'j1'"):
        assert pc.buildModelFromSdf(model(hinge, joint("j2", "world", "a", inside=axis("1 0 0")))).nv == 0
    twice, once = read(model(hinge, joint("j2", "world", "a"))), read(model(hinge))
    state = [np.array([x]) for x in (0.3, -0.2, 0.7)]
    ours, plain = (pc.rnea(m, m.createData(), *state) for m in (twice, once))
    np.testing.assert_allclose(ours, plain, rtol=1e-14)  # the same sums, perhaps in another order


def test_a_tree_without_loops_needs_no_jacobian(monkeypatch):
    """That of 5,000 joints, and the rest of a pin.Data, do not fit into memory."""
    monkeypatch.setattr(pin, "computeJointJacobians", None)
    assert read(model(link("a"), joint("j1", "world", "a"))).nv == 1


@pytest.mark.skipif(not CASSIE, reason="needs example-robot-data")
def test_all_five_files_of_cassie_are_there():
    assert len(CASSIE) == 5


@pytest.mark.parametrize("file", CASSIE, ids=lambda f: f.stem)
@pytest.mark.parametrize("floats", [False, True])
def test_cassie(file, floats):
    """Round trip, and projection of Pinocchio's tree."""
    text = file.read_text()
    if floats and "<parent>world" in text:
        pytest.skip("stands on a slider")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        robot = pc.buildModelFromSdf(file, pin.JointModelFreeFlyer() if floats else None)
    assert len(robot.rotors) == (10 if file.stem == "cassie" else 0)
    rng = np.random.default_rng(5)
    data, there = robot.createData(), robot.tree.createData()
    q = pc.integrate(robot, pc.neutral(robot), 0.05 * rng.uniform(-1.0, 1.0, robot.nv))
    v, a = rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    tau = pc.rnea(robot, data, q, v, a)
    assert np.abs(pc.aba(robot, data, q, v, tau) - a).max() < 1e-9 * np.abs(a).max()
    G = pc.coupling_jacobian(robot, data, q)
    whole = pin.rnea(robot.tree, there, q, pc.spanning_velocity(robot, data, q, v),
                     pc.spanning_acceleration(robot, data, q, v, a))  # fmt: skip
    assert np.abs(G.T @ whole - tau).max() < 1e-10 * np.abs(tau).max()


@pytest.mark.parametrize("file", [pytest.param(f, marks=pytest.mark.long) for f in CASSIE], ids=lambda f: f.stem)
def test_cassie_keeps_its_energy(file):
    text = re.sub(r"<damping>[^<]*</damping>", "", file.read_text())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        robot = pc.buildModelFromSdf(text)
    result = pc.simulate(robot, pc.neutral(robot), np.zeros(robot.nv), duration=0.05, dt=1e-3)
    assert np.ptp(result.energy) < 1e-6 * np.abs(result.energy).max()


def test_a_world_with_scenery(tmp_path):
    """What every Gazebo installation has and no robot needs is left out, and said."""
    (tmp_path / "arm.sdf").write_text(model(link("a"), joint("j", "world", "a"), version="1.6", name="arm"))
    file = tmp_path / "robot.world"
    includes = "".join(
        f"<include><uri>{uri}</uri></include>" for uri in ("model://sun", "model://ground_plane", "arm.sdf")
    )
    file.write_text(f'<sdf version="1.6"><world name="w">{includes}</world></sdf>')
    with pytest.warns(pc.PinClustersWarning) as told:
        robot = pc.buildModelFromSdf(file)
    assert robot.independent_joints == ("j",)
    assert "'sun' is a scenery model" in " ".join(str(w.message) for w in told)
    assert told[0].filename == __file__


def test_balls_have_no_axis():
    inside = axis("0 0 1", "<dynamics><damping>0.1</damping></dynamics>")
    with warns(pc.PinClustersWarning, "'j'"):
        pc.buildModelFromSdf(model(link("a"), joint("j", "world", "a", "ball", inside)))
    read(model(link("a"), joint("j", "world", "a", "ball", inside.replace("0.1", "0"))))


def test_prefixes_need_no_namespace():
    """As for sdformat, which knows no namespaces."""
    inside = axis("0 0 1", "<drake:rotor_inertia>2e-4</drake:rotor_inertia><drake:gear_ratio>50</drake:gear_ratio>")
    text = model(link("a"), joint("j", "world", "a", inside=inside))
    robots = [read(t) for t in (text, text.replace("<sdf ", f"<sdf {DRAKE.replace(':d', ':drake')} "))]
    one, other = ([repr(c) for c in robot.constraints] for robot in robots)
    assert one == other
    assert "50.0" in one[0]
    with raises(pc.LoadError, "<drake:linear_bushing_rpy>"):
        read(model(link("a"), joint("j", "world", "a"), "<drake:linear_bushing_rpy/>"))


def test_rotors_of_drake():
    inside = axis("0 0 1", f"<d:rotor_inertia {DRAKE}>2e-4</d:rotor_inertia><d:gear_ratio {DRAKE}>50</d:gear_ratio>")
    robot = read(model(link("a"), joint("j", "world", "a", inside=inside)))
    twin = pc.ClusterModel(robot.tree, [pc.Rotor("j", 50.0, axial_inertia=2e-4)])
    bare = read(model(link("a"), joint("j", "world", "a")))
    found = [pc.rnea(m, m.createData(), [0.1], [0.2], [0.3]).item() for m in (robot, twin, bare)]
    assert found[0] == pytest.approx(found[1], rel=1e-12)
    assert found[0] - found[2] == pytest.approx(2e-4 * 50.0**2 * 0.3, rel=1e-9)
    y = "<xyz>0 1 0</xyz>"
    start, end = four_bar().split('name="closing"')
    closing = f"{y}<d:rotor_inertia {DRAKE}>1e-5</d:rotor_inertia>"
    with raises(pc.LoadError, "'closing'"):
        read(start + 'name="closing"' + end.replace(y, closing))
