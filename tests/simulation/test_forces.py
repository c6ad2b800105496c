"""Springs, dampers and friction within compiled steps: as in Python, in closed form, and what stays in Python."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises

import pin_clusters as pc
from pin_clusters.compiler.entry_points import BOUNDSCHECK, JIT
from pin_clusters.simulation import _compiled, _forces, run
from pin_clusters.simulation._engine import PythonEngine
from pin_clusters.simulation.ground import compiled_engine
from pin_clusters.simulation.ground.python_engine import GroundEngine
from pin_clusters.simulation.run import engine_for

pytestmark = [
    pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning"),
    pytest.mark.skipif(not JIT, reason="no compiled steps"),
]
ROUNDING = 1e-9
SE3 = pin.SE3


def in_python(settings: Any, recorder: Any) -> PythonEngine:
    if settings.world is not None:
        return GroundEngine(settings, recorder, settings.world, compiled=False)
    return PythonEngine(settings, recorder)


def engine_of(monkeypatch: pytest.MonkeyPatch, *arguments: Any, **options: Any) -> tuple[type, pc.SimulationResult]:
    """Simulate; also which engine did it."""
    used: list[type] = []
    with monkeypatch.context() as patch:
        patch.setattr(run, "engine_for", lambda *x: (made := engine_for(*x), used.append(type(made)))[0])
        found = pc.simulate(*arguments, **options)
    return used[0], found


def as_in_python(monkeypatch: pytest.MonkeyPatch, *arguments: Any, **options: Any) -> pc.SimulationResult:
    """Simulate in compiled steps, which must do what those in Python do."""
    engine, found = engine_of(monkeypatch, *arguments, **options)
    assert engine is _compiled.CompiledEngine
    with monkeypatch.context() as patch:
        patch.setattr(run, "engine_for", in_python)
        other = pc.simulate(*arguments, **options)
    same(found, other, ROUNDING)
    return found


def same(found: pc.SimulationResult, other: pc.SimulationResult, rounding: float) -> None:
    assert found.switches == other.switches
    for name in ("q", "v", "a", "tau", "energy", "v_tree"):
        x, y = getattr(found, name), getattr(other, name)
        assert np.abs(x - y).max() <= rounding * max(1.0, np.abs(y).max()), name


def with_springs(name: str, *springs: pc.Spring) -> pc.ClusterModel:
    model = pc.load(name)
    return pc.ClusterModel(model.tree, [*model.constraints, *springs], model.q_reference)


LINES = {
    "mini_cheetah": (
        pc.Spring("FL_knee", (3.0, 0.5, 0.2), (0.1, 0.4), (0.02, 0.01, 0.003), friction=0.3),
        pc.Spring({"FR_knee": 1.0, "FR_hip": 0.5}, 20.0, rest=0.5), pc.Spring("HL_knee_rotor", damping=1e-4),
        pc.Spring("root_joint", damping=0.5, friction=0.1),
    ),
    "four_bar": (
        pc.Spring("crank", (2.0, 0.3, 0.1), rest=(0.1, 0.3), damping=(0.01, 0.02, 0.001)),
        pc.Spring({"coupler": 1.0, "rocker": -2.0}, 0.5, rest=0.2, friction=0.05),
    ),
    "tello": (
        pc.Spring("left_knee", 5.0, rest=0.2, damping=0.1),
        pc.Spring("right_knee", friction=0.4),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", ["mini_cheetah", "four_bar", pytest.param("cassie", marks=pytest.mark.ci), "tello"])
@pytest.mark.parametrize("method", ["rk4", "semi_implicit"])
def test_compiled_steps_are_those_in_python(
    name: str, method: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ranges of rest, powers, sums, friction; on free, coupled and looped joints, and through the coupling function."""
    model = with_springs(name, *LINES.get(name, ()))
    assert model.passive is not None
    q, v = pc.neutral(model), 0.5 * rng.normal(size=model.nv)
    tau = 0.05 * rng.normal(size=(15, model.nv))
    found = as_in_python(monkeypatch, model, q, v, tau, 14.5e-4, 1e-4, method=method, record=4)
    bare = pc.simulate(model, q, v, tau, 14.5e-4, 1e-4, method=method, record=4, passive=False)
    assert np.abs(found.v - bare.v).max() > 1e-4


def test_other_independent_joints_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    springs = pc.Spring("crank", 0.05, damping=1e-3), pc.Spring({"coupler": 1.0, "rocker": -2.0}, 0.02, friction=0.002)
    model, _ = pc.with_independent(with_springs("four_bar", *springs), ["rocker"])
    found = as_in_python(monkeypatch, model, pc.neutral(model), [3.0], [0.3], 0.3, 1e-3, record=3)
    assert len(found.switches) == 1


def test_a_function_gives_torques(monkeypatch: pytest.MonkeyPatch) -> None:
    model = with_springs("four_bar", *LINES["four_bar"])
    as_in_python(monkeypatch, model, pc.neutral(model), [1.0], lambda t, q, v: -0.1 * v, 0.01, 1e-3)


def test_rows_of_batches_are_compiled(monkeypatch: pytest.MonkeyPatch, rng: np.random.Generator) -> None:
    model = with_springs("four_bar", *LINES["four_bar"])
    q, v = np.tile(pc.neutral(model), (3, 1)), rng.normal(size=(3, 1))
    alone = [pc.simulate(model, *x, duration=0.05, dt=1e-3) for x in zip(q, v, strict=True)]
    batch = sys.modules[pc.batch.simulate.__module__]
    monkeypatch.setattr(batch, "single_simulate", None)
    found = pc.batch.simulate(model, q, v, duration=0.05, dt=1e-3, threads=2)
    assert np.allclose(found.q, [x.q[-1] for x in alone], atol=1e-13)
    assert np.allclose(found.v, [x.v[-1] for x in alone], atol=1e-12)


@pytest.mark.skipif(BOUNDSCHECK, reason="no compiled steps on a ground")
@pytest.mark.skipif(not hasattr(pin, "PGSConstraintSolver"), reason="no solvers in this Pinocchio")
def test_on_a_ground(monkeypatch: pytest.MonkeyPatch) -> None:
    """In flight they are those in Python, and on the ground up to the tolerance of what finds impulses."""
    model, ground = with_springs("mini_cheetah", *LINES["mini_cheetah"]), pc.Ground(friction=0.8)
    feet = pc.contact_points(model, {f"{leg}_knee": [0.0, 0.0, -0.195] for leg in ("FL", "FR", "HL", "HR")})
    q = pc.on_ground(model, pc.neutral(model), ground, feet, above=1e-4)
    given = model, q, np.full(model.nv, 0.1), None, 0.04, 1e-3
    engine, found = engine_of(monkeypatch, *given, ground=ground, touching=feet)
    assert engine is compiled_engine.CompiledGroundEngine
    monkeypatch.setattr(run, "engine_for", in_python)
    other = pc.simulate(*given, ground=ground, touching=feet)
    assert found.contact_impulses.any()
    for name in ("q", "v"):
        x, y = getattr(found, name), getattr(other, name)
        assert np.abs(x - y)[:4].max() < 1e-12
        assert np.abs(x - y).max() < 1e-6


BALL = pc.Spring("root_joint", 2.0)
PATH = pc.Spring([("universe", [0.0, 0.0, 1.0]), "FL_knee"], 10.0)


@pytest.mark.parametrize("stated", [BALL, PATH, pc.GravityCompensation("FL_knee", 0.1)])
def test_what_stays_in_python(stated: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    model = with_springs("mini_cheetah", stated)
    engine, _ = engine_of(monkeypatch, model, pc.neutral(model), np.zeros(model.nv), duration=2e-3)
    assert engine is _compiled.MixedEngine


def slider(mass: float, *springs: pc.Spring) -> pc.ClusterModel:
    tree = pin.Model()
    tree.addJoint(0, pin.JointModelPZ(), SE3.Identity(), "slide")
    tree.appendBodyToJoint(1, pin.Inertia(mass, np.zeros(3), np.eye(3)), SE3.Identity())
    return pc.ClusterModel(tree, springs)


@pytest.mark.parametrize("method", ["rk4", "semi_implicit"])
@pytest.mark.parametrize("dt", [1e-2, 1e-3, 1e-5])
def test_dry_friction_holds_but_for_a_creep(method: str, dt: float) -> None:
    """Friction larger than the weight: friction tanh(v / speed) = weight, at a speed that steps take from it."""
    mass, friction = 0.1, 5.0
    model = slider(mass, pc.Spring("slide", friction=friction))
    speed = max(0.01, dt * friction / mass)
    found = pc.simulate(model, [0.0], [0.0], duration=30.0 * max(dt, 0.01 * mass / friction), dt=dt, method=method)
    creep = -speed * np.arctanh(9.81 * mass / friction)
    assert found.v[-1, 0] == pytest.approx(creep, rel=1e-6)
    assert (np.diff(found.v[:, 0]) < 1e-12).all()  # without a swing


def with_motors(name: str, **options: Any) -> pc.ClusterModel:
    model = pc.load(name)
    motors = [pc.Motor(r.name, **options) for r in model.motors]
    return pc.ClusterModel(model.tree, [*model.constraints, *motors], model.q_reference)


RUBS = {"viscous": 1e-5, "coulomb": 1e-2}
GEARS = {"efficiency": 0.9, "back_efficiency": 0.8}


@pytest.mark.parametrize(
    ("name", "options", "method"),
    [
        ("mini_cheetah", RUBS | GEARS, "rk4"), ("mini_cheetah", GEARS, "semi_implicit"),
        pytest.param("mit_humanoid", RUBS | GEARS, "rk4", marks=pytest.mark.ci),
        pytest.param("mini_cheetah", RUBS, "rk4", marks=pytest.mark.ci),
        pytest.param("tello", RUBS | GEARS, "rk4", marks=pytest.mark.ci),
    ],
)  # fmt: skip
def test_motors_are_as_in_python(
    name: str, options: Any, method: str, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Driven and driving, from rest and fast, under torques that jump."""
    model = with_motors(name, **options)
    tau = rng.normal(size=(12, len(model.motors))) @ pc.actuation_matrix(model, model.createData(), model.q_reference).T
    tight = {} if options == RUBS else {"rtol": 1e-12}
    for speed in (0.0, 3.0):
        given = model, pc.neutral(model), speed * rng.normal(size=model.nv), tau, 12e-4, 1e-4
        found = as_in_python(monkeypatch, *given, method=method, **tight)
        if tight:
            loose = pc.simulate(*given, method=method)
            assert np.abs(loose.v - found.v).max() < 2e-3 * np.abs(found.v - found.v[0]).max()


def test_losses_are_those_of_passive_torque(rng: np.random.Generator) -> None:
    """Fast enough, the acceleration is that of the law with its own friction speed."""
    model = with_motors("mini_cheetah", **(RUBS | GEARS))
    data, q, v, tau = model.createData(), pc.neutral(model), 10.0 * rng.normal(size=model.nv), np.zeros(model.nv)
    tau[6:] = rng.normal(size=12)
    found = pc.simulate(model, q, v, tau, 1e-6, 1e-6, rtol=1e-12)
    lost = pc.passive_torque(model, data, q, v, tau)
    assert np.allclose(found.a[0], pc.aba(model, data, q, v, tau + lost), rtol=1e-9, atol=1e-9)


def test_rows_with_motors(rng: np.random.Generator) -> None:
    """Each row remembers loads of its own."""
    model = with_motors("mini_cheetah", **(RUBS | GEARS))
    q, v = np.tile(pc.neutral(model), (3, 1)), rng.normal(size=(3, model.nv))
    tau = np.zeros((3, 20, model.nv))
    tau[..., 6:] = rng.normal(size=(3, 20, 12))
    alone = [pc.simulate(model, *x, duration=0.02, dt=1e-3) for x in zip(q, v, tau, strict=True)]
    found = pc.batch.simulate(model, q, v, tau, duration=0.02, dt=1e-3)
    assert np.allclose(found.q, [x.q[-1] for x in alone], atol=1e-12)


def test_a_motor_that_turns_a_dependent_joint_stays_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its torque follows from that of the joint by a ratio that varies."""
    bar, gear = pc.load("four_bar"), pc.Motor(efficiency=0.8)
    rotor = pc.Rotor("rocker", 5.0, axial_inertia=1e-4, motor=gear)
    model = pc.ClusterModel(bar.tree, [*bar.constraints, rotor], bar.q_reference)
    given = model, pc.neutral(model), [3.0], [0.2], 0.05, 1e-3
    engine, found = engine_of(monkeypatch, *given)
    assert engine is _compiled.MixedEngine
    assert pc.simulate(*given, passive=False).v[-1, 0] > found.v[-1, 0] + 1e-3


def on_carriers(tree: pin.Model, carriers: list[int], constraints: Any = ()) -> pc.ClusterModel:
    """A link on a gear with losses on each of some bodies."""
    gears = []
    for j in carriers:
        at = SE3(pin.exp3(np.array([0.3, 0.2, -0.4])), np.array([0.1, 0.0, 0.2]))
        k = tree.addJoint(j, pin.JointModelRY(), at, f"on {j}")
        tree.appendBodyToJoint(k, pin.Inertia(0.5, np.array([0.1, 0.05, 0.0]), 0.02 * np.eye(3)), SE3.Identity())
        motor = pc.Motor(efficiency=0.8, back_efficiency=0.6)
        gears.append(pc.Rotor(f"on {j}", 9.0, axial_inertia=2e-4, axis=(0.6, 0.0, 0.8), motor=motor))
    return pc.ClusterModel(tree, [*constraints, *gears])


COMPOSITE = pin.JointModelComposite(pin.JointModelPY(), SE3(pin.exp3(np.array([0.1, 0.5, 0.2])), np.zeros(3)))
COMPOSITE.addJoint(pin.JointModelRZ(), SE3(pin.exp3(np.array([0.4, -0.5, 0.2])), np.zeros(3)))


@pytest.mark.parametrize(
    "joints",
    [
        [pin.JointModelFreeFlyer(), pin.JointModelRX(), pin.JointModelHZ(0.1)],
        pytest.param([pin.JointModelSpherical(), pin.JointModelPlanar()], marks=pytest.mark.ci),
        pytest.param([pin.JointModelRUBX(), COMPOSITE, pin.JointModelSphericalZYX()], marks=pytest.mark.ci),
    ],
)
def test_carriers_turn_by_joints_of_all_kinds(
    joints: list[pin.JointModel], rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by the law in Python, which takes the accelerations of carriers from Pinocchio."""
    tree, last = pin.Model(), 0
    for k, joint in enumerate(joints):
        at = SE3(pin.exp3(rng.normal(size=3)), 0.2 * rng.normal(size=3))
        last = tree.addJoint(last, joint, at, f"body {k}")
        tree.appendBodyToJoint(last, pin.Inertia(1.0, 0.1 * rng.normal(size=3), 0.05 * np.eye(3)), SE3.Identity())
    model = on_carriers(tree, list(range(1, last + 1)))
    q, v = pc.integrate(model, pc.neutral(model), 0.5 * rng.normal(size=model.nv)), 3.0 * rng.normal(size=model.nv)
    found = as_in_python(monkeypatch, model, q, v, rng.normal(size=model.nv), 5e-3, 1e-3, rtol=1e-12)
    relative = [pc.rotor_velocity(model, model.createData(), q, v) for q, v in zip(found.q, found.v, strict=True)]
    assert np.abs(relative).min() > 0.01


def test_carriers_in_closed_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    bar = pc.load("four_bar")
    tree = bar.tree.copy()
    model = on_carriers(tree, [tree.getJointId("coupler"), tree.getJointId("rocker")], bar.constraints)
    v = np.array([6.0, -3.0, 4.0])
    as_in_python(monkeypatch, model, pc.neutral(model), v, np.ones(3), 5e-3, 1e-3, rtol=1e-12)


def test_a_carrier_behind_a_ball_joint_stays_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = pin.Model()
    for k, joint in enumerate([pin.JointModelRX(), pin.JointModelSpherical()]):
        j = tree.addJoint(k, joint, SE3.Identity(), f"body {k}")
        tree.appendBodyToJoint(j, pin.Inertia(1.0, np.array([0.1, 0.2, 0.0]), 0.05 * np.eye(3)), SE3.Identity())
    model = on_carriers(tree, [2])
    data, q, v, tau = model.createData(), pc.neutral(model), np.arange(3.0, 8.0), np.ones(5)
    engine, found = engine_of(monkeypatch, model, q, v, tau, 1e-3, 1e-3)
    assert engine is _compiled.MixedEngine
    a = pc.aba(model, data, q, v, tau + pc.passive_torque(model, data, q, v, tau))
    assert found.a[0] == pytest.approx(a)


@pytest.mark.skipif(BOUNDSCHECK, reason="no compiled steps on a ground")
@pytest.mark.skipif(not hasattr(pin, "PGSConstraintSolver"), reason="no solvers in this Pinocchio")
def test_motors_on_a_ground(monkeypatch: pytest.MonkeyPatch) -> None:
    model, ground = with_motors("mini_cheetah", **(RUBS | GEARS)), pc.Ground(friction=0.8)
    feet = pc.contact_points(model, {f"{leg}_knee": [0.0, 0.0, -0.195] for leg in ("FL", "FR", "HL", "HR")})
    q = pc.on_ground(model, pc.neutral(model), ground, feet, above=1e-4)
    given = model, q, np.full(model.nv, 0.1), np.full(model.nv, 0.1) * (np.arange(model.nv) > 5), 0.03, 1e-3
    engine, found = engine_of(monkeypatch, *given, ground=ground, touching=feet)
    assert engine is compiled_engine.CompiledGroundEngine
    monkeypatch.setattr(run, "engine_for", in_python)
    other = pc.simulate(*given, ground=ground, touching=feet)
    assert np.abs(found.v - other.v)[:4].max() < 1e-12
    assert np.abs(found.v - other.v).max() < 1e-5
    bare = pc.simulate(*given, ground=ground, touching=feet, passive=False)
    assert np.abs(found.v - bare.v).max() > 1e-2


WEIGHT, RATIO, SPIN = 9.81 * 0.5 * 0.4, 10.0, 1e-4


def pendulum(spin: float = SPIN, **options: Any) -> pc.ClusterModel:
    """Half a kilogram at 0.4 m, held sideways, on a gear."""
    tree = pin.Model()
    tree.addJoint(0, pin.JointModelRY(), SE3.Identity(), "joint")
    tree.appendBodyToJoint(1, pin.Inertia(0.5, np.array([0.4, 0.0, 0.0]), 1e-3 * np.eye(3)), SE3.Identity())
    return pc.ClusterModel(tree, [pc.Rotor("joint", RATIO, axial_inertia=spin, motor=pc.Motor(**options))])


def test_a_load_that_is_known_is_no_loss_that_is(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rotor of no inertia has the load that was guessed; near standstill its loss is that only after some turns."""
    model = pendulum(1e-12, efficiency=0.5, back_efficiency=0.3)
    tau = WEIGHT * rng.uniform(0.0, 2.0, size=(20, 1))
    as_in_python(monkeypatch, model, [0.0], [0.05], tau, 0.02, 1e-3, rtol=1e-12)


@pytest.mark.parametrize("dt", [1e-3, 1e-4])
def test_friction_of_a_motor_holds_a_link_but_for_a_creep(dt: float) -> None:
    """The weight at the rotor is coulomb tanh(w / speed), and speed what friction takes away in a step."""
    model = pendulum(coulomb=0.5)
    found = pc.simulate(model, [0.0], [0.0], duration=0.05, dt=dt)
    inertia = pc.crba(model, model.createData(), [0.0])[0, 0]
    speed = max(0.01, dt * 0.5 * RATIO**2 / inertia)
    creep = speed * np.arctanh(WEIGHT * np.cos(found.q[-1, 0]) / RATIO / 0.5) / RATIO
    assert found.v[-1, 0] == pytest.approx(creep, rel=1e-4)


@pytest.mark.parametrize("back", [-0.2, 0.1])
def test_a_worm_gear_holds_and_another_does_not(back: float) -> None:
    """Motor off: below 0 the gear holds, but for a creep that becomes slower with the step; above the link falls."""
    model = pendulum(efficiency=0.5, back_efficiency=back)
    rough, fine = (pc.simulate(model, [0.0], [0.0], duration=0.1, dt=dt, rtol=1e-9) for dt in (1e-4, 2e-5))
    free = pc.simulate(model, [0.0], [0.0], duration=0.1, dt=1e-4, passive=False)
    if back > 0.0:
        # J_link a = weight - r load, load + loss = J_rotor r a backwards: load = J_rotor r a / back
        link = pc.crba(model, model.createData(), [0.0])[0, 0] - SPIN * RATIO**2
        expected = 0.5 * 0.1**2 * WEIGHT / (link + SPIN * RATIO**2 / back)
        assert fine.q[-1, 0] == pytest.approx(expected, rel=0.02)
    else:
        assert 0.0 < rough.q[-1, 0] < 0.1 * free.q[-1, 0]
        assert fine.q[-1, 0] < 0.5 * rough.q[-1, 0]


@pytest.mark.parametrize("method", ["rk4", "semi_implicit"])
def test_the_last_sample_of_a_locked_gear_is_that_of_a_longer_motion(method: str) -> None:
    """A falling link that cannot drive its gear is stopped, and every sample is judged as the steps are."""
    model = pendulum(1e-6, efficiency=0.6, back_efficiency=-0.2)
    fall = model, [0.0], [1.0], [0.0]
    longest = pc.simulate(*fall, 0.03, 1e-3, method=method, rtol=1e-10)
    assert (np.diff(longest.v[:, 0]) < 0.0).all()
    assert 0.0 < longest.v[-1, 0] < 0.1
    for steps in (1, 2, 5, 10, 20):
        found = pc.simulate(*fall, steps * 1e-3, 1e-3, method=method, rtol=1e-10)
        assert found.a[-1] == pytest.approx(longest.a[steps], rel=1e-6, abs=1e-6)


def test_a_gear_without_a_loss_by_its_law_is_an_error_with_the_motion(monkeypatch: pytest.MonkeyPatch) -> None:
    model = pendulum(1e-6, efficiency=0.6, back_efficiency=-0.2)
    monkeypatch.setattr(_forces, "_MOST_ITERATIONS", 0)  # as if Newton's method found none
    with raises(pc.SimulationError, "t = 0.005 s pc.Spring") as failed:
        pc.simulate(model, [0.0], [1.0], duration=0.005, dt=1e-3)
    assert failed.value.result.time.tolist() == pytest.approx(1e-3 * np.arange(5))


@pytest.mark.parametrize("leg", [False, pytest.param(True, marks=pytest.mark.ci)])
def test_energy_and_what_is_lost_are_conserved(leg: bool) -> None:
    """Work of motors = energy + friction + losses of gears, over a swing to and fro, by Simpson's rule on the samples.

    Steps of 0.1 ms (0.05 ms for a leg), losses to 1e-11 of the load: to 1e-9 of the largest part.
    """
    options = {"viscous": 1e-4, "efficiency": 0.9, "back_efficiency": 0.8}
    model = with_motors("mit_humanoid_leg", **options) if leg else pendulum(**options)
    data, n = model.createData(), len(model.motors)
    v, steps, dt = np.full(model.nv, 3.0), 1000, 5e-5 if leg else 1e-4
    B = pc.actuation_matrix(model, data, model.q_reference)
    tau = B @ np.full(n, 0.05)
    found = pc.simulate(model, pc.neutral(model), v, tau, steps * dt, dt, rtol=1e-11)
    parts = []
    for q, v, a in zip(found.q, found.v, found.a, strict=True):
        power = pc.motor_power(model, data, q, v, np.full(n, 0.05), a)
        parts.append([power.mechanical.sum(), (power.friction + power.gear).sum()])
    weights = np.ones(steps + 1)
    weights[1:-1:2], weights[2:-1:2] = 4.0, 2.0
    work, lost = dt / 3.0 * weights @ np.array(parts)
    change = found.energy[-1] - found.energy[0]
    assert lost > 0.01 * abs(work)
    assert abs(work - lost - change) < 1e-9 * max(abs(work), lost, abs(change))
