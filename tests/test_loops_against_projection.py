"""The compiled algorithms on closed loops against Pinocchio on the tree, projected with G and g of a null space."""

from __future__ import annotations

import warnings
from typing import Any

import loop_models
import numpy as np
import pinocchio as pin
import pytest

import pin_clusters as pc
from pin_clusters.baselines import projection

# relative to max(1, largest entry), where K_d is conditioned better than 1e3
LIMIT = 1e-10
# rows that are dropped miss by the misalignment of the geometry, which the results feel some times over
SLOPPY = 30.0
RANDOM = range(60)


def error(x: Any, y: Any) -> float:
    """Largest difference over max(1, largest entry of y)."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    assert x.shape == y.shape, (x.shape, y.shape)
    if not y.size:
        return 0.0
    worst = float(np.abs(x - y).max()) / max(1.0, float(np.abs(y).max()))
    assert np.isfinite(worst)
    return worst


def errors(
    model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, a: np.ndarray, tau: np.ndarray, fext: np.ndarray
) -> dict[str, float]:
    """Error of every algorithm at one state."""
    data, exact = model.createData(), projection.createData(model)
    zero = np.zeros(model.nv)
    M = projection.crba(model, exact, q)
    torque = projection.rnea(model, exact, q, v, a)
    T, U = projection.computeKineticEnergy(model, exact, q, v), projection.computePotentialEnergy(model, exact, q)
    exact.couple(q, v)
    found = {
        "coupling_jacobian": error(pc.coupling_jacobian(model, data, q), exact.loops.G),
        "coupling_bias": error(pc.coupling_bias(model, data, q, v), exact.loops.g),
        "spanning_velocity": error(pc.spanning_velocity(model, data, q, v), exact.loops.G @ v),
        "rnea": error(pc.rnea(model, data, q, v, a), torque),
        "rnea with fext": error(pc.rnea(model, data, q, v, a, fext), projection.rnea(model, exact, q, v, a, fext)),
        "nonLinearEffects": error(pc.nonLinearEffects(model, data, q, v), projection.rnea(model, exact, q, v, zero)),
        "computeGeneralizedGravity": error(
            pc.computeGeneralizedGravity(model, data, q), projection.rnea(model, exact, q, zero, zero)
        ),
        "crba": error(pc.crba(model, data, q), M),
        "aba": error(pc.aba(model, data, q, v, tau), projection.aba(model, exact, q, v, tau)),
        "aba with fext": error(pc.aba(model, data, q, v, tau, fext), projection.aba(model, exact, q, v, tau, fext)),
        "aba of rnea": error(pc.aba(model, data, q, v, pc.rnea(model, data, q, v, a, fext), fext), a),
        "computeMinverse": error(pc.computeMinverse(model, data, q), np.linalg.inv(M)),
        "computeKineticEnergy": error(pc.computeKineticEnergy(model, data, q, v), T),
        "computePotentialEnergy": error(pc.computePotentialEnergy(model, data, q), U),
        "computeMechanicalEnergy": error(pc.computeMechanicalEnergy(model, data, q, v), T + U),
    }
    return found


def state(model: pc.ClusterModel, m: loop_models.Mechanism, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """An assembled pose that is conditioned well, v, a, tau, fext."""
    q = loop_models.random_pose(model, m.q0, rng, m.spread, 10.0 * m.exact)
    assert loop_models.condition(model, q) < 1e3
    v, a, tau = rng.normal(size=(3, model.nv))
    return q, v, a, 5.0 * tau, 5.0 * rng.normal(size=(model.njoints, 6))


def build(m: loop_models.Mechanism) -> pc.ClusterModel:
    with warnings.catch_warnings():
        if m.exact:  # says that rows are dropped
            warnings.simplefilter("ignore", pc.PinClustersWarning)
        model = m.build()
    assert model.nv == m.nv
    if m.independent is not None:
        assert set(model.independent_joints) == set(m.independent)
    return model


def check(m: loop_models.Mechanism, rng: np.random.Generator, states: int, record_property: Any) -> None:
    model, worst = build(m), {}
    for _ in range(states):
        for name, value in errors(model, *state(model, m, rng)).items():
            worst[name] = max(worst.get(name, 0.0), value)
    for name, value in worst.items():
        record_property(name, value)
        assert value <= max(LIMIT, SLOPPY * m.exact), (name, value)


@pytest.mark.jitless
@pytest.mark.parametrize("name", loop_models.FIXED)
def test_mechanisms(name: str, rng: np.random.Generator, record_property: Any) -> None:
    check(loop_models.FIXED[name](rng), rng, 5, record_property)


@pytest.mark.parametrize("seed", RANDOM)
def test_random_mechanisms(seed: int, rng: np.random.Generator, record_property: Any) -> None:
    """Loops of all kinds and rods on random trees; planar loops of hinges and slides; with rotors."""
    check(loop_models.random_one(rng, seed), rng, 2, record_property)


@pytest.mark.jitless
@pytest.mark.parametrize("name", loop_models.LIBRARY)
def test_mechanisms_of_the_library_and_their_twins(name: str, rng: np.random.Generator) -> None:
    """The same numbers from the closed form's closures and from Loops, Rods or Couplings."""
    m = loop_models.library(rng, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)  # Python functions are slow, which it says once
        one = build(m)
        two = pc.ClusterModel(m.tree, m.constraints[0].generic(m.tree), m.q0, independent=m.independent)
    assert one.independent_joints == two.independent_joints
    for _ in range(3):
        q, v, a, tau, fext = state(one, m, rng)
        for values in (errors(one, q, v, a, tau, fext), errors(two, q, v, a, tau, fext)):
            assert max(values.values()) < LIMIT, values
        data, other = one.createData(), two.createData()
        assert error(pc.rnea(one, data, q, v, a, fext), pc.rnea(two, other, q, v, a, fext)) < 1e-11
        assert error(pc.aba(one, data, q, v, tau, fext), pc.aba(two, other, q, v, tau, fext)) < 1e-11
        assert error(pc.coupling_jacobian(one, data, q), pc.coupling_jacobian(two, other, q)) < 1e-11


@pytest.mark.parametrize("seed", range(16))
def test_independent_joints_by_the_model(seed: int, rng: np.random.Generator, record_property: Any) -> None:
    m = loop_models.random_one(rng, seed)
    m.independent = None
    check(m, rng, 1, record_property)


def motion(model: pc.ClusterModel, q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
    return loop_models.move(model, q, t * v)


def slope(f: Any, h: float) -> np.ndarray:
    """Derivative at 0, of fourth order."""
    return (8.0 * (f(h) - f(-h)) - (f(2.0 * h) - f(-2.0 * h))) / (12.0 * h)


def step(rates: np.ndarray) -> float:
    """Time over which a motion at these rates is smooth."""
    return 2e-4 / max(1.0, float(np.abs(rates).max()))


CASES = [*loop_models.FIXED, *range(12)]


@pytest.mark.parametrize("case", CASES)
def test_coupling_jacobian_is_the_slope_of_assembled_motion(case: Any, rng: np.random.Generator) -> None:
    m = loop_models.FIXED[case](rng) if isinstance(case, str) else loop_models.random_one(rng, case)
    model = build(m)
    q, v, *_ = state(model, m, rng)
    G = pc.coupling_jacobian(model, model.createData(), q)
    expected = slope(lambda t: pin.difference(model.tree, q, motion(model, q, v, t)), step(G @ v))
    scale = np.abs(G).max() ** 2 + 1.0  # of the curvature of the motion
    np.testing.assert_allclose(G @ v, expected, atol=1e-7 * scale + 10.0 * m.exact)


@pytest.mark.parametrize("case", CASES)
def test_coupling_bias_is_the_slope_of_the_spanning_velocity(case: Any, rng: np.random.Generator) -> None:
    m = loop_models.FIXED[case](rng) if isinstance(case, str) else loop_models.random_one(rng, case)
    model = build(m)
    q, v, *_ = state(model, m, rng)
    data = model.createData()
    g = pc.coupling_bias(model, data, q, v).copy()
    expected = slope(lambda t: pc.coupling_jacobian(model, data, motion(model, q, v, t)) @ v, step(g))
    np.testing.assert_allclose(g, expected, atol=1e-6 * (np.abs(g).max() ** 2 + 1.0) + 100.0 * m.exact)


@pytest.mark.parametrize("name", ["four_bar_serial_on_free_flyer", "rotors_on_a_loop_on_free_flyer", "delta"])
def test_power(name: str, rng: np.random.Generator) -> None:
    """The torques' power is the rate of the energy: of pc's own, along a motion that only the closures define."""
    m = loop_models.FIXED[name](rng)
    model = build(m)
    q, v, a, *_ = state(model, m, rng)
    data = model.createData()
    power = pc.rnea(model, data, q, v, a) @ v

    def energy(t: float) -> float:
        moved = loop_models.move(model, q, t * v + 0.5 * t * t * a)
        return pc.computeMechanicalEnergy(model, data, moved, v + t * a)

    assert slope(energy, 1e-4) == pytest.approx(power, rel=1e-6, abs=1e-6)
