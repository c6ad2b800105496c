"""The compiled algorithms on closed loops against Pinocchio on the tree, projected with G and g of a null space."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import mechanisms
from support.loops import LIMIT, SLOPPY, build, error, errors, motion, slope, state, step

import pin_clusters as pc

RANDOM = range(60)


def check(m: mechanisms.Mechanism, rng: np.random.Generator, states: int, record_property: Any) -> None:
    model, worst = build(m), {}
    for _ in range(states):
        for name, value in errors(model, *state(model, m, rng)).items():
            worst[name] = max(worst.get(name, 0.0), value)
    for name, value in worst.items():
        record_property(name, float(value))
        assert value <= max(LIMIT, SLOPPY * m.exact), (name, value)


@pytest.mark.jitless
@pytest.mark.parametrize("name", mechanisms.FIXED)
def test_mechanisms(name: str, rng: np.random.Generator, record_property: Any) -> None:
    check(mechanisms.FIXED[name](rng), rng, 5, record_property)


@pytest.mark.parametrize("seed", RANDOM)
def test_random_mechanisms(seed: int, rng: np.random.Generator, record_property: Any) -> None:
    """Loops of all kinds and rods on random trees; planar loops of hinges and slides; with rotors."""
    check(mechanisms.random_one(rng, seed), rng, 2, record_property)


@pytest.mark.jitless
@pytest.mark.parametrize("name", mechanisms.LIBRARY)
def test_mechanisms_of_the_library_and_their_twins(name: str, rng: np.random.Generator) -> None:
    """The same numbers from the closed form's closures and from Loops, Rods or Couplings."""
    m = mechanisms.library(rng, name)
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
    m = mechanisms.random_one(rng, seed)
    m.independent = None
    check(m, rng, 1, record_property)


CASES = [*mechanisms.FIXED, *range(12)]


@pytest.mark.parametrize("case", CASES)
def test_coupling_jacobian_is_the_slope_of_assembled_motion(case: Any, rng: np.random.Generator) -> None:
    m = mechanisms.FIXED[case](rng) if isinstance(case, str) else mechanisms.random_one(rng, case)
    model = build(m)
    q, v, *_ = state(model, m, rng)
    G = pc.coupling_jacobian(model, model.createData(), q)
    expected = slope(lambda t: pin.difference(model.tree, q, motion(model, q, v, t)), step(G @ v))
    scale = np.abs(G).max() ** 2 + 1.0  # of the curvature of the motion
    np.testing.assert_allclose(G @ v, expected, atol=1e-7 * scale + 10.0 * m.exact)


@pytest.mark.parametrize("case", CASES)
def test_coupling_bias_is_the_slope_of_the_spanning_velocity(case: Any, rng: np.random.Generator) -> None:
    m = mechanisms.FIXED[case](rng) if isinstance(case, str) else mechanisms.random_one(rng, case)
    model = build(m)
    q, v, *_ = state(model, m, rng)
    data = model.createData()
    g = pc.coupling_bias(model, data, q, v).copy()
    expected = slope(lambda t: pc.coupling_jacobian(model, data, motion(model, q, v, t)) @ v, step(g))
    np.testing.assert_allclose(g, expected, atol=1e-6 * (np.abs(g).max() ** 2 + 1.0) + 100.0 * m.exact)


@pytest.mark.parametrize("name", ["four_bar_serial_on_free_flyer", "rotors_on_a_loop_on_free_flyer", "delta"])
def test_power(name: str, rng: np.random.Generator) -> None:
    """The torques' power is the rate of the energy: of pc's own, along a motion that only the closures define."""
    m = mechanisms.FIXED[name](rng)
    model = build(m)
    q, v, a, *_ = state(model, m, rng)
    data = model.createData()
    power = pc.rnea(model, data, q, v, a) @ v

    def energy(t: float) -> float:
        moved = mechanisms.move(model, q, t * v + 0.5 * t * t * a)
        return pc.computeMechanicalEnergy(model, data, moved, v + t * a)

    assert slope(energy, 1e-4) == pytest.approx(power, rel=1e-6, abs=1e-6)
