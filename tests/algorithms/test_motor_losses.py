"""Friction of motors and losses of gears: against signs tried one by one, back and forth, and in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from support.messages import raises

import pin_clusters as pc
from pin_clusters.algorithms.dynamics.losses import Losses
from pin_clusters.model import FRICTION_SPEED
from pin_clusters.verification import reference

pytestmark = pytest.mark.jitless
ROUNDING = 1e-9
HIP = ["left_hip_roll", "left_hip_pitch"]


def robot(name: str) -> pc.ClusterModel:
    if name == "tello":  # rotors that follow, by ratios that vary with the pose
        return pc.with_independent(pc.load("tello", root_joint=None), HIP)[0]
    return pc.load(name, n=4) if name.endswith("chain") else pc.load(name)


def lossy(name: str, rng: np.random.Generator, count: int = 3) -> pc.ClusterModel:
    """A robot with friction, and with losses in up to three gears."""
    model = robot(name)
    places = [r.name for r in model.motors if r.spins]
    chosen = places[1:3] + places[-1:] if name == "tello" else places[:count]
    motors = [
        pc.Motor(
            place, viscous=rng.uniform(0.0, 1e-3), coulomb=rng.uniform(0.0, 0.02),
            efficiency=rng.uniform(0.5, 1.0), back_efficiency=rng.uniform(0.2, 1.0),
        )
        for place in chosen
    ]  # fmt: skip
    return pc.ClusterModel(
        model.tree, [*model.constraints, *motors], model.q_reference,
        independent=model.independent_joints if model.closures else None,
    )  # fmt: skip


def state(model: pc.ClusterModel, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    q = pc.integrate(model, pc.neutral(model), 0.1 * rng.uniform(-1, 1, model.nv))
    return q, rng.uniform(-3, 3, model.nv), 5.0 * rng.normal(size=model.nv)


def one_joint(motor: pc.Motor, load: float = 0.1) -> pc.ClusterModel:
    """A wheel without gravity."""
    tree = pin.Model()
    tree.addJoint(0, pin.JointModelRY(), pin.SE3.Identity(), "wheel")
    tree.appendBodyToJoint(1, pin.Inertia(1.0, np.zeros(3), load * np.eye(3)), pin.SE3.Identity())
    tree.gravity.linear = np.zeros(3)
    return pc.ClusterModel(tree, [pc.Rotor("wheel", motor=motor)])


@pytest.mark.parametrize("name", ["mit_humanoid_leg", "belt_chain", "tello"])
def test_accelerations_obey_the_law(name: str, rng: np.random.Generator) -> None:
    for _ in range(2):
        model = lossy(name, rng)
        data = model.createData()
        q, v, tau = state(model, rng)
        torque = pc.passive_torque(model, data, q, v, tau)
        a = pc.aba(model, data, q, v, tau + torque)
        expected = reference.aba_with_losses(model, q, v, tau, FRICTION_SPEED)
        assert np.abs(a - expected).max() < ROUNDING * np.abs(a).max()
        given = pc.motor_torque(model, data, q, pc.rnea(model, data, q, v, a), v, a)
        B = pc.actuation_matrix(model, data, q)
        assert np.abs(B @ given - tau).max() < ROUNDING * np.abs(tau).max()
        power = pc.motor_power(model, data, q, v, given, a)
        assert min(power.friction.min(), power.gear.min()) >= 0.0
        assert (power.friction + power.gear).sum() == pytest.approx(-torque @ v)
        assert power.mechanical == pytest.approx(
            given * pc.rotor_velocity(model, data, q, v)[[r.driven for r in model.rotors]]
        )
    if name == "tello":
        assert np.abs(Losses(model, data, q, v, 0.0).bias).max() > 0.1


def test_gears_carry_external_forces(rng: np.random.Generator) -> None:
    model = lossy("mit_humanoid_leg", rng)
    data = model.createData()
    q, v, tau = state(model, rng)
    fext = [pin.Force(rng.normal(size=6)) for _ in range(model.njoints)]
    a = pc.aba(model, data, q, v, tau + pc.passive_torque(model, data, q, v, tau, fext), fext)
    given = pc.motor_torque(model, data, q, pc.rnea(model, data, q, v, a, fext), v, a)
    assert np.abs(pc.actuation_matrix(model, data, q) @ given - tau).max() < ROUNDING * np.abs(tau).max()
    assert (
        np.abs(pc.passive_torque(model, data, q, v, tau, fext) - pc.passive_torque(model, data, q, v, tau)).max() > 1e-4
    )


@pytest.mark.parametrize("turns", [1.0, -1.0])
@pytest.mark.parametrize("torque", [2.0, -2.0])
def test_one_gear_in_closed_form(turns: float, torque: float) -> None:
    N, J, load, forward, back = 10.0, 1e-3, 0.1, 0.8, 0.6
    model = one_joint(
        pc.Motor(ratio=N, rotor_inertia=J, coulomb=0.1, viscous=1e-2, efficiency=forward, back_efficiency=back)
    )
    data, q, v = model.createData(), np.zeros(1), np.array([turns])
    p = torque - turns * (0.1 + 1e-2 * N)
    share = forward if p * turns > 0.0 else 1.0 / back
    # load of the gear at the motor = load inertia / N^2 * alpha = share * (p - J alpha)
    alpha = share * p / (load / N**2 + share * J)
    tau = np.array([N * torque])
    a = pc.aba(model, data, q, v, tau + pc.passive_torque(model, data, q, v, tau, friction_speed=0.0))
    assert N * a[0] == pytest.approx(alpha)
    rnea = pc.rnea(model, data, q, v, a)
    assert pc.motor_torque(model, data, q, rnea, v, a, friction_speed=0.0) == pytest.approx(torque)
    power = pc.motor_power(model, data, q, v, [torque], a, friction_speed=0.0)
    w = turns * N
    assert power.gear[0] == pytest.approx((p - J * alpha) * w * (1.0 - (share if share < 1.0 else 1.0 / back)))


@pytest.mark.parametrize("turns", [2.0, -2.0])
@pytest.mark.parametrize("torque", [0.8, -0.8])
def test_a_carrier_that_speeds_up(turns: float, torque: float) -> None:
    """The teeth turn the rotor with its carrier, by the balances of carrier, rotor and link about one axis."""
    N, J, link, carrier, forward, back, on_carrier = 8.0, 2e-4, 0.03, 0.2, 0.7, 0.6, 1.5
    tree = pin.Model()
    tree.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "carrier")
    tree.addJoint(1, pin.JointModelRZ(), pin.SE3.Identity(), "joint")
    for j, inertia in ((1, carrier), (2, link)):
        tree.appendBodyToJoint(j, pin.Inertia(1.0, np.zeros(3), inertia * np.eye(3)), pin.SE3.Identity())
    motor = pc.Motor(efficiency=forward, back_efficiency=back)
    model = pc.ClusterModel(tree, [pc.Rotor("joint", N, axial_inertia=J, motor=motor)])
    found = []
    for eta in (forward, 1.0 / back):  # unknown: accelerations of carrier and joint, and the torque out of the gear
        A = np.array(
            [[J, N * J, 1.0 / eta], [link, link, -N], [carrier - J, 0.0, N - 1.0 / eta]]
        )  # the link holds the rotor
        x = np.linalg.solve(A, [torque, 0.0, on_carrier - torque])
        if (x[2] * turns > 0.0) == (eta == forward):
            found.append(x)
    ((*expected, load),) = found
    data, q, v, tau = model.createData(), np.zeros(2), np.array([1.0, turns]), np.array([on_carrier, N * torque])
    a = pc.aba(model, data, q, v, tau + pc.passive_torque(model, data, q, v, tau))
    assert a == pytest.approx(expected)
    lost = abs(load) * (1.0 / forward - 1.0 if load * turns > 0.0 else 1.0 - back)
    assert pc.motor_power(model, data, q, v, [torque], a).gear == pytest.approx(lost * N * abs(turns))
    result = pc.simulate(model, q, v, tau, duration=1e-6, dt=1e-6, rtol=1e-12)
    assert result.a[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    "name",
    ["mit_humanoid_leg", "belt_chain", *(pytest.param(x, marks=pytest.mark.ci) for x in ("mini_cheetah", "tello"))],
)
@pytest.mark.filterwarnings("ignore::pin_clusters.PinClustersWarning")
def test_loads_are_what_the_rotor_leaves_of_its_torque(name: str, rng: np.random.Generator) -> None:
    """What a rotor needs as a body of the tree, by Pinocchio's inverse dynamics, does not go out of the gear."""
    model = robot(name)
    chosen = [r for r in model.motors if r.spins and r.joint_id is not None]
    gears = [pc.Motor(r.name, efficiency=0.8, back_efficiency=0.5) for r in chosen]
    lossy = pc.ClusterModel(
        model.tree, [*model.constraints, *gears], model.q_reference,
        independent=model.independent_joints if model.closures else None,
    )  # fmt: skip
    data, tree = lossy.createData(), lossy.own_tree
    for _ in range(3):
        q = pc.integrate(model, pc.neutral(model), 0.2 * rng.uniform(-1, 1, model.nv))
        v, a = 3.0 * rng.normal(size=model.nv), 20.0 * rng.normal(size=model.nv)
        speeds = pc.spanning_velocity(lossy, data, q, v), pc.spanning_acceleration(lossy, data, q, v, a)
        whole = pin.rnea(tree, tree.createData(), q, *speeds)
        B = pc.actuation_matrix(lossy, data, q)
        torque = rng.normal(size=len(lossy.motors))
        power = pc.motor_power(lossy, data, q, v, torque, a, friction_speed=0.0)
        for k, r in enumerate(lossy.motors):
            if r.motor is not None:
                w, left = B[:, k] @ v, torque[k] - whole[tree.idx_vs[r.joint_id]]
                # of what is left the gear takes so much that its part comes out
                share = 1.0 - 0.8 if left * w > 0.0 else 1.0 - 1.0 / 0.5
                assert power.gear[k] == pytest.approx(share * left * w, rel=1e-9)


def with_idler(ratio: float, *motors: Any) -> pc.ClusterModel:
    """An arm without gravity, and a balanced wheel that turns with it."""
    tree = pin.Model()
    arm = tree.addJoint(0, pin.JointModelRZ(), pin.SE3.Identity(), "arm")
    tree.appendBodyToJoint(arm, pin.Inertia(1.0, np.array([0.2, 0.0, 0.0]), 0.02 * np.eye(3)), pin.SE3.Identity())
    idler = tree.addJoint(arm, pin.JointModelRZ(), pin.SE3(np.eye(3), np.array([0.3, 0.0, 0.0])), "idler")
    tree.appendBodyToJoint(idler, pin.Inertia(0.1, np.zeros(3), np.diag([1e-5, 1e-5, 2e-5])), pin.SE3.Identity())
    tree.gravity.linear = np.zeros(3)
    return pc.ClusterModel(tree, [pc.LinearCoupling("idler", {"arm": ratio}), *motors])


@pytest.mark.parametrize("ratio", [1.0, 10.0, 50.0])
def test_the_torque_belongs_to_the_stated_motor(ratio: float) -> None:
    """A wheel that follows is a load: its energy is behind the gear, which loses half of what it passes."""
    N, J, torque = 50.0, 1e-5, 0.1
    model = with_idler(ratio, pc.Rotor("arm", N, axial_inertia=J, motor=pc.Motor(efficiency=0.5), name="motor"))
    assert [r.name for r in model.motors] == ["motor"]
    links = 0.02 + 1.0 * 0.2**2 + 0.1 * 0.3**2 + 2e-5 * (1.0 + ratio) ** 2
    expected = 0.5 * N * torque / (links + 0.5 * N**2 * J)
    data, q, v, tau = model.createData(), pc.neutral(model), np.ones(1), np.array([N * torque])
    a = pc.aba(model, data, q, v, tau + pc.passive_torque(model, data, q, v, tau))
    assert a[0] == pytest.approx(expected)
    assert pc.motor_torque(model, data, q, pc.rnea(model, data, q, v, a), v, a) == pytest.approx(torque)
    result = pc.simulate(model, q, v, tau, duration=1e-3, dt=1e-3)
    assert result.v[-1, 0] == pytest.approx(1.0 + 1e-3 * expected, rel=1e-5)


def test_a_share_of_torque_that_is_not_determined_is_refused() -> None:
    lossy = pc.Rotor("arm", 50.0, axial_inertia=1e-5, motor=pc.Motor(efficiency=0.5), name="motor")
    plain = pc.Rotor("arm", 20.0, axial_inertia=1e-5, name="second")
    with raises(pc.ConstraintError, "'motor' 'second' driven=False pc.Motor"):
        with_idler(10.0, lossy, plain)
    stage = pc.Rotor("arm", 20.0, axial_inertia=1e-5, name="second", driven=False)
    assert [r.name for r in with_idler(10.0, lossy, stage).motors] == ["motor"]
    both = with_idler(10.0, lossy, plain, pc.Motor("second"))
    assert [r.name for r in both.motors] == ["motor", "second"]
    rubbing = pc.Rotor("arm", 50.0, axial_inertia=1e-5, motor=pc.Motor(viscous=1e-3), name="motor")
    assert [r.name for r in with_idler(10.0, rubbing, plain).motors] == ["motor", "second"]  # no gear, no share of it


def test_at_rest_nothing_is_lost() -> None:
    model = one_joint(pc.Motor(ratio=5.0, rotor_inertia=1e-4, coulomb=0.2, efficiency=0.7))
    data, still = model.createData(), np.zeros(1)
    assert pc.passive_torque(model, data, still, still, [3.0]).tolist() == [0.0]
    assert np.isnan(pc.passive_torque(model, data, still, [np.nan], [3.0])).all()


def test_power_that_is_not_known() -> None:
    model = one_joint(pc.Motor(ratio=5.0, rotor_inertia=1e-4, torque_constant=0.1, resistance=0.5, efficiency=0.7))
    power = pc.motor_power(model, model.createData(), [0.0], [2.0], [0.3])
    assert power.copper.tolist() == pytest.approx([0.5 * 9.0])
    assert power.electrical.tolist() == pytest.approx([4.5 + 0.3 * 10.0])
    assert np.isnan(power.gear).all()
    plain = one_joint(pc.Motor(ratio=5.0, rotor_inertia=1e-4))
    power = pc.motor_power(plain, plain.createData(), [0.0], [2.0], [0.3])
    assert power.gear.tolist() == [0.0]
    assert np.isnan(power.copper).all()
    locking = one_joint(pc.Motor(ratio=5.0, rotor_inertia=1e-4, efficiency=0.4, back_efficiency=-0.1))
    assert np.isnan(pc.motor_power(locking, locking.createData(), [0.0], [2.0], [0.3], [0.0]).gear).all()


def test_a_gear_that_locks_needs_elasticity() -> None:
    worm = pc.Motor(ratio=5.0, rotor_inertia=1e-4, efficiency=0.4, back_efficiency=-0.5)
    model = one_joint(worm)
    with raises(pc.ModelError, "'rotor:wheel' pc.Spring"):
        pc.passive_torque(model, model.createData(), [0.0], [1.0], [0.0])
    light = one_joint(worm, load=1e-4)  # its own rotor turns it on
    data = light.createData()
    torque = pc.passive_torque(light, data, [0.0], [1.0], [-1.0]) - 1.0
    a = pc.aba(light, data, [0.0], [1.0], torque)
    given = pc.motor_torque(light, data, [0.0], pc.rnea(light, data, [0.0], [1.0], a), [1.0], a)
    assert given == pytest.approx(-0.2)


def test_what_is_missing_is_said(rng: np.random.Generator) -> None:
    model = lossy("mit_humanoid_leg", rng)
    data, (q, v, tau) = model.createData(), state(model, rng)
    cases: list[tuple[Any, type[Exception], str]] = [
        (lambda: pc.passive_torque(model, data, q, v), pc.ArgumentTypeError, "'ankle_rotor' passive_torque tau"),
        (lambda: pc.passive_torque(model, data, q, v, tau[1:]), pc.ShapeError, "tau 4"),
        (lambda: pc.motor_torque(model, data, q, tau, v), pc.ArgumentTypeError, "motor_torque"),
        (lambda: pc.motor_torque(model, data, q, tau, a=v), pc.ArgumentTypeError, "motor_torque"),
        (lambda: pc.motor_torque(model, data, q, tau, v, v, friction_speed=-1.0), pc.ArgumentTypeError, "0"),
        (lambda: pc.motor_power(model, data, q, v, tau[1:]), pc.ShapeError, "tau_motor"),
        (lambda: pc.motor_power(model, data, q, v, tau, friction_speed="no"), pc.ArgumentTypeError, "0"),
        (lambda: pc.efficiency(model, "gait"), pc.ArgumentTypeError, "SimulationResult study.Trajectory"),
    ]
    for call, error, words in cases:
        with raises(error, words):
            call()
    rubbing = one_joint(pc.Motor(ratio=5.0, rotor_inertia=1e-4, coulomb=0.2))  # whose losses no load is needed for
    assert pc.motor_torque(rubbing, rubbing.createData(), [0.0], [0.0], [1.0]) == pytest.approx(0.2)


def test_gears_with_losses_are_rotors() -> None:
    arm = pc.load("teleop_arm")
    name = next(r.name for r in arm.rotors if not r.spins)
    with raises(pc.ConstraintError, "'gripper_rotor' pc.Rotor efficiency"):
        pc.ClusterModel(arm.tree, [*arm.constraints, pc.Motor(name, efficiency=0.9)])
    rubbing = pc.ClusterModel(arm.tree, [*arm.constraints, pc.Motor(name, viscous=0.1)])
    v = np.ones(rubbing.nv)
    torque = pc.passive_torque(rubbing, rubbing.createData(), pc.neutral(rubbing), v)
    row = next(r.row for r in rubbing.rotors if r.name == name)
    assert torque == pytest.approx(-0.1 * (row @ v) * row)


def test_efficiency_over_a_motion(rng: np.random.Generator) -> None:
    sine = pc.study.Sine(duration=0.2, dt=2e-3)
    assert pc.efficiency(pc.load("mit_humanoid_leg"), sine).efficiency == pytest.approx(1.0)
    model = pc.load("mit_humanoid_leg")
    motors = [pc.Motor(r.name, coulomb=1e-2, efficiency=0.9, torque_constant=0.1, resistance=0.2) for r in model.motors]
    model = pc.ClusterModel(model.tree, [*model.constraints, *motors])
    found = pc.efficiency(model, sine)
    assert found.energy_in == pytest.approx(found.energy_out + found.friction + found.gear)
    assert 0.3 < found.efficiency < 0.9
    assert min(found.friction.min(), found.gear.min(), found.copper.min()) > 0.0
    time, q, v, a = sine.states(model)
    data = model.createData()
    states = list(zip(q, v, a, strict=True))
    u = np.array([pc.motor_torque(model, data, x, pc.rnea(model, data, x, y, z), y, z) for x, y, z in states])
    assert found.copper == pytest.approx(np.trapezoid(0.2 * (u / 0.1) ** 2, time, axis=0))
    free = one_joint(pc.Motor(ratio=5.0, rotor_inertia=1e-4))
    result = pc.simulate(free, [0.0], [0.0], [1.0], 0.1, 1e-3)
    kept = pc.efficiency(free, result)
    assert kept.efficiency == pytest.approx(1.0)
    assert kept.energy_in[0] == pytest.approx(result.energy[-1] - result.energy[0], rel=1e-3)
