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


def part(name: str, parent: str, joint: Any, at: Sequence[float], mass: float, body: str = "", turn: Any = None) -> Part:
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
    return [
        r for s in sides for r in (
            pc.Rotor(f"{s}_hip_pitch", 18.0, axial_inertia=9e-5, armature="keep"),
            pc.Rotor(f"{s}_knee", -12.0, inertia=disc, placement=pin.SE3(pin.rpy.rpyToMatrix(0.2, -0.3, 0.1), np.ones(3) / 50)),
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
        ("shoulder_pitch", "torso", RY, (0, 0.11, 0.15), 0.3), ("shoulder_roll", "shoulder_pitch", RX, (0, 0.06, 0), 0.4),
        ("shoulder_yaw", "shoulder_roll", RZ, (0, 0.02, -0.01), 0.9), ("elbow", "shoulder_yaw", RY, (0.01, 0, -0.15), 0.5),
    )  # fmt: skip
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


def same(model: pc.ClusterModel, hand: pc.ClusterModel, seed: int = 0) -> None:
    """Compare dynamics and placements at assembled states; entries of q and v are matched by the names of joints."""
    rng, names = np.random.default_rng(seed), list(hand.names)[1:]
    assert sorted(model.names) == sorted(hand.names)
    assert sorted(model.independent_joints) == sorted(hand.independent_joints)
    (q_hand, v_hand), (q_ours, v_ours) = entries(hand, names), entries(model, names)
    datas = model.createData(), hand.createData()
    for _ in range(3):
        q = pc.integrate(hand, hand.q_reference, 0.2 * rng.normal(size=hand.nv))
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
            torques = (pc.passive_torque(m, d, s, u) for m, d, s, u in ((model, datas[0], x, y), (hand, datas[1], q, v)))
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
        model = model.with_joint(p.name, p.joint, parent=p.parent, placement=p.place, inertia=p.inertia, constraints=[rod])
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
    """Return a robot whose left ankle is locked, and the yaw of the hip, on whose body a rotor is."""
    held = ["l_hip_yaw", "l_ankle_pitch", "l_ankle_roll", "l_crank_out", "l_crank_in"]
    parts, rotors, rods = [*t1(), *cranks()], t1_rotors(), t1_rods()

    def by_hand(model: pc.ClusterModel, q: np.ndarray, fixed: dict[str, pin.SE3]) -> pc.ClusterModel:
        tree = built(parts, fixed)
        locked_rods(model, q, rods[:2], "l_knee", tree)
        knee = replace(rotors[1], placement=fixed["l_hip_yaw"] * rotors[1].placement)
        return pc.ClusterModel(tree, [rotors[0], knee, *rotors[2:], *rods[2:]])

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
