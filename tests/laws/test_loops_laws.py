"""Laws of mechanics on mechanisms with closed loops: compared with nothing else; poses come from pc.integrate."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import pool
from samples.pool import error, slope, step_of

import pin_clusters as pc

# relative to max(1, largest entry): K_d is conditioned better than 300
ROUNDING = 1e-10
# fourth-order differences of energies with a step of 1e-3 over the fastest rate
DIFFERENCES = 1e-7
FREE = ("four_bar_serial_on_free_flyer", "rotors_on_a_loop_on_free_flyer", 100, 105, 108, 109)
KEYS = pool.ALL

pytestmark = pytest.mark.jitless


@pytest.fixture(params=KEYS, ids=str)
def state(request: pytest.FixtureRequest, rng: np.random.Generator) -> Any:
    c = pool.case(request.param)
    v, a = rng.normal(size=(2, c.model.nv))
    return c.model, c.model.createData(), c.q, v, a, rng, c.mechanism.exact


def weightless(model: pc.ClusterModel) -> pc.ClusterModel:
    return model.with_gravity(np.zeros(3))


def test_forward_and_inverse_dynamics_are_inverse(state: Any) -> None:
    model, data, q, v, a, rng, _ = state
    fext = 5.0 * rng.normal(size=(model.njoints, 6))
    tau = pc.rnea(model, data, q, v, a, fext)
    M, h = pc.crba(model, data, q), pc.rnea(model, data, q, v, 0.0 * a, fext)
    assert error(pc.aba(model, data, q, v, tau, fext), a) < ROUNDING * max(1.0, np.linalg.cond(M) / 1e3)
    assert error(M @ a + h, tau) < ROUNDING
    assert error(pc.nonLinearEffects(model, data, q, v), pc.rnea(model, data, q, v, 0.0 * a)) < ROUNDING


def test_external_forces_are_work_on_the_bodies(state: Any) -> None:
    """tau(fext) = -sum J' f, with Pinocchio's Jacobians of the tree and the G of differences of pc.integrate."""
    model, data, q, v, a, rng, exact = state
    fext = 5.0 * rng.normal(size=(model.njoints, 6))
    fext[0] = 0.0
    change = pc.rnea(model, data, q, v, a, fext) - pc.rnea(model, data, q, v, a)
    tree, spare = model.tree, model.tree.createData()
    pin.computeJointJacobians(tree, spare, np.array(q))
    h, rate = step_of(model, q, v)
    v_tree = slope(lambda t: pin.difference(tree, np.array(q), pc.integrate(model, q, t * v)), h)
    power = sum(
        float(fext[j] @ (pin.getJointJacobian(tree, spare, j, pin.LOCAL) @ v_tree)) for j in range(1, model.njoints)
    )
    scale = np.abs(fext).sum() * max(1.0, float(np.abs(v_tree).max()))
    assert abs(change @ v + power) < (DIFFERENCES * rate + 10.0 * exact) * scale


def test_mass_matrix(state: Any) -> None:
    model, data, q, v, _, _, _ = state
    M = pc.crba(model, data, q)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0.0
    assert pc.computeKineticEnergy(model, data, q, v) == pytest.approx(0.5 * v @ M @ v, rel=1e-11)
    light = weightless(model)
    spare, zero = light.createData(), 0.0 * v
    columns = np.stack([pc.rnea(light, spare, q, zero, e) for e in np.eye(model.nv)], axis=1)
    assert error(columns, M) < ROUNDING
    Minv = pc.computeMinverse(model, data, q)
    assert np.linalg.norm(Minv @ M - np.eye(model.nv), 2) < 1e-12 * np.linalg.cond(M)
    assert error(Minv, Minv.T) < ROUNDING
    mass, nle = model.createData(), pc.nonLinearEffects(model, data, q, v).copy()
    pc.computeAllTerms(model, mass, q, v)
    assert error(mass.M, M) < ROUNDING
    assert error(mass.nle, nle) < ROUNDING


def test_power_balance(state: Any) -> None:
    """d/dt (T + U) = tau' v on the motion with velocity v and acceleration a."""
    model, data, q, v, a, _, exact = state
    tau = pc.rnea(model, data, q, v, a).copy()
    h, rate = step_of(model, q, v)

    def energy(t: float) -> float:
        return pc.computeMechanicalEnergy(model, data, pc.integrate(model, q, t * v + 0.5 * t * t * a), v + t * a)

    # for joints whose velocity does not commute (free flyers, balls) this motion has the acceleration a only where
    # v and a are parallel; the energy's rate needs no more than velocity and acceleration at t = 0, which are right
    scale = np.abs(tau) @ np.abs(v) + abs(energy(0.0)) + pc.computeKineticEnergy(model, data, q, v)
    assert abs(slope(energy, h) - tau @ v) < (DIFFERENCES * rate + 100.0 * exact) * scale


def test_velocity_terms_are_half_the_rate_of_the_mass_matrix(state: Any) -> None:
    """dM/dt - 2 C is skew: with v held, dT/dt = v' C v."""
    model, data, q, v, _, _, exact = state
    light = weightless(model)
    spin = pc.nonLinearEffects(light, light.createData(), q, v)
    h, rate = step_of(model, q, v)
    measured = slope(lambda t: pc.computeKineticEnergy(model, data, pc.integrate(model, q, t * v), v), h)
    scale = np.abs(spin) @ np.abs(v) + pc.computeKineticEnergy(model, data, q, v)
    assert abs(measured - spin @ v) < (DIFFERENCES * rate + 100.0 * exact) * scale


def test_gravity_is_the_gradient_of_the_potential_energy(state: Any) -> None:
    model, data, q, _, _, _, exact = state
    gravity = pc.computeGeneralizedGravity(model, data, q).copy()
    for k, e in enumerate(np.eye(model.nv)):
        h, rate = step_of(model, q, e)
        measured = slope(lambda t, e=e: pc.computePotentialEnergy(model, data, pc.integrate(model, q, t * e)), h)
        size = abs(pc.computePotentialEnergy(model, data, q)) + np.abs(gravity).max()
        assert abs(measured - gravity[k]) < (DIFFERENCES * rate + 100.0 * exact) * size, k
    light = weightless(model)
    assert not np.any(pc.computeGeneralizedGravity(light, light.createData(), q))


ONE_DOF = [key for key in pool.EXACT
           if all(pool.case(key).model.tree.nvs[pool.case(key).model.getJointId(j)] == 1
                  for j in pool.case(key).model.independent_joints)]  # fmt: skip


@pytest.mark.parametrize("key", ONE_DOF, ids=str)
def test_equations_of_lagrange(key: Any, rng: np.random.Generator) -> None:
    """d/dt (M v) - dL/dq = tau, every component: of M and U alone, so the bias of the loops is checked whole."""
    model, q = pool.case(key).model, pool.case(key).q
    data, v = model.createData(), rng.normal(size=model.nv)
    a = rng.normal(size=model.nv)
    tau = pc.rnea(model, data, q, v, a).copy()
    h, rate = step_of(model, q, v)

    def momentum(t: float) -> np.ndarray:
        return pc.crba(model, data, pc.integrate(model, q, t * v + 0.5 * t * t * a)) @ (v + t * a)

    expected = slope(momentum, h)
    scale = np.abs(expected).max() + np.abs(tau).max()
    for k, e in enumerate(np.eye(model.nv)):
        small, fast = step_of(model, q, e)
        rate = max(rate, fast)

        def lagrangian(t: float, e: np.ndarray = e) -> float:
            there = pc.integrate(model, q, t * e)
            return pc.computeKineticEnergy(model, data, there, v) - pc.computePotentialEnergy(model, data, there)

        expected[k] -= slope(lagrangian, small)
    assert np.abs(expected - tau).max() < 10.0 * DIFFERENCES * rate * max(1.0, scale)


@pytest.mark.parametrize("key", FREE, ids=str)
def test_only_gravity_and_forces_change_the_momentum(key: Any, rng: np.random.Generator) -> None:
    """Any torques in the joints, none on the free flyer: dh/dt = m g and the forces; the loops' forces cancel."""
    model, q = pool.case(key).model, pool.case(key).q
    assert all(r.carrier != "universe" for r in model.rotors)
    data, v = model.createData(), rng.normal(size=model.nv)
    tau = 10.0 * rng.normal(size=model.nv)
    base = model.joint_idx_v("base")
    tau[base : base + 6] = 0.0
    fext = 3.0 * rng.normal(size=(model.njoints, 6))
    fext[0] = 0.0
    a = pc.aba(model, data, q, v, tau, fext)
    rate = pc.computeCentroidalMomentumTimeVariation(model, data, q, v, a).vector
    com, mass = data.com[0].copy(), float(data.mass[0])
    expected = np.concatenate([mass * model.gravity.linear, np.zeros(3)])
    pc.forwardKinematics(model, data, q)
    about = pin.SE3(np.eye(3), com)
    for j in range(1, model.njoints):
        expected += about.actInv(data.oMi[j].act(pin.Force(fext[j]))).vector
    scale = max(np.abs(expected).max(), np.abs(tau).max())
    assert np.abs(rate - expected).max() < 1e-9 * scale


def runge_kutta(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, dt: float, steps: int) -> Any:
    """Passive motion; each stage moves from q by pc.integrate."""
    data, zero = model.createData(), np.zeros(model.nv)

    def f(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return pc.aba(model, data, q, v, zero).copy()

    for _ in range(steps):
        a1 = f(q, v)
        v2 = v + 0.5 * dt * a1
        a2 = f(pc.integrate(model, q, 0.5 * dt * v), v2)
        v3 = v + 0.5 * dt * a2
        a3 = f(pc.integrate(model, q, 0.5 * dt * v2), v3)
        v4 = v + dt * a3
        a4 = f(pc.integrate(model, q, dt * v3), v4)
        q = pc.integrate(model, q, dt / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4))
        v = v + dt / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
    return q, v


@pytest.mark.parametrize("name", ["watt_six_bar", "geared_five_bar", "rssr_massive", "bennett", "delta", "ankle_2rsu"])
def test_runge_kutta_has_order_four(name: str) -> None:
    """Energy error over the step: pc.integrate does not spoil the order."""
    c = pool.case(name)
    model, q = c.model, np.array(c.q)
    data, v = model.createData(), np.full(model.nv, 0.3)
    E0 = pc.computeMechanicalEnergy(model, data, q, v)
    T = pc.computeKineticEnergy(model, data, q, v) + 0.1 * abs(E0)
    lengths, drift = (0.012, 0.006, 0.003), []
    for dt in lengths:
        end, speed = runge_kutta(model, q, v, dt, round(0.12 / dt))
        drift.append(abs(pc.computeMechanicalEnergy(model, data, end, speed) - E0) / T)
    orders = np.diff(np.log(drift)) / np.diff(np.log(lengths))
    assert drift[-1] < 1e-13 or np.median(orders) > 3.6, (drift, orders)


def test_momentum_in_flight_is_kept() -> None:
    c = pool.case("rotors_on_a_loop_on_free_flyer")
    model = weightless(c.model)
    assert all(r.carrier != "universe" for r in model.rotors)
    rng = np.random.default_rng(3)
    q, v = np.array(c.q), rng.normal(size=model.nv)
    data = model.createData()

    def whole(q: np.ndarray, v: np.ndarray) -> np.ndarray:
        h, com = pc.computeCentroidalMomentum(model, data, q, v).vector, data.com[0].copy()
        return np.concatenate([h[:3], h[3:] + np.cross(com, h[:3])])

    before, E0 = whole(q, v), pc.computeKineticEnergy(model, data, q, v)
    # midpoint rule, refined: free flyers are not integrated to fourth order by these stages
    drift = []
    for n in (100, 200):
        x, w = q, v
        for _ in range(n):
            h = 0.1 / n
            a = pc.aba(model, data, x, w, np.zeros(model.nv)).copy()
            half = w + 0.5 * h * a
            mid = pc.integrate(model, x, 0.5 * h * w)
            am = pc.aba(model, data, mid, half, np.zeros(model.nv)).copy()
            x, w = pc.integrate(model, x, h * half), w + h * am
        drift.append(max(error(whole(x, w), before), abs(pc.computeKineticEnergy(model, data, x, w) / E0 - 1.0)))
    assert drift[0] < 1e-3
    assert drift[1] < 0.35 * drift[0]  # second order: the continuous motion keeps it


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_copies_are_the_same_model(key: Any, rng: np.random.Generator) -> None:
    model, q = pool.case(key).model, pool.case(key).q
    v, a = rng.normal(size=(2, model.nv))
    wanted = pc.rnea(model, model.createData(), q, v, a)
    # without a word: what there was to say about the geometry was said when the model was made
    again = pickle.loads(pickle.dumps(model))
    light = again.with_gravity(np.zeros(3)).with_gravity(model.gravity)
    assert again.independent_joints == model.independent_joints
    assert np.array_equal(again.q_reference, model.q_reference)
    assert np.array_equal(pc.rnea(again, again.createData(), q, v, a), wanted)
    assert copy.deepcopy(model) is model
    assert light.independent_joints == model.independent_joints
    assert np.array_equal(pc.rnea(light, light.createData(), q, v, a), wanted)
