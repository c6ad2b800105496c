"""What the energies alone say: the equations of Lagrange, part by part, by differences of T and U."""

from __future__ import annotations

import numpy as np
import pytest
from samples import pool

import pin_clusters as pc

# fourth-order differences of energies with a step of 1e-3 over the fastest rate
DIFFERENCES = 1e-7


@pool.each()
def test_velocity_terms_are_half_the_rate_of_the_mass_matrix(key: pool.Key, rng: np.random.Generator) -> None:
    """dM/dt - 2 C is skew: with v held, dT/dt = v' C v."""
    c, model, data, q, v, a, _ = pool.state(key, rng)
    light = pool.weightless(model)
    spin = pc.nonLinearEffects(light, light.createData(), q, v)
    h, rate = pool.step_of(model, q, v)
    measured = pool.slope(lambda t: pc.computeKineticEnergy(model, data, c.along(q, v, 0.0 * a, t), v), h)
    scale = np.abs(spin) @ np.abs(v) + pc.computeKineticEnergy(model, data, q, v)
    assert abs(measured - spin @ v) < (DIFFERENCES * rate + 100.0 * c.exact) * scale


@pool.each()
def test_gravity_is_the_gradient_of_the_potential_energy(key: pool.Key, rng: np.random.Generator) -> None:
    c, model, data, q, _, _, _ = pool.state(key, rng)
    gravity = pc.computeGeneralizedGravity(model, data, q).copy()
    for k, e in enumerate(np.eye(model.nv)):
        h, rate = pool.step_of(model, q, e)
        measured = pool.slope(lambda t, e=e: pc.computePotentialEnergy(model, data, c.along(q, e, 0.0 * e, t)), h)
        size = abs(pc.computePotentialEnergy(model, data, q)) + np.abs(gravity).max()
        assert abs(measured - gravity[k]) < (DIFFERENCES * rate + 100.0 * c.exact) * size, k
    light = pool.weightless(model)
    assert not np.any(pc.computeGeneralizedGravity(light, light.createData(), q))


@pool.each([key for key in pool.LOOPS if key != "sloppy_four_bar"])
def test_equations_of_lagrange(key: pool.Key, rng: np.random.Generator) -> None:
    """d/dt (M v) - dL/dq = tau, every component: of M and U alone, so the bias of the loops is checked whole."""
    c, model, data, q, v, a, _ = pool.state(key, rng)
    if any(model.tree.nvs[model.getJointId(name)] != 1 for name in model.independent_joints):
        pytest.skip("velocities that are no rates of coordinates")
    tau = pc.rnea(model, data, q, v, a).copy()
    h, rate = pool.step_of(model, q, v)
    expected = pool.slope(lambda t: pc.crba(model, data, c.along(q, v, a, t)) @ (v + t * a), h)
    scale = np.abs(expected).max() + np.abs(tau).max()
    for k, e in enumerate(np.eye(model.nv)):
        small, fast = pool.step_of(model, q, e)
        rate = max(rate, fast)

        def lagrangian(t: float, e: np.ndarray = e) -> float:
            there = c.along(q, e, 0.0 * e, t)
            return pc.computeKineticEnergy(model, data, there, v) - pc.computePotentialEnergy(model, data, there)

        expected[k] -= pool.slope(lagrangian, small)
    assert np.abs(expected - tau).max() < 10.0 * DIFFERENCES * rate * max(1.0, scale)
