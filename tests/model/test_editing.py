"""Joints added, locked, and robots appended: the results equal models of the same robots that are built by hand."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises

import pin_clusters as pc

pytestmark = pytest.mark.jitless
ROUNDING = 1e-12
RX, RY, RZ, FREE = pin.JointModelRX(), pin.JointModelRY(), pin.JointModelRZ(), pin.JointModelFreeFlyer()


@dataclass(frozen=True)
class Part:
    """A body with its joint; its body frame is named ``body`` and is off the joint."""

    name: str
    parent: str
    joint: Any
    place: pin.SE3
    inertia: pin.Inertia
    body: str


def part(
    name: str, parent: str, joint: Any, at: Sequence[float], mass: float, body: str = "", turn: Any = None
) -> Part:
    """Return a link of plausible inertia whose numbers follow from its name."""
    rng = np.random.default_rng(sum(map(ord, name)))
    size = 0.05 + 0.1 * rng.uniform(size=3)
    inertia = pin.Inertia.FromBox(mass, *size)
    inertia.lever = 0.03 * rng.normal(size=3)
    rotation = np.eye(3) if turn is None else pin.rpy.rpyToMatrix(*turn)
    return Part(name, parent, joint, pin.SE3(rotation, np.array(at, dtype=float)), inertia, body or f"{name}_link")


def built(parts: Iterable[Part], fixed: Mapping[str, pin.SE3] | None = None, plain: Iterable[str] = ()) -> pin.Model:
    """Build a tree by hand, call by call.

    Joints in ``fixed`` are welded, at that placement in their parent; those in ``plain`` have Pinocchio's limits.
    """
    tree, on = pin.Model(), {"universe": (0, pin.SE3.Identity())}
    numbers = {}
    for p in parts:
        to, at = on[p.parent]
        if p.name in (fixed or {}):
            at = at * fixed[p.name]
            tree.appendBodyToJoint(to, p.inertia, at)
            on[p.name] = to, at
        else:
            to = tree.addJoint(to, p.joint, at * p.place, p.name)
            tree.appendBodyToJoint(to, p.inertia, pin.SE3.Identity())
            on[p.name] = to, pin.SE3.Identity()
            numbers[to] = sum(map(ord, p.name)) % 17 + 1.0
    for p in parts:
        j, at = on[p.name]
        kind = pin.FrameType.FIXED_JOINT if p.name in (fixed or {}) else pin.FrameType.JOINT
        tree.addFrame(pin.Frame(p.name, j, 0, at, kind), False)
        at = at * pin.SE3(np.eye(3), np.array([0.01, 0.02, -0.03]))
        tree.addFrame(pin.Frame(p.body, j, 0, at, pin.FrameType.BODY), False)
    for j, number in numbers.items():
        if tree.nvs[j] == 1 and tree.names[j] not in plain:
            i = tree.idx_vs[j]
            tree.damping[i], tree.effortLimit[i], tree.velocityLimit[i] = 0.1 * number, 10.0 * number, number
            tree.lowerPositionLimit[tree.idx_qs[j]] = -number / 10.0
            if hasattr(tree, "lowerVelocityLimit"):
                tree.lowerVelocityLimit[i] = -number
    return tree


# --- a humanoid like T1: parallel ankles


def t1(sides: str = "lr") -> list[Part]:
    found = [part("root", "universe", FREE, (0, 0, 0.9), 12.0, "trunk")]
    for s in sides:
        y = 0.1 if s == "l" else -0.1
        found += [
            part(f"{s}_hip_pitch", "root", RY, (0, y, -0.1), 1.4),
            part(f"{s}_hip_roll", f"{s}_hip_pitch", RX, (0.02, 0, -0.02), 0.9, turn=(0.1, 0.2, -0.1)),
            part(f"{s}_hip_yaw", f"{s}_hip_roll", RZ, (0, 0, -0.08), 3.0),
            part(f"{s}_knee", f"{s}_hip_yaw", RY, (-0.014, 0, -0.134), 1.8, turn=(0.2, -0.3, 0.1)),
            part(f"{s}_ankle_pitch", f"{s}_knee", RY, (0, 0, -0.28), 0.1),
            part(f"{s}_ankle_roll", f"{s}_ankle_pitch", RX, (0, 0, -0.012), 0.6),
        ]
    return found


def cranks(sides: str = "lr") -> list[Part]:
    return [
        part(f"{s}_crank_{k}", f"{s}_knee", RY, (0.0, 0.03 if k == "out" else -0.03, h), 0.05)
        for s in sides for k, h in (("out", -0.08), ("in", -0.13))
    ]  # fmt: skip


def t1_rods(sides: str = "lr") -> list[pc.Rod]:
    return [
        pc.Rod(
            (f"{s}_crank_{k}", [0.045, 0.0, 0.005]), (f"{s}_ankle_roll", [0.04, y, 0.015]), mass=0.04, name=f"{s} {k}"
        )
        for s in sides for k, y in (("out", 0.032), ("in", -0.032))
    ]  # fmt: skip


def t1_rotors(sides: str = "lr") -> list[pc.Rotor]:
    disc = pin.Inertia(0.2, np.array([0.0, 0.01, 0.0]), np.diag([1e-4, 1.8e-4, 1e-4]))
    at = pin.SE3(pin.rpy.rpyToMatrix(0.2, -0.3, 0.1), np.ones(3) / 50)
    return [
        r for s in sides for r in (
            pc.Rotor(f"{s}_hip_pitch", 18.0, axial_inertia=9e-5, armature="keep"),
            pc.Rotor(f"{s}_knee", -12.0, inertia=disc, placement=at),
        )
    ]  # fmt: skip


# --- a humanoid like G1: parallel waist


def g1() -> list[Part]:
    return [
        part("pelvis", "universe", FREE, (0, 0, 0.8), 3.8, "pelvis_body"),
        part("waist_yaw", "pelvis", RZ, (0, 0, 0.05), 0.3),
        part("waist_roll", "waist_yaw", RX, (-0.004, 0, 0.04), 0.1),
        part("waist_pitch", "waist_roll", RY, (0, 0, 0.01), 7.8, "torso"),
        part("neck", "waist_pitch", RZ, (0, 0, 0.4), 1.0),
        part("waist_crank_l", "waist_yaw", RY, (0.03, 0.04, 0.01), 0.06),
        part("waist_crank_r", "waist_yaw", RY, (0.03, -0.04, 0.01), 0.06),
    ]


def g1_constraints() -> list[Any]:
    return [
        pc.Rod(("waist_crank_l", [0.04, 0, 0]), ("torso", [0.07, 0.05, 0.12]), mass=0.05),
        pc.Rod(("waist_crank_r", [0.04, 0, 0]), ("torso", [0.07, -0.05, 0.12]), mass=0.05),
        pc.Rotor("waist_crank_l", 22.5, axial_inertia=2e-5),
        pc.Rotor("waist_crank_r", 22.5, axial_inertia=2e-5),
        pc.Rotor("waist_yaw", 14.3, axial_inertia=5e-5),
    ]


# --- a robot like iCub: coupled shoulders, joints and bodies of one name, joints in breadth-first order


def icub() -> list[Part]:
    table = (
        ("shoulder_pitch", "torso", RY, (0, 0.11, 0.15), 0.3),
        ("shoulder_roll", "shoulder_pitch", RX, (0, 0.06, 0), 0.4),
        ("shoulder_yaw", "shoulder_roll", RZ, (0, 0.02, -0.01), 0.9),
        ("elbow", "shoulder_yaw", RY, (0.01, 0, -0.15), 0.5),
    )
    found = [part("torso", "universe", RZ, (0, 0, 0.6), 5.0, "torso", turn=(0.1, 0, 0.3))]
    for name, parent, joint, (x, y, z), mass in table:
        for s, sign in (("l", 1), ("r", -1)):
            on = parent if parent == "torso" else f"{s}_{parent}"
            found.append(part(f"{s}_{name}", on, joint, (x, sign * y, z), mass, f"{s}_{name}", (0.1, 0.2 * sign, 0.0)))
    return found


def icub_rotors(sides: str = "lr") -> list[pc.Rotor]:
    """Return three motors per shoulder in the torso; the second and third one turn by several joints."""
    ratios = {"pitch": (100.0,), "roll": (-61.4, 100.0), "yaw": (61.4, -61.4, 100.0)}
    names = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw")
    return [
        pc.Rotor([f"{s}_{n}" for n in names[: len(x)]], x, axial_inertia=1e-6, name=f"{s} motor of {k}")
        for s in sides for k, x in ratios.items()
    ]  # fmt: skip


# --- what is compared


def entries(model: pc.ClusterModel, names: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return where joints are in q, and the independent ones in v."""
    at_q = [model.idx_qs[j] + i for j in map(model.getJointId, names) for i in range(model.nqs[j])]
    free = [n for n in names if n in model.independent_joints]
    at_v = [model.joint_idx_v(n) + i for n in free for i in range(model.own_tree.nvs[model.getJointId(n)])]
    return at_q, at_v


def same(model: pc.ClusterModel, hand: pc.ClusterModel, size: float = 0.2) -> None:
    """Compare dynamics and placements at assembled states; entries of q and v are matched by the names of joints."""
    rng, names = np.random.default_rng(0), list(hand.names)[1:]
    assert sorted(model.names) == sorted(hand.names)
    assert sorted(model.independent_joints) == sorted(hand.independent_joints)
    (q_hand, v_hand), (q_ours, v_ours) = entries(hand, names), entries(model, names)
    datas = model.createData(), hand.createData()
    for _ in range(3):
        q = pc.integrate(hand, hand.q_reference, size * rng.normal(size=hand.nv))
        v, a = rng.normal(size=(2, hand.nv))
        x, y, z = np.empty(model.nq), *np.empty((2, model.nv))
        x[q_ours], y[v_ours], z[v_ours] = q[q_hand], v[v_hand], a[v_hand]
        tau, theirs = pc.rnea(model, datas[0], x, y, z)[v_ours], pc.rnea(hand, datas[1], q, v, a)[v_hand]
        close(tau, theirs)
        back = np.empty((2, hand.nv))
        back[0][v_hand], back[1][v_ours] = theirs, tau
        close(pc.aba(model, datas[0], x, y, back[1])[v_ours], a[v_hand])
        close(pc.aba(hand, datas[1], q, v, back[0])[v_hand], a[v_hand])
        close(pc.crba(model, datas[0], x)[np.ix_(v_ours, v_ours)], pc.crba(hand, datas[1], q)[np.ix_(v_hand, v_hand)])
        if hand.passive is not None:
            torques = (
                pc.passive_torque(m, d, s, u) for m, d, s, u in ((model, datas[0], x, y), (hand, datas[1], q, v))
            )
            close(next(torques)[v_ours], next(torques)[v_hand])
        pc.framesForwardKinematics(model, datas[0], x)
        pc.framesForwardKinematics(hand, datas[1], q)
        placed = {(f.name, is_joint(f)): M for f, M in zip(model.frames, datas[0].oMf, strict=True)}
        for f, M in zip(hand.frames, datas[1].oMf, strict=True):
            close(placed[f.name, is_joint(f)].homogeneous, M.homogeneous)
    for field in ("lowerPositionLimit", "upperPositionLimit"):
        assert np.array_equal(getattr(model, field)[q_ours], getattr(hand, field)[q_hand])
    for field in ("armature", "damping", "effortLimit", "velocityLimit", "friction"):
        assert np.array_equal(getattr(model, field)[v_ours], getattr(hand, field)[v_hand])


def is_joint(frame: pin.Frame) -> bool:
    return frame.type in (pin.FrameType.JOINT, pin.FrameType.FIXED_JOINT)


def close(x: np.ndarray, y: np.ndarray) -> None:
    assert np.abs(x - y).max() <= ROUNDING * max(1.0, np.abs(y).max())


@pytest.fixture(autouse=True)
def generic() -> Any:
    """Use kernels for all robots: there are many robots here."""
    with pc.engine("tables"):
        yield


def with_cranks(model: pc.ClusterModel, parts: Iterable[Part], rods: Iterable[Any]) -> pc.ClusterModel:
    for p, rod in zip(parts, rods, strict=True):
        model = model.with_joint(
            p.name, p.joint, parent=p.parent, placement=p.place, inertia=p.inertia, constraints=[rod]
        )
        model = model.with_frames({p.body: (p.name, [0.01, 0.02, -0.03])})
    return model


def names_of(parts: Iterable[Part]) -> list[str]:
    return [p.name for p in parts]


def test_cranks_make_a_serial_ankle_parallel() -> None:
    """The smaller robot stays as it was."""
    small = pc.ClusterModel(built(t1()), t1_rotors())
    before = small.own_tree.copy()
    hand = pc.ClusterModel(built([*t1(), *cranks()], plain=names_of(cranks())), [*t1_rotors(), *t1_rods()])
    model = with_cranks(small, cranks(), t1_rods())
    assert small.own_tree == before
    assert small.constraints == tuple(t1_rotors())
    assert [*model.names] == [*hand.names]
    assert [*model.parents] == [*hand.parents]
    same(model, hand)
    other = pickle.loads(pickle.dumps(model))
    assert other.own_tree == model.own_tree
    assert other.constraints == model.constraints
    same(other, hand)


@pytest.mark.parametrize("placed", [False, True])
@pytest.mark.parametrize("joint", [RY, pin.JointModelSpherical()], ids=["hinge", "ball"])
def test_a_series_elastic_knee(joint: Any, placed: bool) -> None:
    """The rotor stays on the thigh and turns with the motor's joint; its inertia stays where it was."""
    parts, rods = [*t1(), *cranks()], [*t1_rotors(), *t1_rods()]
    model, k = pc.ClusterModel(built(parts), rods), names_of(parts).index("l_knee")
    knee, place = parts[k], pin.SE3(pin.rpy.rpyToMatrix(0.3, 0.1, -0.2), np.array([0.01, 0.02, -0.1]))
    spring = Part("l_spring", knee.parent, joint, place if placed else knee.place, pin.Inertia.Zero(), "l_spring_link")
    parts[k : k + 1] = spring, replace(knee, parent="l_spring", place=spring.place.actInv(knee.place))
    disc = rods[1]
    at = knee.place.rotation @ np.array([0.0, 1.0, 0.0])
    rods[1] = replace(disc, carrier="l_hip_yaw", axis=disc.placement.rotation.T @ at)
    forces = [pc.Spring("l_spring", stiffness=400.0, damping=0.2)]
    hand = pc.ClusterModel(built(parts, plain=["l_spring"]), [*rods, *forces])
    found = model.with_joint(
        "l_spring", joint, before="l_knee", placement=place if placed else None, constraints=forces
    ).with_frames({"l_spring_link": ("l_spring", [0.01, 0.02, -0.03])})
    assert [*found.names] == [*hand.names]
    assert [*found.parents] == [*hand.parents]
    assert found.jointPlacements[found.getJointId("l_knee")].isIdentity(0.0) is not placed
    same(found, hand)
    frames = found.frames
    assert [frames[k].name for k in range(model.nframes)] == [f.name for f in model.frames]
    knee_frame = frames[found.getFrameId("l_knee", pin.FrameType.JOINT)]
    assert frames[knee_frame.parentFrame].name == "l_spring"


def test_a_spring_in_a_coupled_shoulder() -> None:
    """Joints and bodies have one name, and the order is breadth-first; motors turn by several joints."""
    parts = icub()
    model, k = pc.ClusterModel(built(parts), icub_rotors()), names_of(parts).index("r_shoulder_pitch")
    first = parts[k]
    spring = Part("r_spring", "torso", RY, first.place, pin.Inertia.Zero(), "r_spring_link")
    parts[k : k + 1] = spring, replace(first, parent="r_spring", place=pin.SE3.Identity())
    axis = first.place.rotation @ np.array([0.0, 1.0, 0.0])
    rotors = [replace(r, carrier="torso", axis=axis) if r.name.startswith("r ") else r for r in icub_rotors()]
    found = model.with_joint("r_spring", RY, before="r_shoulder_pitch").with_frames(
        {"r_spring_link": ("r_spring", [0.01, 0.02, -0.03])}
    )
    same(found, pc.ClusterModel(built(parts, plain=["r_spring"]), rotors))
    assert found.constraints[:3] == model.constraints[:3]


def fixed_at(tree: pin.Model, joints: Iterable[str], q: np.ndarray) -> dict[str, pin.SE3]:
    data = tree.createData()
    pin.forwardKinematics(tree, data, q)
    return {name: data.liMi[tree.getJointId(name)] for name in joints}


def locked_rods(model: pc.ClusterModel, q: np.ndarray, rods: Iterable[pc.Rod], joint: str, tree: pin.Model) -> None:
    """Add rods as slender bodies to the body of a joint of another tree."""
    data = model.createData()
    pc.forwardKinematics(model, data, q)
    oM, j = data.oMi[model.getJointId(joint)], tree.getJointId(joint)
    for rod in (r for r in model.closures if r.source in rods):
        a, b = (oM.actInv(data.oMi[k].act(point)) for k, point in rod.ends)
        along, m = b - a, rod.mass
        slender = m / 12.0 * (along @ along * np.eye(3) - np.outer(along, along))
        tree.inertias[j] += pin.Inertia(m, 0.5 * (a + b), slender)


def locked_t1() -> Any:
    """Return a robot of which an ankle is locked, and the thigh that carries a rotor; on the right also its knee."""
    held = ["l_hip_yaw", "l_ankle_pitch", "l_ankle_roll", "l_crank_out", "l_crank_in", "r_hip_yaw", "r_knee"]
    parts, rotors, rods = [*t1(), *cranks()], t1_rotors(), t1_rods()

    def by_hand(model: pc.ClusterModel, q: np.ndarray, fixed: dict[str, pin.SE3]) -> pc.ClusterModel:
        tree = built(parts, fixed)
        locked_rods(model, q, rods[:2], "l_knee", tree)
        knee = replace(rotors[1], placement=fixed["l_hip_yaw"] * rotors[1].placement)
        still = (fixed["r_hip_yaw"] * rotors[3].placement).act(rotors[3].inertia)
        tree.inertias[tree.getJointId("r_hip_roll")] += still
        return pc.ClusterModel(tree, [rotors[0], knee, rotors[2], *rods[2:]])

    return parts, [*rotors, *rods], held, by_hand


def locked_g1() -> Any:
    held = ["waist_roll", "waist_pitch", "waist_crank_l", "waist_crank_r"]

    def by_hand(model: pc.ClusterModel, q: np.ndarray, fixed: dict[str, pin.SE3]) -> pc.ClusterModel:
        tree, constraints = built(g1(), fixed), g1_constraints()
        locked_rods(model, q, constraints[:2], "waist_yaw", tree)
        return pc.ClusterModel(tree, constraints[-1:])

    return g1(), g1_constraints(), held, by_hand


def locked_icub() -> Any:
    """Return a robot of which only some joints that turn a motor are locked, and the body that carries motors."""
    held = ["torso", "l_shoulder_pitch", "r_shoulder_roll", "r_elbow"]

    def by_hand(model: pc.ClusterModel, q: np.ndarray, fixed: dict[str, pin.SE3]) -> pc.ClusterModel:
        left = []
        for rotor in icub_rotors():
            pairs = [pair for pair in zip(rotor.joints, rotor.ratios, strict=True) if pair[0] not in held]
            first = next(p for p in icub() if p.name == rotor.joints[0])
            if pairs:
                joints, ratios = zip(*pairs, strict=True)
                more = {"carrier": "universe", "axis": first.place.rotation[:, 1], "placement": fixed["torso"]}
                left.append(replace(rotor, joints=list(joints), ratios=list(ratios), **more))
        return pc.ClusterModel(built(icub(), fixed), left)

    return icub(), icub_rotors(), held, by_hand


@pytest.mark.parametrize("call", ["with_locked", "buildReducedModel"])
@pytest.mark.parametrize("robot", [locked_t1, locked_g1, locked_icub])
def test_locked(robot: Callable[[], Any], call: str) -> None:
    parts, constraints, held, by_hand = robot()
    model = pc.ClusterModel(built(parts), constraints)
    before = model.own_tree.copy()
    q = pc.integrate(model, model.q_reference, 0.2 * np.random.default_rng(2).normal(size=model.nv))
    ids = [model.getJointId(name) for name in held]
    found = model.with_locked(held, q) if call == "with_locked" else pc.buildReducedModel(model, ids, q)
    data = model.createData()
    pc.forwardKinematics(model, data, q)
    fixed = {name: data.liMi[j].copy() for name, j in zip(held, ids, strict=True)}
    hand = by_hand(model, q, fixed)
    assert [*found.names] == [*hand.names]
    same(found, hand)
    assert model.own_tree == before


# --- two robots


def gripper() -> list[Part]:
    """Return a gripper on the universe: two fingers, of which a loop and a rod go to the universe."""
    return [
        part("g_slide", "universe", pin.JointModelPX(), (0.02, 0, 0.03), 0.2, turn=(0.1, 0.2, 0.3)),
        part("g_crank", "universe", RY, (0.0, 0.05, 0.02), 0.1),
        part("g_finger", "g_slide", RY, (0.02, 0, 0.05), 0.1),
        part("g_bar", "universe", RY, (0.0, 0.1, 0.0), 0.1),
    ]


def gripper_constraints(base: Any, carrier: str, at: pin.SE3) -> list[Any]:
    """Return constraints of the gripper; ``base`` names the universe, ``at`` is its placement on the carrier."""
    disc = pin.Inertia(0.1, np.zeros(3), np.diag([5e-5, 9e-5, 5e-5]))
    frame = pin.SE3(np.eye(3), np.array([0.0, 0.05, 0.02]))
    return [
        pc.Rod(base([0.03, 0.02, 0.1]), ("g_finger", [0.01, 0.02, 0.04]), mass=0.02, name="to the universe"),
        pc.Loop(base([0.0, 0.1, 0.0]), "g_bar", "revolute", axis=at.rotation[:, 1], axis_b=(0, 1, 0), name="idle"),
        pc.Rotor("g_crank", 30.0, inertia=disc, axis=(0, 1, 0), placement=at * frame, carrier=carrier),
        pc.Spring([base([0.0, 0.0, 0.2]), ("g_crank", [0.05, 0, 0.01])], stiffness=90.0, rest=0.1, damping=0.3),
        pc.GravityCompensation("g_finger", 0.05, (0.01, 0, 0)),
        pc.Spring({"g_slide": 2.0, "g_crank": -1.0}, 4.0, 0.1),
    ]


def gripper_model() -> pc.ClusterModel:
    constraints = gripper_constraints(lambda p: ("universe", p), "universe", pin.SE3.Identity())
    del constraints[1]
    constraints[1] = replace(constraints[1], carrier=None, axis=None)
    tree = built(gripper())
    tree.inertias[0] = pin.Inertia(0.7, np.array([0.01, 0, 0.03]), 0.002 * np.eye(3))
    return pc.ClusterModel(tree, constraints)


A_M_B = pin.SE3(pin.rpy.rpyToMatrix(0.3, -0.2, 0.5), np.array([0.05, 0.02, 0.1]))
ON = {"t1": "l_hip_roll_link", "icub": "l_shoulder_roll"}


@pytest.mark.parametrize("robot", ["t1", "icub", "universe"])
def test_append(robot: str) -> None:
    """A gripper that is fixed to a robot: its rod, rotor, cable and mass on the universe move with the robot's body."""
    if robot == "t1":
        parts, constraints = [*t1(), *cranks()], [*t1_rotors(), *t1_rods()]
    else:
        parts, constraints = icub(), icub_rotors()
    first, second = pc.ClusterModel(built(parts), constraints), gripper_model()
    before = first.own_tree.copy(), second.own_tree.copy()
    if robot == "universe":
        frame, carrier = 0, "universe"
        at = A_M_B
    else:
        frame = first.getFrameId(ON[robot], pin.FrameType.BODY)
        carrier, at = first.names[first.frames[frame].parentJoint], first.frames[frame].placement * A_M_B
    found = pc.appendModel(first, second, frame, A_M_B)
    whole = [replace(p, parent=carrier, place=at * p.place) if p.parent == "universe" else p for p in gripper()]
    order = [name for name in found.names if name != "universe"]
    tree = built(sorted([*parts, *whole], key=lambda p: order.index(p.name)))
    tree.appendBodyToJoint(tree.getJointId(carrier), second.own_tree.inertias[0], at)
    of_gripper = gripper_constraints(lambda p: (carrier, at.act(np.array(p))), carrier, at)
    del of_gripper[1]
    of_gripper[1] = replace(of_gripper[1], axis=at.rotation.T @ at.rotation @ np.array([0.0, 1.0, 0.0]))
    same(found, pc.ClusterModel(tree, [*constraints, *of_gripper]), size=0.03)
    assert [*found.parents] == [*tree.parents]
    assert (first.own_tree, second.own_tree) == before
    assert [f.name for f in found.frames][: first.nframes] == [f.name for f in first.frames]
    same(pickle.loads(pickle.dumps(found)), found, size=0.03)


def test_append_orders_joints_as_pinocchio_does() -> None:
    """On trees that are depth-first, the only ones that Pinocchio's function takes."""
    one, two = pin.buildSampleModelHumanoidRandom(), built(gripper())
    for frame in range(0, one.nframes, 7):
        theirs, ours = pin.appendModel(one, two, frame, A_M_B), pc.appendModel(pc.ClusterModel(one), two, frame, A_M_B)
        assert [*ours.names] == [*theirs.names]
        assert [*ours.parents] == [*theirs.parents]
        for x, y in zip(ours.jointPlacements, theirs.jointPlacements, strict=True):
            close(x.homogeneous, y.homogeneous)
        for x, y in zip(list(ours.inertias)[1:], list(theirs.inertias)[1:], strict=True):
            close(x.matrix(), y.matrix())
        assert np.array_equal(ours.effortLimit, theirs.effortLimit)
        placed = {(f.name, f.type): f for f in theirs.frames}
        for f in ours.frames:
            close(f.placement.homogeneous, placed[f.name, f.type].placement.homogeneous)
            assert f.parentJoint == placed[f.name, f.type].parentJoint


def shapes_of(tree: pin.Model, name: str) -> pin.GeometryModel:
    shapes = pin.GeometryModel()
    for k in range(0, tree.nframes, 3):
        j = tree.frames[k].parentJoint
        sphere = pin.hppfcl.Sphere(0.01 * k)
        shapes.addGeometryObject(pin.GeometryObject(f"{name}_{k}", j, k, pin.SE3.Random(), sphere))
    shapes.addCollisionPair(pin.CollisionPair(0, 1))
    return shapes


def pairs_of(shapes: pin.GeometryModel) -> set[frozenset[str]]:
    names = [x.name for x in shapes.geometryObjects]
    return {frozenset((names[p.first], names[p.second])) for p in shapes.collisionPairs}


def test_append_with_geometry_and_configurations() -> None:
    """Shapes, pairs of collisions and named configurations are those of Pinocchio's function."""
    one, two = pin.buildSampleModelHumanoidRandom(), built(gripper())
    q = pin.randomConfiguration(one, -np.ones(one.nq), np.ones(one.nq))
    one.referenceConfigurations["home"], one.referenceConfigurations["squat"] = q, pin.neutral(one)
    two.referenceConfigurations["home"], two.referenceConfigurations["open"] = np.full(4, 0.1), np.full(4, 0.2)
    shapes = shapes_of(one, "a"), shapes_of(two, "b")
    theirs, their_shapes = pin.appendModel(one, two, *shapes, 20, A_M_B)
    models = [pc.ClusterModel(t, collision=s) for t, s in zip((one, two), shapes, strict=True)]
    ours, our_shapes = pc.appendModel(*models, *shapes, frame_in_modelA=20, aMb=A_M_B)
    assert pairs_of(our_shapes) == pairs_of(their_shapes)
    assert pairs_of(ours.collision) == pairs_of(shapes[0]) | pairs_of(shapes[1])
    found = {x.name: x for x in their_shapes.geometryObjects}
    for x in our_shapes.geometryObjects:
        assert x.parentJoint == found[x.name].parentJoint
        assert ours.frames[x.parentFrame].name == theirs.frames[found[x.name].parentFrame].name
        close(x.placement.homogeneous, found[x.name].placement.homogeneous)
    configurations = [{x.key(): np.array(x.data()) for x in m.referenceConfigurations} for m in (ours, theirs)]
    assert configurations[0].keys() == configurations[1].keys()
    for name, pose in configurations[0].items():
        assert np.array_equal(pose, configurations[1][name])


def test_append_refuses() -> None:
    model, hand = pc.ClusterModel(built(icub()), icub_rotors()), gripper_model()
    with raises(pc.ModelError, "appendModel 'elbow' joint"):
        pc.appendModel(pc.ClusterModel(built([part("elbow", "universe", RX, (0, 0, 0), 1.0)])),
                       pc.ClusterModel(built([part("elbow", "universe", RX, (0, 0, 0), 1.0)])), 0, A_M_B)  # fmt: skip
    body = built([part("other", "universe", RX, (0, 0, 0), 1.0, "g_slide_link")])
    with raises(pc.ModelError, "appendModel 'g_slide_link'"):
        pc.appendModel(body, hand, 0, A_M_B)
    # a joint of one is a body of the other: a constraint that names the body would take the joint
    joint = built([part("g_crank", "universe", RX, (0, 0, 0), 1.0, "b1")])
    named = built([part("swing", "universe", RX, (0, 0, 0), 1.0, "g_crank")])
    with raises(pc.ModelError, "appendModel 'g_crank' joint"):
        pc.appendModel(joint, pc.ClusterModel(named, [pc.Spring("g_crank", 1.0)]), 0, A_M_B)
    assert pc.appendModel(pc.ClusterModel(joint), named, 0, A_M_B).nv == 2
    for wrong in (-1, model.nframes, True, 1.5, None):
        with raises(pc.ArgumentTypeError, "appendModel frame_in_modelA"):
            pc.appendModel(model, hand, wrong, A_M_B)
    with raises(pc.ArgumentTypeError, "appendModel aMb"):
        pc.appendModel(model, hand, 0, np.eye(4))
    with raises(pc.UnknownNameError, "'nose'"):
        pc.appendModel(model, hand, "nose", A_M_B)
    with raises(pc.ArgumentTypeError, "appendModel frame_in_modelA aMb"):
        pc.appendModel(model, hand, 0)
    with raises(pc.ArgumentTypeError, "appendModel model"):
        pc.appendModel(model, 3, 0, A_M_B)
    one = pc.appendModel(built(gripper()), built([part("other", "universe", RX, (0, 0, 0), 1.0)]), 0, A_M_B)
    assert isinstance(one, pin.Model)


def test_with_joint_refuses() -> None:
    model = pc.ClusterModel(built(icub()), icub_rotors())
    for where in ({}, {"parent": "torso", "before": "l_elbow"}):
        with raises(pc.ArgumentTypeError, "with_joint parent before"):
            model.with_joint("spring", RY, **where)
    for name in ("l_elbow", "universe"):
        with raises(pc.ModelError, f"with_joint {name!r}"):
            model.with_joint(name, RY, parent="torso")
    for joint in (3, pin.JointModelRY, pin.SE3.Identity()):
        with raises(pc.ArgumentTypeError, "with_joint joint JointModelRY()"):
            model.with_joint("spring", joint, parent="torso")
    with raises(pc.ArgumentTypeError, "with_joint text"):
        model.with_joint(3, RY, parent="torso")
    with raises(pc.ArgumentTypeError, "with_joint inertia"):
        model.with_joint("spring", RY, parent="torso", inertia=1.0)
    with raises(pc.UnknownNameError, "with_joint 'hip'"):
        model.with_joint("spring", RY, parent="hip")
    with raises(pc.UnknownNameError, "'hip'"):
        model.with_joint("spring", RY, before="hip")
    with raises(pc.ConstraintError, "with_joint placement"):
        model.with_joint("spring", RY, parent="torso", placement=2.0)
    with raises(pc.ArgumentTypeError, "with_joint constraints"):
        model.with_joint("spring", RY, parent="torso", constraints=pc.Spring("spring"))


# --- wishes, and forces that tie nothing


def test_wishes_are_carried_over() -> None:
    parts, constraints = g1(), g1_constraints()
    plain = pc.ClusterModel(built(parts), constraints)
    q = pc.integrate(plain, plain.q_reference, 0.1 * np.ones(plain.nv))
    led = ["waist_crank_l", "waist_crank_r"]
    model = pc.ClusterModel(built(parts), constraints, q, independent=led, preferred=["waist_crank_r"], name="waist")
    assert {*led} <= {*model.independent_joints}
    elastic = model.with_joint("spring", RZ, before="neck")
    crank = model.with_joint("spring", RZ, parent="universe", inertia=pin.Inertia.Random())
    both = pc.appendModel(model, gripper_model(), 0, A_M_B)
    other = pc.appendModel(gripper_model(), model, 0, A_M_B)
    for made in (elastic, crank, both, other):
        assert {*led} <= {*made.independent_joints}
        assert made.preferred == ("waist_crank_r",)
        assert made.name == ("" if made is other else "waist")
        at = entries(made, list(model.names)[1:])[0]
        close(made.q_reference[at], model.q_reference)
    sprung = model.with_joint("spring", RX, before="waist_roll")
    assert {*led, "spring"} <= {*sprung.independent_joints}  # the chosen cluster has a degree of freedom more
    less = both.with_locked(["waist_yaw"], both.q_reference)
    assert {*led} <= {*less.independent_joints}


AT_LOCKED = {
    "weight": [pc.GravityCompensation("r_shoulder_roll", 2.0, (0.1, 0.2, 0.3))],
    "sum": [pc.Spring({"r_shoulder_pitch": -1.5, "r_shoulder_roll": 2.0}, 5.0, (-0.1, 0.1), 0.2)],
    "joint": [pc.Spring("r_shoulder_roll", 5.0, 0.1, 0.2)],
    "body": [pc.Spring("tip_link", 5.0, 0.1, 0.2)],
    "cable": [pc.Spring([("r_shoulder_roll", [0.1, 0, 0]), ("torso", [0, 0, 0.2]), ("r_elbow", [0, 0, 0.1])], 5.0)],
    "motor": [pc.Motor("r motor of roll", viscous=1e-6), pc.Motor("r motor of pitch", viscous=1e-6)],
    "rod": [pc.Rod(("r_shoulder_yaw", [0.05, 0, 0.1]), ("tip", [0.05, 0, 0.0]), mass=0.1)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "frames"), [(kind, f) for kind in AT_LOCKED for f in (True, False) if f or kind != "body"]
)
def test_constraints_at_locked_joints(kind: str, frames: bool) -> None:
    """Places on a locked body move with what carries it, even where a body or no frame has the name of the joint."""
    parts = [*icub(), part("tip", "r_elbow", RY, (0, 0, -0.1), 0.2), part("end", "tip", RX, (0, 0, -0.1), 0.2)]
    tree = built(parts)
    if not frames:
        without = pin.Model()
        for j in range(1, tree.njoints):
            new = without.addJoint(tree.parents[j], tree.joints[j], tree.jointPlacements[j], tree.names[j])
            without.appendBodyToJoint(new, tree.inertias[j], pin.SE3.Identity())
        tree = without
    rotors = icub_rotors()
    model = pc.ClusterModel(tree, [*rotors, *AT_LOCKED[kind]])
    held, rng = ["r_shoulder_roll", "r_shoulder_yaw"], np.random.default_rng(5)
    held += {"motor": ["r_shoulder_pitch"], "body": ["tip"]}.get(kind, [])
    q = pc.integrate(model, model.q_reference, 0.2 * rng.normal(size=model.nv))
    own = np.array([name in held for name in model.independent_joints])
    v = np.where(own, 0.0, rng.normal(size=model.nv))
    less = model.with_locked(held, q)
    x = np.delete(q, entries(model, held)[0])
    close(pc.rnea(less, less.createData(), x, v[~own], v[~own]), pc.rnea(model, model.createData(), q, v, v)[~own])
    if model.passive is not None:
        torque = pc.passive_torque(model, model.createData(), q, v)[~own]
        ours = pc.passive_torque(less, less.createData(), x, v[~own]) if less.passive else np.zeros(less.nv)
        close(ours, torque)
        assert np.abs(torque).max() > 0.0 or kind in ("joint", "body", "motor")
