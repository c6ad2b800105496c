"""Springs, dampers, dry friction and held weight: against differences of their energy, and where they must survive."""

from __future__ import annotations

import copy
import pickle
import warnings
from itertools import pairwise
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises

import pin_clusters as pc

pytestmark = pytest.mark.jitless
STEP = 1e-5
SE3 = pin.SE3


def tree() -> pin.Model:
    """A free body with a ball and an arm, and a slide in the world; frames turned."""
    rng, model = np.random.default_rng(5), pin.Model()
    model.name = "sprung"
    kinds = (
        ("base", 0, pin.JointModelFreeFlyer()), ("ball", 1, pin.JointModelSpherical()),
        ("hinge", 2, pin.JointModelRevoluteUnaligned(*np.eye(3)[1])), ("slide", 1, pin.JointModelPX()),
        ("arm", 4, pin.JointModelRZ()), ("wheel", 4, pin.JointModelRUBX()), ("post", 0, pin.JointModelPZ()),
    )  # fmt: skip
    for name, parent, joint in kinds:
        place = SE3(pin.Quaternion(rng.normal(size=4)).normalized().toRotationMatrix(), rng.uniform(-0.5, 0.5, 3))
        j = model.addJoint(parent, joint, place, name)
        model.appendBodyToJoint(j, pin.Inertia(1.0, rng.uniform(-0.1, 0.1, 3), 0.1 * np.eye(3)), SE3.Identity())
        model.addFrame(pin.Frame(f"{name}_body", j, 0, SE3.Identity(), pin.FrameType.BODY))
    return model


POINTS = [("arm", [0.1, 0.2, 0.3]), ("slide", [0.0, 0.1, 0.0]), "ball_body", ("universe", [1.0, 0.0, 0.0]), "post"]
SPRINGS = {
    "hinge": pc.Spring("hinge", (3.0, 2.0, 1.0), 0.2),
    "slide": pc.Spring("slide", 4.0, rest=(-0.1, 0.1)),
    "ball": pc.Spring("ball", 2.0, rest=(0.0, 0.0, 0.6, 0.8)),
    "free": pc.Spring("base", 2.0, rest=(0.1, 0.2, 0.3, 0.6, 0.0, 0.0, 0.8)),
    "sum": pc.Spring({"hinge": 2.0, "arm": -0.5, "post": 3.0}, (5.0, 1.0), rest=0.1),
    "path": pc.Spring(POINTS, (20.0, 3.0, 1.0), rest=2.0),
    "weight": pc.GravityCompensation("slide", 0.7, (0.1, 0.2, 0.3)),
}


def potential(model: pc.ClusterModel, stated: Any, q: np.ndarray) -> float:
    """The energy of a spring, written out once more."""
    tree, data = model.tree, model.tree.createData()
    pin.framesForwardKinematics(tree, data, q)
    if isinstance(stated, pc.GravityCompensation):
        j = tree.getJointId(stated.body)
        return float(stated.mass * tree.gravity.linear @ data.oMi[j].act(np.array(stated.center)))
    if stated is SPRINGS["ball"] or stated is SPRINGS["free"]:
        j = tree.joints[tree.getJointId(stated.along)]
        x, rest = q[j.idx_q : j.idx_q + j.nq], np.array(stated.rest)
        turn = pin.log3(pin.Quaternion(rest[-4:]).toRotationMatrix().T @ pin.Quaternion(x[-4:]).toRotationMatrix())
        return float(0.5 * stated.stiffness[0] * (turn @ turn + np.sum((x[:-4] - rest[:-4]) ** 2)))
    if isinstance(stated.along, str):
        value = q[tree.joints[tree.getJointId(stated.along)].idx_q]
    elif isinstance(stated.along, tuple):
        points = []
        for p in stated.along:
            name, at = (p, np.zeros(3)) if isinstance(p, str) else (p.name, np.array(p.translation))
            j = 0 if name == "universe" else tree.getJointId(name.removesuffix("_body"))
            points.append(data.oMi[j].act(at))
        value = sum(np.linalg.norm(b - a) for a, b in pairwise(points))
    else:
        value = sum(c * q[tree.joints[tree.getJointId(n)].idx_q] for n, c in stated.along.items())
    low, high = stated.rest[0], stated.rest[-1]
    y = value - min(max(value, low), high)
    return float(sum(k * y ** (i + 2) / (i + 2) for i, k in enumerate(stated.stiffness)))


def slope(model: pc.ClusterModel, stated: Any, q: np.ndarray) -> np.ndarray:
    steps = STEP * np.eye(model.nv)
    energies = [[potential(model, stated, pc.integrate(model, q, s * x)) for s in (1.0, -1.0)] for x in steps]
    return np.array([(a - b) / (2.0 * STEP) for a, b in energies])


@pytest.mark.parametrize("name", SPRINGS)
def test_springs_pull_down_their_energy(name: str, rng: np.random.Generator) -> None:
    model = pc.ClusterModel(tree(), [SPRINGS[name]])
    data = model.createData()
    q = pc.integrate(model, pc.neutral(model), rng.uniform(-0.7, 0.7, model.nv))
    torque = pc.passive_torque(model, data, q, np.zeros(model.nv))
    assert np.abs(torque).max() > 0.05
    assert np.allclose(torque, -slope(model, SPRINGS[name], q), atol=1e-7)


def test_springs_act_through_couplings_and_loops(rng: np.random.Generator) -> None:
    spring = SPRINGS["sum"]
    free = pc.ClusterModel(tree(), [pc.LinearCoupling("arm", {"hinge": 2.0}, 0.1), spring])
    q = pc.integrate(free, pc.neutral(free), 0.3 * rng.uniform(-1, 1, free.nv))
    torque = pc.passive_torque(free, free.createData(), q, np.zeros(free.nv))
    assert np.allclose(torque, -slope(free, spring, q), atol=1e-7)
    four = pc.load("four_bar").tree
    ends = ("coupler", [0.21, 0.0, 0.20]), ("rocker", [-0.16, 0.0, 0.30])
    spring = pc.Spring({"coupler": 1.0, "rocker": -2.0}, 3.0, rest=0.2)
    model = pc.ClusterModel(four, [pc.Loop(*ends, "revolute", axis=(0, 1, 0)), spring])
    q = pc.integrate(model, pc.neutral(model), [0.4])
    assert np.allclose(pc.passive_torque(model, model.createData(), q, [0.0]), -slope(model, spring, q), atol=1e-7)


def test_dampers_and_friction_brake(rng: np.random.Generator) -> None:
    brakes = [
        pc.Spring("hinge", damping=(0.5, 0.2, 0.1)), pc.Spring("ball", damping=0.3), pc.Spring("base", damping=0.2),
        pc.Spring("wheel", damping=0.7, friction=0.4), pc.Spring({"hinge": 1.0, "arm": 2.0}, damping=0.3),
        pc.Spring(POINTS, damping=(0.4, 0.1)),
    ]  # fmt: skip
    model = pc.ClusterModel(tree(), brakes)
    data, index = model.createData(), model.joint_idx_v
    q, v = pc.neutral(model), rng.uniform(-2.0, 2.0, model.nv)
    assert pc.passive_torque(model, data, q, v) @ v < -1.0
    one = pc.ClusterModel(tree(), brakes[:1])
    x = v[index("hinge")]
    found = pc.passive_torque(one, one.createData(), q, v)
    assert found[index("hinge")] == pytest.approx(-(0.5 * x + 0.2 * x * abs(x) + 0.1 * x**3))
    wheel = pc.ClusterModel(tree(), [pc.Spring("wheel", friction=0.4)])
    v[index("wheel")] = 0.01
    for speed, expected in ((0.01, -0.4 * np.tanh(1.0)), (0.0, -0.4), (np.inf, 0.0)):
        found = pc.passive_torque(wheel, wheel.createData(), q, v, friction_speed=speed)
        assert found[index("wheel")] == pytest.approx(expected)


def test_paths_brake_at_the_rate_of_their_length(rng: np.random.Generator) -> None:
    spring, damper = SPRINGS["path"], pc.Spring(POINTS, damping=2.0)
    model = pc.ClusterModel(tree(), [damper])
    q, v = pc.integrate(model, pc.neutral(model), rng.uniform(-0.5, 0.5, model.nv)), rng.uniform(-1, 1, model.nv)
    stiff = pc.Spring(POINTS, 1.0, rest=0.0)  # energy: half the square of the length
    lengths = [np.sqrt(2.0 * potential(model, stiff, pc.integrate(model, q, s * STEP * v))) for s in (1.0, -1.0)]
    rate = (lengths[0] - lengths[1]) / (2.0 * STEP)
    assert pc.passive_torque(model, model.createData(), q, v) @ v == pytest.approx(-2.0 * rate**2, rel=1e-7)
    assert spring.label.startswith("Spring('arm', 'slide'")


def test_they_survive_whatever_becomes_of_a_model(rng: np.random.Generator) -> None:
    stated = [pc.Rotor("hinge", 9.0, axial_inertia=1e-4), *SPRINGS.values(), pc.Spring("arm", damping=(0.1, 0.2))]
    model = pc.ClusterModel(tree(), stated)
    q, v = pc.neutral(model), rng.uniform(-1, 1, model.nv)
    expected = pc.passive_torque(model, model.createData(), q, v)
    others = [
        pickle.loads(pickle.dumps(model)), copy.deepcopy(model), model.copy(),
        pc.with_independent(model, ["hinge"])[0], pc.with_parameters(model, pc.parameters(model)[0]),
    ]  # fmt: skip
    for other in others:
        assert np.allclose(pc.passive_torque(other, other.createData(), q, v), expected, atol=1e-14)
    light = model.with_gravity([0.0, 0.0, 0.0])
    held = pc.ClusterModel(tree(), [SPRINGS["weight"]])
    weight = pc.passive_torque(held, held.createData(), q, v)
    assert np.allclose(pc.passive_torque(light, light.createData(), q, v) + weight, expected, atol=1e-12)
    again = pickle.loads(pickle.dumps(model.passive))
    assert repr(again) == "PassiveForces(7 springs and dampers, 1 gravity compensations, 0 motors with losses)"
    assert np.array_equal(again.torque(q, v), model.passive.torque(q, v))
    assert pc.ClusterModel(tree()).passive is None


def oscillator(**options: Any) -> tuple[pc.ClusterModel, np.ndarray]:
    model = pin.Model()
    j = model.addJoint(0, pin.JointModelPX(), SE3.Identity(), "x")
    model.appendBodyToJoint(j, pin.Inertia(2.0, np.zeros(3), np.eye(3)), SE3.Identity())
    return pc.ClusterModel(model, [pc.Spring("x", 8.0, **options)]), np.array([0.3])


def test_simulations_apply_them() -> None:
    model, q = oscillator(rest=0.1)
    found = pc.simulate(model, q, [0.0], duration=0.4, dt=1e-3)
    assert np.allclose(found.q[:, 0], 0.1 + 0.2 * np.cos(2.0 * found.time), atol=1e-10)
    assert not found.tau.any()
    bare = pc.simulate(model, q, [0.0], duration=1.0, dt=1e-2, passive=False)
    assert np.allclose(bare.q, 0.3)
    seen = []

    def dynamics(q: Any, v: Any, tau: Any) -> Any:
        seen.append(tau[0])
        return tau / 2.0

    pc.simulate(model, q, [0.0], [1.5], duration=0.1, dt=1e-2, dynamics=dynamics)
    assert seen[0] == pytest.approx(1.5 - 8.0 * 0.2)
    many = pc.batch.simulate(model, np.tile(q, (2, 1)), np.zeros((2, 1)), duration=0.4, dt=1e-3)
    assert np.allclose(many.q[1], found.q[-1], atol=1e-14)
    with raises(pc.ArgumentTypeError, "passive"):
        pc.simulate(model, q, [0.0], passive="no")


@pytest.mark.parametrize(
    ("spring", "words"),
    [
        (lambda: pc.Spring(3), "along"),
        (lambda: pc.Spring({}), "'knee' 1"),
        (lambda: pc.Spring(["a"]), "along"),
        (lambda: pc.Spring("a", "stiff"), "stiffness"),
        (lambda: pc.Spring("a", (1, 2, 3, 4)), "stiffness (1, 2, 3, 4)"),
        (lambda: pc.Spring("a", friction=-1.0), "friction"),
        (lambda: pc.Spring("a", np.nan), "stiffness"),
        (lambda: pc.ClusterModel(tree(), [pc.Spring("wheel", 1.0)]), "'wheel'"),
        (lambda: pc.ClusterModel(tree(), [pc.Spring({"ball": 1.0}, 1.0)]), "3"),
        (lambda: pc.ClusterModel(tree(), [pc.Spring("ball", (1.0, 1.0))]), "k2"),
        (lambda: pc.ClusterModel(tree(), [pc.Spring("ball", 1.0, rest=0.0)]), "4 1"),
        (lambda: pc.ClusterModel(tree(), [pc.Spring("hinge", 1.0, rest=(1.0, 2.0, 3.0))]), "(1.0, 2.0, 3.0)"),
        (lambda: pc.GravityCompensation("a", 1.0, (1.0,)), "center"),
    ],
)
def test_what_is_refused(spring: Any, words: str) -> None:
    with raises(pc.ConstraintError, words):
        spring()


def test_unknown_names_and_speeds() -> None:
    with raises(pc.UnknownNameError, "'hinges'"):
        pc.ClusterModel(tree(), [pc.Spring("hinges", 1.0)])
    model, q = oscillator()
    with raises(pc.ArgumentTypeError, "friction_speed"):
        pc.passive_torque(model, model.createData(), q, [0.0], friction_speed=-1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert copy.copy(SPRINGS["sum"]) == SPRINGS["sum"]
    assert hash(SPRINGS["sum"]) == hash(copy.deepcopy(SPRINGS["sum"]))
