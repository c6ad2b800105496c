"""``pc.to_mjcf``: what is in the file besides the dynamics, which ``oracles/test_mjcf_out.py`` has."""

from __future__ import annotations

import dataclasses
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest
from samples import mechanisms, pool
from samples.pool import error
from support.draws import draw
from support.messages import raises

import pin_clusters as pc
from pin_clusters.files.writers import _bodies

mujoco = pytest.importorskip("mujoco", minversion="3.3.4")
from support.compiled import Compiled, load  # noqa: E402


def compiled(text: str) -> object:
    return mujoco.MjModel.from_xml_string(text)


@pytest.mark.parametrize("approximation", ["best", "diagonal", "exact"])
def test_motors_push_with_their_own_torque(approximation: str) -> None:
    """One newton metre at the rotor of the ankle's belt is its ratio at knee and ankle."""
    model = load("mit_humanoid_leg")
    there = Compiled(model, pc.to_mjcf(model, approximation))  # type: ignore[arg-type]
    q = pc.neutral(model)
    B = pc.actuation_matrix(model, model.createData(), q)
    G = there.G(q)
    assert there.there.nu == len(model.rotors)
    for k, rotor in enumerate(model.rotors):
        there.place(q)
        there.data.ctrl[:] = 0.0
        there.data.ctrl[there.there.actuator(rotor.name).id] = 1.0
        mujoco.mj_forward(there.there, there.data)
        assert G.T @ there.data.qfrc_actuator == pytest.approx(B[:, k], abs=1e-12)


def test_the_keyframe_is_the_reference_pose() -> None:
    model = load("cassie_leg")
    for approximation in ("best", "exact"):
        there = Compiled(model, pc.to_mjcf(model, approximation))  # type: ignore[arg-type]
        mujoco.mj_resetDataKeyframe(there.there, there.data, 0)
        for j, i in there.joints.items():
            q = model.q_reference[model.tree.idx_qs[j]]
            assert there.data.qpos[there.there.jnt_qposadr[i]] == pytest.approx(q, abs=1e-15)
        mujoco.mj_fwdPosition(there.there, there.data)
        assert there.residual() < 1e-12


def test_frames_are_sites_in_their_places() -> None:
    model = load("cassie_leg")
    there, data = Compiled(model, pc.to_mjcf(model)), model.createData()
    q = mechanisms.random_pose(model, pc.neutral(model), draw("mjcf sites"), 0.1)
    there.place(q)
    pc.framesForwardKinematics(model, data, q)
    names = {there.there.site(i).name for i in range(there.there.nsite)}
    for k, frame in enumerate(model.tree.frames):
        if frame.name in names:
            assert there.data.site(frame.name).xpos == pytest.approx(data.oMf[k].translation, abs=1e-12)
    assert {"knee_spring_link"} <= names
    for j in range(1, model.njoints):
        body = there.data.body(f"{model.names[j]}_link")
        assert body.xpos == pytest.approx(data.oMi[j].translation, abs=1e-12)


def test_limits_friction_and_gravity_are_there() -> None:
    tree = pin.Model()
    j = tree.addJoint(0, pin.JointModelRX(), pin.SE3.Identity(), "hinge")
    tree.appendBodyToJoint(j, pin.Inertia(1.0, np.array([0.0, 0.1, 0.0]), np.eye(3)), pin.SE3.Identity())
    tree.lowerPositionLimit, tree.upperPositionLimit = np.array([-1.0]), np.array([2.0])
    tree.damping, tree.friction, tree.armature = np.array([0.3]), np.array([0.2]), np.array([0.1])
    tree.gravity.linear = np.array([1.0, 2.0, 3.0])
    there = compiled(pc.to_mjcf(pc.ClusterModel(tree), timestep=0.002, integrator="RK4"))
    joint = there.joint("hinge")
    assert joint.range.tolist() == [-1.0, 2.0]
    assert (joint.damping[0], joint.frictionloss[0], joint.armature[0]) == (0.3, 0.2, 0.1)
    assert there.opt.gravity.tolist() == [1.0, 2.0, 3.0]
    assert there.opt.timestep == 0.002
    assert there.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4


KINDS = ("fixed", "revolute", "prismatic", "cylindrical", "spherical", "universal", "planar")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("swapped", [False, pytest.param(True, marks=pytest.mark.long)])
def test_every_kind_of_loop_is_closed(kind: str, swapped: bool) -> None:
    """A chain of eight joints whose end is tied to the ground or to its first body."""
    rng = draw(f"mjcf loop {kind} {swapped}")
    b, parent = mechanisms.Builder(rng), None
    for k in range(8):
        b.add(f"joint{k}", parent, rng.normal(size=3), 0.4 * rng.normal(size=3), 0.5 * rng.normal())
        parent = f"joint{k}"
    tree, q = b.tree, b.q()
    data = tree.createData()
    pin.forwardKinematics(tree, data, q)
    frame = pin.SE3(pin.rpy.rpyToMatrix(*rng.normal(size=3)), 0.2 * rng.normal(size=3))
    first = "universe" if swapped else "joint0"
    here = data.oMi[tree.getJointId(first) if not swapped else 0].actInv(data.oMi[8] * frame)
    ends = (first, here), ("joint7", frame)
    if kind == "universal":
        here = here * pin.SE3(pin.rpy.rpyToMatrix(0.4, 0.0, 0.0), np.zeros(3))
    loop = pc.Loop(
        *(ends[::-1] if swapped else ends), kind, (0.0, 0.0, 1.0) if kind != "universal" else (1.0, 0.0, 0.0)
    )
    model = pc.ClusterModel(tree, [loop], q)
    there = Compiled(model, pc.to_mjcf(model, "exact"))
    data = model.createData()
    for pose in (pc.neutral(model), pc.integrate(model, pc.neutral(model), 0.05 * rng.normal(size=model.nv))):
        assert error(there.mass_matrix(pose), pc.crba(model, data, pose)) < 1e-10
        assert there.residual() < 1e-9


def solid(model: pc.ClusterModel) -> pc.ClusterModel:
    """The same mechanism of real bodies, as MuJoCo takes no others."""
    tree = model.tree.copy()
    for j in range(1, tree.njoints):
        turn = pin.rpy.rpyToMatrix(0.1 * j, 0.2 * j, 0.3 * j)
        moments = tree.inertias[j].mass * turn @ np.diag([0.02, 0.03, 0.04]) @ turn.T
        tree.inertias[j] = pin.Inertia(tree.inertias[j].mass, tree.inertias[j].lever, moments)
    return pc.ClusterModel(tree, model.constraints, model.q_reference, independent=model.independent_joints)


MORE = ("rssr_massive", "delta", "slider_crank", "geared_five_bar", "five_bar", "push_rod_ankle", "ankle_2rsu")
FLOATING = ("four_bar_serial_on_free_flyer", "rotors_on_a_loop_on_free_flyer")


@pytest.mark.parametrize(
    "name", [*MORE[:3], *(pytest.param(n, marks=pytest.mark.long) for n in (*MORE[3:], *FLOATING))]
)
def test_mechanisms_of_all_kinds(name: str) -> None:
    model = solid(pool.case(name).model)
    there, data = Compiled(model, pc.to_mjcf(model, "exact")), model.createData()
    rng = draw(f"mjcf mechanisms {name}")
    for q in (pool.case(name).q, pc.neutral(model)):
        v, a = rng.normal(size=(2, model.nv))
        assert error(there.mass_matrix(q), pc.crba(model, data, q)) < 1e-10
        assert error(there.torque(q, v, a), pc.rnea(model, data, q, v, a)) < 1e-7


AGAIN = {"four_bar": "exact", "ankle_2rsu": "exact", "mit_humanoid_leg": "best", "robotiq_2f85": "best"}
MORE_AGAIN = {"mini_cheetah": "best", "teleop_arm": "best", "cassie": "exact", "six_bar": "exact", "delta": "exact"}


@pytest.mark.parametrize("name", [*AGAIN, *(pytest.param(n, marks=pytest.mark.long) for n in MORE_AGAIN)])
def test_the_loader_reads_it_again(name: str) -> None:
    approximation = (AGAIN | MORE_AGAIN)[name]
    model = load(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        again = pc.buildModelFromMJCF(pc.to_mjcf(model, approximation), independent=model.independent_joints)  # type: ignore[arg-type]
    places = [
        (model.joint_idx_v(n) + k, again.joint_idx_v(n) + k)
        for n in model.independent_joints
        for k in range(model.tree.nvs[model.getJointId(n)])
    ]
    mine, its = map(list, zip(*places, strict=True))
    M = pc.crba(model, model.createData(), pc.neutral(model))
    if approximation == "best" and not model.closures:
        M = pc.approximations.of(model)["block"].crba(pc.neutral(model))
    found = pc.crba(again, again.createData(), pc.neutral(again))
    assert error(found[np.ix_(its, its)], M[np.ix_(mine, mine)]) < 1e-10


def test_rotors_without_mass_borrow_from_their_carriers() -> None:
    """The leg that MuJoCo refuses when it reads the URDF itself."""
    text = pc.to_mjcf(load("mit_humanoid_leg"), "exact")
    said = text.split("-->")[0]
    assert "moved to these bodies from their parents" in said
    assert "knee_rotor_link" in said
    there = compiled(text)
    assert min(there.body_mass[1:]) > 0.0


def unreal() -> pc.ClusterModel:
    tree = pin.Model()
    tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "base")
    body = pin.Inertia.Zero()
    body.mass, body.inertia = 1.0, np.diag([1.0, 1.0, 5.0])
    tree.inertias[1] = body
    return pc.ClusterModel(tree)


def single(joint: pin.JointModel) -> pc.ClusterModel:
    tree = pin.Model()
    j = tree.addJoint(0, joint, pin.SE3.Identity(), "only")
    tree.appendBodyToJoint(j, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    return pc.ClusterModel(tree)


def held() -> pc.ClusterModel:
    tree = single(pin.JointModelRX()).tree
    return pc.ClusterModel(tree, [pc.GravityCompensation("only", 0.5)])


def cam(x: np.ndarray) -> np.ndarray:
    return np.array([x[0] - np.sin(x[1])])


def on_a_function() -> pc.ClusterModel:
    b = mechanisms.Builder(draw("mjcf function"))
    for name in ("one", "two"):
        b.add(name, None, np.array([1.0, 0.0, 0.0]), np.zeros(3), 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return b.mechanism([pc.Coupling(["one", "two"], cam, name="cam")], ("two",), 1).build()


def other_lengths(offset: float) -> pc.ClusterModel:
    """A Tello whose gimbals are mounted elsewhere."""
    model = load("tello")
    parts = [
        dataclasses.replace(c, gimbal_offset=offset) if isinstance(c, pc.Differential.tello_hip) else c
        for c in model.constraints
    ]
    return pc.ClusterModel(model.tree, parts, model.q_reference)


def test_tello_of_the_same_lengths_is_not_refused() -> None:
    assert "tello_hip" in pc.to_mjcf(other_lengths(0.01995))


REFUSED: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "function": (lambda: pc.to_mjcf(on_a_function()), pc.ConstraintError, "Coupling('cam')"),
    "tello, other lengths": (
        lambda: pc.to_mjcf(other_lengths(0.02)), pc.ConstraintError, "Differential.tello_hip",
    ),
    "body": (lambda: pc.to_mjcf(unreal()), pc.ModelError, "'base_link' 1 5"),
    "screw": (lambda: pc.to_mjcf(single(pin.JointModelHX(0.1))), pc.UnsupportedJointError, "'only'"),
    "weight": (lambda: pc.to_mjcf(held()), pc.ConstraintError, "0.5"),
    "approximation": (
        lambda: pc.to_mjcf(load("four_bar"), "bets"), pc.ArgumentTypeError, "approximation 'best'",  # type: ignore[arg-type]
    ),
    "integrator": (
        lambda: pc.to_mjcf(load("four_bar"), integrator="rk4"), pc.ArgumentTypeError, "integrator",  # type: ignore[arg-type]
    ),
    "timestep": (lambda: pc.to_mjcf(load("four_bar"), timestep=0.0), pc.ArgumentTypeError, "timestep"),
    "solref": (lambda: pc.to_mjcf(load("four_bar"), solref=-1.0), pc.ArgumentTypeError, "solref"),
    "visual_model": (
        lambda: pc.to_mjcf(load("four_bar"), visual_model=pin.Model()), pc.ArgumentTypeError, "GeometryModel Model",
    ),
    "a pin.Model": (lambda: pc.to_mjcf(pin.Model()), pc.ArgumentTypeError, "ClusterModel Model"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_mujoco_cannot_have_is_refused(case: str) -> None:
    call, kind, words = REFUSED[case]
    with raises(kind, words):
        call()


def test_a_deep_chain_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_bodies, "MAX_DEPTH", 20)
    tree = pin.Model()
    for k in range(25):
        tree.addJoint(k, pin.JointModelRX(), pin.SE3.Identity(), f"joint{k}")
        tree.appendBodyToJoint(k + 1, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
    with raises(pc.ModelError, "20"):
        pc.to_mjcf(pc.ClusterModel(tree))


TRIANGLES = """solid part
facet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 0 endloop endfacet
facet normal 0 0 1 outer loop vertex 0 0 1 vertex 1 0 0 vertex 0 1 0 endloop endfacet
facet normal 0 0 1 outer loop vertex 0 0 1 vertex 1 0 0 vertex 0 0 0 endloop endfacet
facet normal 0 0 1 outer loop vertex 0 0 1 vertex 0 0 0 vertex 0 1 0 endloop endfacet
endsolid
"""


def test_armature_that_mujoco_has_not_is_said() -> None:
    """It has one number for a ball, and none here for free and planar joints."""
    for joint, given, written in (
        (pin.JointModelSpherical(), [0.1, 0.2, 0.3], 0.1), (pin.JointModelFreeFlyer(), [0.1] * 6, 0.0),
        (pin.JointModelPlanar(), [0.1] * 3, 0.0), (pin.JointModelSpherical(), [0.1] * 3, None),
    ):  # fmt: skip
        tree = single(joint).tree.copy()
        tree.armature = np.array(given)
        text = pc.to_mjcf(pc.ClusterModel(tree))
        said = re.search(r"armature of joint \w+ is [\d. ]+ in the model, but ([\d.]+) in this file", text)
        assert (said and float(said[1])) == written


def test_shapes_are_drawn_as_given(tmp_path: Path) -> None:
    """Meshes by their paths, primitives; what is missing or unreadable is said."""
    obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
    (tmp_path / "part.obj").write_text(obj)
    (tmp_path / "part.dae").write_text("<COLLADA/>")
    shapes = "".join(
        f'<visual name="{name}"><geometry>{shape}</geometry></visual>'
        for name, shape in (
            ("mesh", f'<mesh filename="{tmp_path}/part.obj" scale="2 2 2"/>'), ("box", '<box size="1 2 3"/>'),
            ("ball", '<sphere radius="0.5"/>'), ("can", '<cylinder radius="0.5" length="2"/>'),
        )
    )  # fmt: skip
    urdf = f"""<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>{shapes}</link>
    <joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>"""
    model = pc.buildModelFromXML(urdf)
    visual = pin.buildGeomFromUrdfString(model.tree, urdf, pin.GeometryType.VISUAL)
    there = compiled(pc.to_mjcf(model, visual_model=visual))
    kinds = sorted(int(k) for k in there.geom_type)
    shapes_of = mujoco.mjtGeom
    assert kinds == sorted(map(int, (shapes_of.mjGEOM_MESH, shapes_of.mjGEOM_BOX, shapes_of.mjGEOM_SPHERE,
                                     shapes_of.mjGEOM_CYLINDER)))  # fmt: skip
    assert not there.geom_contype.any()
    (tmp_path / "part.obj").unlink()
    text = pc.to_mjcf(model, visual_model=visual)
    assert "with missing mesh files are omitted: arm_0" in text.split("-->")[0]
    assert there.body_mass[1] == compiled(text).body_mass[1] == 1.0


def test_names_are_unique_and_escaped() -> None:
    tree = pin.Model()
    for k, name in enumerate(('a "quoted" <name> & more', "world")):
        j = tree.addJoint(k, pin.JointModelRX(), pin.SE3.Identity(), name)
        tree.appendBodyToJoint(j, pin.Inertia(1.0, np.zeros(3), np.eye(3)), pin.SE3.Identity())
        tree.addJointFrame(j)
        tree.addBodyFrame("world" if k else "first -- body", j, pin.SE3.Identity(), -1)
    model = pc.ClusterModel(tree, [pc.Rotor("world", r, axial_inertia=1e-3, name=f"{r:g} & <x>") for r in (3.0, 4.0)])
    for approximation in ("best", "exact"):
        text = pc.to_mjcf(model, approximation)  # type: ignore[arg-type]
        there = compiled(text)
        assert there.nu == 2
        assert ET.fromstring(text).find(".//body").get("name") == "first -- body"  # type: ignore[union-attr]
