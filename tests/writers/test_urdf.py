"""``pc.to_urdf``: the loader makes the same model again."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from samples import mechanisms, pool
from samples.pool import error
from support.draws import draw
from support.messages import raises, warns

import pin_clusters as pc

OFTEN = ("mini_cheetah", "cassie_leg", "ankle_2rsu", "tello", "teleop_arm", "six_bar", "belt_chain")
ROBOTS = [n if n in OFTEN else pytest.param(n, marks=pytest.mark.long) for n in pc.robots()]


def load(name: str) -> pc.ClusterModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.load(name)


def back(model: pc.ClusterModel) -> pc.ClusterModel:
    """The model that is read from what was written."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)  # gravity, inertias that no real body has
        return pc.buildModelFromXML(pc.to_urdf(model)).with_gravity(model.gravity)


def entries(other: pc.ClusterModel, name: str, count: int, velocity: bool) -> list[int]:
    """Where the coordinates of a joint are in the other model: joints with several freedoms may have become rows."""
    tree = other.tree
    at, sizes = (tree.idx_vs, tree.nvs) if velocity else (tree.idx_qs, tree.nqs)
    k = tree.getJointId(name)
    names = [name] if sizes[k] == count else [*(f"{name}_{i}" for i in range(1, count)), name]
    ids = [tree.getJointId(n) for n in names]
    return [i for k in ids for i in range(at[k], at[k] + sizes[k])]


def places(model: pc.ClusterModel, other: pc.ClusterModel) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the entries of q, v and the tree's v are in the other model: siblings are ordered by name in a file."""
    names, tree = list(model.names)[1:], model.tree
    q = [i for n in names for i in entries(other, n, tree.nqs[model.getJointId(n)], False)]
    v = [i for n in names for i in entries(other, n, tree.nvs[model.getJointId(n)], True)]
    at_q, rows = np.zeros(model.nq, dtype=int), np.zeros(tree.nv, dtype=int)
    at_q[[i for n in names for i in span(tree.idx_qs, tree.nqs, model.getJointId(n))]] = q
    rows[[i for n in names for i in span(tree.idx_vs, tree.nvs, model.getJointId(n))]] = v
    at_v = np.searchsorted(other.idx_v_independent, rows[model.idx_v_independent])
    assert np.array_equal(other.idx_v_independent[at_v], rows[model.idx_v_independent])
    return at_q, at_v, rows


def span(at: np.ndarray, sizes: np.ndarray, j: int) -> range:
    return range(at[j], at[j] + sizes[j])


def poses(model: pc.ClusterModel, rng: np.random.Generator, spread: float = 0.1) -> list[np.ndarray]:
    start = pc.neutral(model)
    return [start, *(reached(model, start, spread * rng.normal(size=model.nv)) for _ in range(2))]


def reached(model: pc.ClusterModel, start: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Where a step leads, or one that is shorter until the loops can follow."""
    try:
        return pc.integrate(model, start, step)
    except pc.BranchLost:
        return reached(model, start, 0.25 * step)


def check_same(model: pc.ClusterModel, rng: np.random.Generator, spread: float = 0.1) -> pc.ClusterModel:
    other = back(model)
    at_q, at_v, rows = places(model, other)
    data, there = model.createData(), other.createData()
    for q in poses(model, rng, spread):
        v, a = rng.normal(size=(2, model.nv))
        mine, its_v, its_a = np.zeros(model.nq), np.zeros(model.nv), np.zeros(model.nv)
        mine[at_q], its_v[at_v], its_a[at_v] = q, v, a
        assert error(pc.crba(other, there, mine)[np.ix_(at_v, at_v)], pc.crba(model, data, q)) < 1e-12
        tau = pc.rnea(model, data, q, v, a)
        assert error(pc.rnea(other, there, mine, its_v, its_a)[at_v], tau) < 1e-12
        G = pc.coupling_jacobian(model, data, q)
        if model.passive is not None:
            assert other.passive is not None
            rate = np.zeros(model.tree.nv)
            rate[rows] = G @ v
            assert error(other.passive.torque(mine, rate)[rows], model.passive.torque(q, G @ v)) < 1e-12
        assert error(pc.coupling_jacobian(other, there, mine)[rows][:, at_v], G) < 1e-12
    assert np.abs(other.q_reference[at_q] - model.q_reference).max(initial=0.0) < 1e-12
    return other


@pytest.mark.parametrize("name", ROBOTS)
def test_a_robot_comes_back(name: str) -> None:
    model = load(name)
    other = check_same(model, draw(f"urdf out {name}"))
    assert other.name == model.tree.name
    assert {r.name for r in other.rotors} == {r.name for r in model.rotors}
    for f in model.tree.frames:
        kept = f.type in (pin.FrameType.BODY, pin.FrameType.JOINT, pin.FrameType.FIXED_JOINT)
        there = other.tree.frames[other.tree.getFrameId(f.name, f.type if kept else pin.FrameType.BODY)]
        assert np.abs(there.placement.homogeneous - f.placement.homogeneous).max() < 1e-12
        assert other.names[there.parentJoint] == model.names[f.parentJoint]
    at_q, _, _ = places(model, other)
    simple = [k for j in range(1, model.njoints) if model.tree.nvs[j] == 1 for k in [model.tree.idx_qs[j]]]
    for field in ("lowerPositionLimit", "upperPositionLimit"):
        mine, its = (np.nan_to_num(getattr(m.tree, field)) for m in (model, other))
        assert np.array_equal(its[at_q][simple], mine[simple])
    for field in ("effortLimit", "velocityLimit", "damping", "friction", "armature"):
        for j in range(1, model.njoints):
            if model.tree.nvs[j] == 1:
                k = other.getJointId(model.names[j])
                mine, its = getattr(model.tree, field), getattr(other.tree, field)
                assert np.nan_to_num(mine[model.tree.idx_vs[j]]) == its[other.tree.idx_vs[k]]


OFTEN_OF_LIBRARY = ("FourBar_serial", "five_bar", "push_rod_ankle")
LIBRARY = [k if k in OFTEN_OF_LIBRARY else pytest.param(k, marks=pytest.mark.long) for k in mechanisms.LIBRARY]


@pytest.mark.parametrize("name", LIBRARY)
def test_a_mechanism_of_the_library_comes_back(name: str) -> None:
    model = pool.case(name).model
    other = check_same(model, draw(f"urdf library states {name}"), 0.03)
    assert [type(c) for c in other.constraints] == [type(c) for c in model.constraints]


NAMES = ("crank", "coupler", "rocker", "wheel", "motor", "wrist", "vane")
MIXTURES = {  # couplings on a four-bar and further joints
    "of a joint of the loop": [pc.LinearCoupling("crank", {"wheel": 0.5, "rocker": 3.0, "wrist": 0.5}, 0.1)],
    "with a joint beside the loop": [pc.Gear("coupler", "vane", 9.0)],
    "of a joint beside the loop": [pc.Gear("vane", "crank", 3.0)],
    "a belt": [pc.Belt("wrist", "coupler", -2.0)],
    "in a row": [
        pc.Gear("coupler", "vane", 9.0), pc.LinearCoupling("wheel", {"rocker": 9.0, "vane": 0.5}, -0.2),
    ],
    "crosswise": [
        pc.LinearCoupling("rocker", {"wheel": 3.0, "coupler": 0.5}),
        pc.LinearCoupling("coupler", {"wheel": 2.0, "motor": 1.0}),
    ],
}  # fmt: skip


def mixture(couplings: list, independent: tuple[str, ...]) -> pc.ClusterModel:
    tree = pin.Model()
    for name, parent, x in zip(NAMES, (0, 1, 0, 0, 0, 3, 2), (0.0, 0.15, 0.45, 0.1, 0.2, 0.1, 0.1), strict=True):
        j = tree.addJoint(parent, pin.JointModelRY(), pin.SE3(np.eye(3), np.array([x, 0, 0])), name)
        tree.appendBodyToJoint(j, pin.Inertia.FromSphere(0.3, 0.05), pin.SE3(np.eye(3), np.array([0.1, 0, 0])))
    loop = pc.Loop(("coupler", [0.40, 0, 0]), ("rocker", [0.35, 0, 0]), "revolute", axis=(0, 1, 0))
    return pc.ClusterModel(tree, [loop, *couplings], independent=independent)


@pytest.mark.parametrize("name", pool.some(MIXTURES, 1, rest="ci"))
def test_couplings_on_the_joints_of_loops_come_back(name: str) -> None:
    """Whichever of its joints follows: all sets of joints that can lead."""
    couplings, made = MIXTURES[name], 0
    for independent in itertools.combinations(NAMES, len(NAMES) - 2 - len(couplings)):
        try:
            model = mixture(couplings, independent)
        except pc.ConstraintError:
            continue
        made += 1
        other = check_same(model, draw(f"mixture {name}"), 0.03)
        assert set(other.independent_joints) == set(independent)
    assert made > 2


@pool.each((*pool.LOOPS, *pool.MORE), jitless=False)
def test_any_mechanism_comes_back(key: pool.Key) -> None:
    model = pool.case(key).model
    kinds = {model.tree.joints[j].shortname() for j in range(1, model.njoints)}
    if any("Spherical" in kind or "Helical" in kind for kind in kinds - {"JointModelSphericalZYX"}):
        with raises(pc.UnsupportedJointError):
            pc.to_urdf(model)
        return
    check_same(model, draw(f"urdf any {key}"), 0.01)


def armed() -> pc.ClusterModel:
    """Joints with several freedoms, armature that a rotor replaces, rotors with all of their inertia, frames."""
    rng, tree = draw("urdf armed"), pin.Model()
    j = 0
    kinds = (
        pin.JointModelTranslation(), pin.JointModelRX(), pin.JointModelSphericalZYX(), pin.JointModelPlanar(),
        pin.JointModelRevoluteUnaligned(np.array([0.0, 0.6, 0.8])), pin.JointModelRUBZ(), pin.JointModelPY(),
        pin.JointModelUniversal(np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0])),
    )  # fmt: skip
    for k, joint in enumerate(kinds):
        place = pin.SE3(pin.Quaternion(*(x / np.linalg.norm(x) for x in [rng.normal(size=4)])), rng.normal(size=3))
        j = tree.addJoint(j, joint, place, f"joint & {k}")
        body = pin.Inertia(1.0, rng.normal(size=3), np.diag([0.2, 0.3, 0.4]))
        tree.appendBodyToJoint(j, body, pin.SE3.Identity())
    tree.addFrame(pin.Frame("tool", j, 0, pin.SE3(np.eye(3), np.array([0.1, 0.2, 0.3])), pin.FrameType.OP_FRAME))
    armature = np.zeros(tree.nv)
    armature[tree.idx_vs[2]], armature[tree.idx_vs[5]] = 0.3, 0.2
    tree.armature = armature
    whole = pin.Inertia(0.1, np.array([0.0, 0.0, 0.01]), np.diag([1e-3, 1e-3, 2e-3]))
    turned = pin.SE3(pin.rpy.rpyToMatrix(0.3, np.pi / 2, -0.7), np.array([0.1, 0.0, 0.2]))
    return pc.ClusterModel(
        tree,
        [
            pc.Rotor("joint & 1", 7.0, axial_inertia=1e-3, armature="replace", name="<first>"),
            pc.Rotor(["joint & 4", "joint & 1"], [-3.0, 2.0], inertia=whole, axis=(0, 0, 1), placement=turned,
                     carrier="joint & 6", armature="keep"),
            pc.LinearCoupling("joint & 6", {"joint & 1": 0.5, "joint & 4": -0.25}, 0.1),
        ],
        name="armed",
    )  # fmt: skip


def test_what_urdf_has_no_element_for_comes_back() -> None:
    model, rng = armed(), draw("urdf armed states")
    other = back(model)
    data, there = model.createData(), other.createData()
    assert other.nv == model.nv
    # joints with several freedoms have become rows of simple ones, with the same coordinates
    for q in poses(model, rng, 1.0):
        v, a = rng.normal(size=(2, model.nv))
        assert error(pc.crba(other, there, q), pc.crba(model, data, q)) < 1e-12
        assert error(pc.rnea(other, there, q, v, a), pc.rnea(model, data, q, v, a)) < 1e-12
    tool = other.tree.frames[other.tree.getFrameId("tool")]
    assert np.allclose(tool.placement.translation, [0.1, 0.2, 0.3])
    assert [r.source.armature for r in other.rotors if r.source] == ["replace", "keep"]


def test_armature_is_read_without_damping() -> None:
    text = pc.to_urdf(armed())
    assert 'damping="0" armature="0.3"' in text
    assert (
        back(armed()).tree.armature.tolist()
        == pc.buildModelFromXML(text.replace('damping="0" armature="0.3"', 'armature="0.3"')).tree.armature.tolist()
    )


def test_gravity_is_said() -> None:
    model = load("four_bar").with_gravity([1.0, 2.0, 3.0])
    with warns(pc.PinClustersWarning, "gravity 'four_bar' 1 2 3"):
        text = pc.to_urdf(model)
    assert "URDF has no gravity: it is 1 2 3 m/s^2" in text.split("-->")[0]


def single(joint: pin.JointModel) -> pc.ClusterModel:
    tree = pin.Model()
    j = tree.addJoint(0, joint, pin.SE3.Identity(), "only")
    tree.appendBodyToJoint(j, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    return pc.ClusterModel(tree)


def odd(x: np.ndarray) -> np.ndarray:
    return np.array([x[0] - np.sin(x[1])])


REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "ball": (lambda: pc.to_urdf(single(pin.JointModelSpherical())), pc.UnsupportedJointError, "'only'"),
    "screw": (lambda: pc.to_urdf(single(pin.JointModelHX(0.1))), pc.UnsupportedJointError, "'only'"),
    "a pin.Model": (lambda: pc.to_urdf(pin.Model()), pc.ArgumentTypeError, "ClusterModel Model"),
    "file": (lambda: pc.to_urdf(load("four_bar"), 3), pc.ArgumentTypeError, "file"),
    "folder": (lambda: pc.to_urdf(load("four_bar"), Path("/")), pc.codegen.ExportError, ""),
    "nowhere": (
        lambda: pc.to_urdf(load("four_bar"), "/no/such/folder/x.urdf"), pc.codegen.ExportError, "folder/x.urdf",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_urdf_cannot_hold_is_refused(case: str) -> None:
    call, kind, words = REFUSED[case]
    with raises(kind, words):
        call()


def test_a_function_is_refused_by_name() -> None:
    b = mechanisms.Builder(draw("urdf function"))
    b.add("one", None, np.array([1.0, 0.0, 0.0]), np.zeros(3), 0.0)
    b.add("two", None, np.array([0.0, 1.0, 0.0]), np.ones(3), 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = b.mechanism([pc.Coupling(["one", "two"], odd, name="cam")], ("two",), 1).build()
    with raises(pc.ConstraintError, "Coupling('cam')"):
        pc.to_urdf(model)


def test_a_users_class_is_refused_with_the_cure() -> None:
    class Twice(pc.Gear):
        """A class of its own that couples like a gear."""

    gear = Twice("one", "two", 2.0)
    own = SimpleNamespace(label="Own('one')", rows=gear.rows)
    tree = pin.Model()
    for name in ("one", "two"):
        j = tree.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, pin.Inertia.FromSphere(1.0, 0.1), pin.SE3.Identity())
    assert 'ratio value="2"' in pc.to_urdf(pc.ClusterModel(tree, [gear]))  # a Gear is written, and so is its subclass
    with raises(pc.ConstraintError, "Own('one') pc.LinearCoupling buildModelFromUrdf"):
        pc.to_urdf(pc.ClusterModel(tree, [own]))


def test_names_that_xml_cannot_hold_are_refused() -> None:
    tree = pin.Model()
    j = tree.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "bell\x07")
    tree.appendBodyToJoint(j, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    with raises(pc.ModelError, "'bell\\x07_link'"):
        pc.to_urdf(pc.ClusterModel(tree))


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    file, model = tmp_path / "robot.urdf", load("four_bar")
    assert file.write_text("before")
    text = pc.to_urdf(model, file)
    assert file.read_text(encoding="utf-8") == text
    assert [p.name for p in tmp_path.iterdir()] == ["robot.urdf"]


def test_only_files_are_replaced(tmp_path: Path) -> None:
    """Not a device (as /dev/null, by one who may), not a link itself."""
    model = load("four_bar")
    os.mkfifo(tmp_path / "pipe.urdf")
    with raises(pc.codegen.ExportError, "pipe.urdf"):
        pc.to_urdf(model, tmp_path / "pipe.urdf")
    assert (tmp_path / "pipe.urdf").is_fifo()
    (tmp_path / "link.urdf").symlink_to(tmp_path / "robot.urdf")
    text = pc.to_urdf(model, tmp_path / "link.urdf")
    assert (tmp_path / "link.urdf").is_symlink()
    assert (tmp_path / "robot.urdf").read_text(encoding="utf-8") == text
    for name in ("a" * 5000, "x\0"):
        with raises(pc.codegen.ExportError):
            pc.to_urdf(model, tmp_path / name)


PARTS = {
    "rod without end": ('<rod name="r" length="1"><predecessor link="base"/></rod>', "'r'"),
    "rod on a link that is missing": (
        '<rod name="r"><predecessor link="bse"/><successor link="arm"/></rod>', "'bse' 'base'",
    ),
    "rod, other attribute": ('<rod name="r" weight="1"/>', "'weight'"),
    "rotor without joint": (
        '<rotor name="m" axial_inertia="1e-5"><carrier link="base"/><axis xyz="0 0 1"/></rotor>', "'m'",
    ),
    "rotor without inertia": (
        '<rotor name="m"><drive joint="j" ratio="6"/><carrier link="base"/><axis xyz="0 0 1"/></rotor>',
        "axial_inertia",
    ),
    "rotor with an axis alone": (
        '<rotor name="m" axial_inertia="1"><drive joint="j" ratio="6"/><axis xyz="0 0 1"/></rotor>', "'m'",
    ),
    "rotor on a joint that is missing": (
        '<rotor name="m" axial_inertia="1"><drive joint="k" ratio="6"/></rotor>', "'k'",
    ),
    "mechanism of no kind": ('<mechanism name="x" type="five_bars"/>', "'five_bars' 'five_bar'"),
    "role": (
        '<mechanism name="x" type="bevel"><joint role="lft" joint="j"/></mechanism>', "role 'lft' 'left'",
    ),
    "inner element": ('<mechanism name="x" type="bevel"><jnt role="left"/></mechanism>', "<jnt>"),
    "reference of no joint": ('<reference_pose><joint name="k" q="1"/></reference_pose>', "'k'"),
    "reference of two numbers": ('<reference_pose><joint name="j" q="1 2"/></reference_pose>', "2"),
    "armature": ("", "armature -1"),
}  # fmt: skip


@pytest.mark.parametrize("case", PARTS)
def test_ill_formed_elements_of_ours_are_refused(case: str) -> None:
    text, words = PARTS[case]
    armature = ' armature="-1"' if case == "armature" else ""
    robot = f"""<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0"{armature}/></joint>{text}</robot>"""
    with raises(pc.LoadError, words):
        pc.buildModelFromXML(robot)


def test_a_rotor_may_leave_out_where_it_sits() -> None:
    """It then sits on the body that carries the joint, about its axis, as `Rotor` has it."""
    robot = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
    <joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/></joint>{}</robot>"""
    stated = pc.buildModelFromXML(
        robot.format('<rotor name="m" axial_inertia="1e-5"><drive joint="j" ratio="6"/></rotor>')
    )
    given = pc.Rotor("j", 6.0, axial_inertia=1e-5, name="m")
    assert stated.constraints == (given,)
    np.testing.assert_array_equal(
        stated.tables.params, pc.buildModelFromXML(robot.format(""), constraints=[given]).tables.params
    )
