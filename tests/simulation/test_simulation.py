"""Simulation against itself with finer steps, laws of mechanics, and SciPy's solvers."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool, trees

import pin_clusters as pc
from pin_clusters import approximations, simulation

RK4, RKMK4, EULER = "rk4", "rkmk4", "semi_implicit"


def load(name: str) -> pc.ClusterModel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        return pc.load(name)


def arm() -> pc.ClusterModel:
    return trees.geared_arm().build()


def floating_arm() -> pc.ClusterModel:
    return trees.geared_arm(floating=True).build()


def balls() -> pc.ClusterModel:
    """A spherical and a planar joint, and one with both inside."""
    rng, robot = np.random.default_rng(3), trees.Robot()
    composite = pin.JointModelComposite()
    for joint in (pin.JointModelRX(), pin.JointModelSpherical(), pin.JointModelPlanar()):
        composite.addJoint(joint, trees.placement(rng))
    for name, parent, joint in (
        ("plane", None, pin.JointModelPlanar()),
        ("ball", "plane", pin.JointModelSpherical()),
        ("all", "ball", composite),
    ):
        robot.nodes.append(trees.Node(name, parent, joint, trees.placement(rng), trees.inertia(rng), 0.05))
    return robot.build()


def four_bar() -> pc.ClusterModel:
    return load("four_bar")


def floating_loop() -> pc.ClusterModel:
    return pool.case("four_bar_serial_on_free_flyer").model


def swinging(model: pc.ClusterModel, speed: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    q = pc.neutral(model)
    return q, speed * np.random.default_rng(5).normal(size=model.nv)


ROBOTS: dict[str, Callable[[], pc.ClusterModel]] = {
    "fixed": arm, "floating": floating_arm, "balls": balls, "loop": four_bar, "floating loop": floating_loop,
}  # fmt: skip
COMMUTING = ("fixed", "loop")
DURATION = 0.24


@cache
def reference(name: str) -> tuple[pc.ClusterModel, pc.SimulationResult]:
    model = ROBOTS[name]()
    return model, pc.simulate(model, *swinging(model), duration=DURATION, dt=2.5e-4, method=RKMK4, record=100)


def error(name: str, method: str, dt: float) -> float:
    model, exact = reference(name)
    found = pc.simulate(model, *swinging(model), duration=DURATION, dt=dt, method=method, record=1000)
    pose = pin.difference(model.tree, exact.q[-1], found.q[-1])
    return float(np.linalg.norm(np.concatenate([pose, found.v[-1] - exact.v[-1]])))


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("method", simulation.METHODS)
def test_the_order_of_each_method(name: str, method: str) -> None:
    order = 1 if method == EULER else 2 if method == RK4 and name not in COMMUTING else 4
    coarse = 4e-3 if order == 4 else 2e-3
    errors = [error(name, method, dt) for dt in (coarse, coarse / 2.0)]
    # a slope from two steps is off by terms of the next order; order 4 can show as 5 where those of order 4 are small
    assert order - 0.35 < np.log2(errors[0] / errors[1]) < order + (1.3 if order == 4 else 0.35)
    assert errors[0] < {1: 1.0, 2: 1e-2, 4: 1e-3}[order]


@pytest.mark.parametrize("name", ROBOTS)
def test_energy_stays_and_the_manifold_is_kept(name: str) -> None:
    model, result = reference(name)
    assert np.ptp(result.energy) < 1e-9 * np.abs(result.energy).max()  # dt^4 at 0.25 ms is 4e-15 of some 1e5
    assert result.residual.max() < 1e-13  # what pc.integrate promises
    for q in result.q:
        pc.configuration.check(model, q, 1e-12)
    data = model.createData()
    for i in (0, -1):
        q, v = result.q[i], result.v[i]
        assert result.energy[i] == pytest.approx(pc.computeMechanicalEnergy(model, data, q, v), rel=1e-14)
        np.testing.assert_allclose(result.a[i], pc.aba(model, data, q, v, result.tau[i]), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(result.v_tree[i], pc.spanning_velocity(model, data, q, v), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", ["floating", "floating loop"])
def test_a_free_robot_keeps_its_momentum(name: str) -> None:
    model = ROBOTS[name]().with_gravity(np.zeros(3))
    q, v = swinging(model)
    result = pc.simulate(
        model, q, v, np.r_[np.zeros(6), np.full(model.nv - 6, 0.1)], duration=0.2, dt=5e-4, method=RKMK4, record=50
    )
    data, found = model.createData(), []
    for x, w in zip(result.q, result.v, strict=True):
        h = pc.computeCentroidalMomentum(model, data, x, w)
        found.append(np.concatenate([h.linear, h.angular]))
    # dt^4 = 6e-14, times some powers of the speeds
    assert np.abs(np.array(found) - found[0]).max() < 1e-9 * np.abs(found[0]).max()


def test_a_torque_array_is_held_during_each_step() -> None:
    model = arm()
    q, v = swinging(model)
    tau = np.random.default_rng(0).normal(size=(40, model.nv))
    whole = pc.simulate(model, q, v, tau, 0.04, 1e-3)
    assert np.array_equal(whole.tau[:-1], tau)
    assert np.array_equal(whole.tau[-1], tau[-1])
    for k in range(40):
        one = pc.simulate(model, q, v, tau[k], 1e-3, 1e-3)
        q, v = one.q[-1], one.v[-1]
    np.testing.assert_allclose(whole.q[-1], q, rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(whole.v[-1], v, rtol=0.0, atol=1e-12)
    # a function that looks the row up sees the next row at the end of a step: not the same
    look = pc.simulate(model, *swinging(model), lambda t, q, v: tau[min(int(t / 1e-3 + 1e-6), 39)], 0.04, 1e-3)
    assert np.abs(look.v[-1] - v).max() > 1e-6


def test_a_function_gets_time_and_state_at_each_stage() -> None:
    model = arm()
    q, v = swinging(model)
    seen: list[float] = []

    def damper(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        seen.append(t)
        tau = -0.5 * v
        q[:] = v[:] = np.nan  # what is given is a copy
        return tau

    result = pc.simulate(model, q, v, damper, 0.01, 5e-3)
    assert seen == pytest.approx([0.0, 2.5e-3, 2.5e-3, 5e-3, 5e-3, 7.5e-3, 7.5e-3, 1e-2, 1e-2])
    np.testing.assert_array_equal(result.tau, -0.5 * result.v)


def test_work_of_torques_is_the_change_of_energy() -> None:
    model = four_bar()
    result = pc.simulate(model, *swinging(model), lambda t, q, v: np.array([np.sin(5.0 * t)]), 0.2, 1e-4)
    power = np.sum(result.tau * result.v, axis=1)
    work = 1e-4 / 3.0 * (power[0] + power[-1] + 4.0 * power[1:-1:2].sum() + 2.0 * power[2:-1:2].sum())
    # Simpson's rule and the method are off by some dt^4, times high derivatives
    assert work == pytest.approx(result.energy[-1] - result.energy[0], rel=1e-7)


@pytest.mark.jitless
def test_samples_and_the_last_step() -> None:
    model = arm()
    q, v = swinging(model)
    fine = pc.simulate(model, q, v, duration=0.0205, dt=1e-3)
    assert len(fine.time) == 22
    assert fine.time[-2:] == pytest.approx([0.020, 0.0205], abs=1e-15)
    some = pc.simulate(model, q, v, duration=0.0205, dt=1e-3, record=8)
    assert some.time == pytest.approx([0.0, 0.008, 0.016, 0.0205], abs=1e-15)
    np.testing.assert_array_equal(some.q, fine.q[[0, 8, 16, 21]])
    ends = pc.simulate(model, q, v, duration=0.02, dt=1e-3, record=1000)
    np.testing.assert_array_equal(ends.v, fine.v[[0, 20]])
    assert np.array_equal(fine.q[0], q)
    assert (fine.joints[0], fine.units[0]) == (model.independent_joints[0], "rad")


@pytest.mark.parametrize("torque", [None, lambda t, q, v: 0.0 * v])
def test_the_last_step_is_as_long_as_the_time_left(torque: Any) -> None:
    """A body in free fall: its speed is the time times g. And its units are those of a free flyer."""
    pin.seed(0)
    tree = pin.Model()
    tree.appendBodyToJoint(
        tree.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "root"),
        pin.Inertia.Random(),
        pin.SE3.Identity(),
    )
    model = pc.ClusterModel(tree)
    result = pc.simulate(model, pc.neutral(model), np.zeros(6), torque, 0.0205, 1e-3)
    assert result.v[-1] == pytest.approx([0.0, 0.0, -9.81 * 0.0205, 0.0, 0.0, 0.0], abs=1e-13)
    assert (result.joints[2], result.joints[5]) == ("root.vz", "root.wz")
    assert result.units == ("m", "m", "m", "rad", "rad", "rad")


def test_the_ghost_is_the_approximate_robot() -> None:
    model = arm()
    q, v = swinging(model)
    ghost = pc.simulate(model, q, v, duration=0.1, dynamics=approximations.of(model)["diagonal"].aba)
    exact = pc.simulate(model, q, v, duration=0.1)
    assert np.abs(ghost.q[-1] - exact.q[-1]).max() > 1e-6
    np.testing.assert_allclose(
        ghost.a[-1], approximations.of(model)["diagonal"].aba(ghost.q[-1], ghost.v[-1], ghost.tau[-1]), rtol=1e-12
    )


@pytest.mark.parametrize("name", ROBOTS)
def test_scipy_agrees(name: str) -> None:
    integrate = pytest.importorskip("scipy.integrate")
    model, exact = reference(name)
    q, v = swinging(model)
    f = simulation.ode(model, q)
    solution = integrate.solve_ivp(f, (0.0, DURATION), f.y0(v), method="DOP853", rtol=1e-11, atol=1e-11)
    found_q, found_v = f.unpack(solution.y)
    one_q, one_v = f.unpack(solution.y[:, -1])
    np.testing.assert_allclose(one_q, found_q[-1], atol=1e-12)
    # the reference has some 1e-11 by its step, DOP853 by its tolerance over some 50 steps
    assert np.abs(pin.difference(model.tree, exact.q[-1], found_q[-1])).max() < 1e-8
    assert np.abs(exact.v[-1] - found_v[-1]).max() < 1e-7
    assert np.array_equal(one_v, found_v[-1])


@pytest.mark.jitless
def test_the_rate_of_an_increment_is_the_inverse_of_pinocchios_jacobian(rng: np.random.Generator) -> None:
    model = balls()
    groups = simulation._groups.groups_of(model)
    for size in (1e-9, 1e-3, 0.1, 0.29, 0.9, 2.0):
        x, v = size * rng.normal(size=model.nv), rng.normal(size=model.nv)
        J = pin.dIntegrate(model.tree, pin.neutral(model.tree), x, pin.ARG1)
        rate = simulation._groups.increment_rate(groups, x, v)
        # Pinocchio's planar Jacobian is a difference of near numbers for small turns
        np.testing.assert_allclose(J @ rate, v, rtol=0.0, atol=1e-9 if size < 0.1 else 1e-12)


def test_npz_keeps_everything(tmp_path) -> None:
    model, _ = pc.with_independent(four_bar(), ["rocker"])
    result = pc.simulate(model, pc.neutral(model), [3.0], [0.1], 0.2, 1e-3)
    assert result.switches
    result.to_npz(tmp_path / "swing.npz")
    again = pc.SimulationResult.from_npz(tmp_path / "swing.npz")
    for name in result.__dataclass_fields__:
        before, after = getattr(result, name), getattr(again, name)
        assert np.array_equal(before, after) if isinstance(before, np.ndarray) else before == after, name
    assert "four_bar" in repr(again)


@pytest.mark.ci
def test_plot(tmp_path) -> None:
    model, _ = pc.with_independent(four_bar(), ["rocker"])
    result = pc.simulate(model, pc.neutral(model), [3.0], [0.1], 0.2, 1e-3)
    figure = result.plot(tmp_path / "swing.png")
    assert (tmp_path / "swing.png").stat().st_size > 10_000
    labels = [ax.get_ylabel() for ax in figure.axes]
    assert labels[:4] == ["[rad]", "[rad/s]", "[N m]", "[J]"]
    text = [t.get_text() for t in figure.legends[0].get_texts()]
    assert text == ["rocker", "change of the\nindependent joints"]
    pc.simulate(balls(), *swinging(balls()), duration=0.01).plot()  # no joint with an angle of its own


def test_progress_and_interruption() -> None:
    model = arm()
    q, v = swinging(model)
    seen: list[tuple[int, int]] = []
    pc.simulate(model, q, v, duration=0.3, dt=1e-4, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (3000, 3000)
    assert len(seen) > 2
    assert [s[0] for s in seen] == sorted(s[0] for s in seen)

    def stop(done: int, total: int) -> None:
        if done >= 1000:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        pc.simulate(model, q, v, duration=0.3, dt=1e-4, progress=stop)
    assert isinstance(caught.value, simulation.SimulationInterrupted)
    kept = caught.value.result
    assert 1000 <= len(kept.time) < 3000
    whole = pc.simulate(model, q, v, duration=0.3, dt=1e-4)
    assert np.array_equal(kept.q, whole.q[: len(kept.time)])
