"""The torque is affine in a, in the external forces and in gravity, and quadratic in v."""

from __future__ import annotations

import numpy as np
from samples import pool

import pin_clusters as pc


@pool.each()
def test_velocity_terms_and_forces_add_up(key: pool.Key, rng: np.random.Generator) -> None:
    c, model, data, q, v, a, fext = pool.state(key, rng)
    light = pool.weightless(model)
    free, zero = light.createData(), 0.0 * v
    gravity = pc.computeGeneralizedGravity(model, data, q)
    spin = pc.nonLinearEffects(light, free, q, v)
    pushed = pc.rnea(light, free, q, zero, zero, fext)
    M = pc.crba(model, data, q)
    scale = max(np.abs(x).max() for x in (gravity, spin, pushed, M @ a))
    whole = pc.rnea(model, data, q, 3.0 * v, a, fext)
    assert np.abs(whole - (M @ a + 9.0 * spin + gravity + pushed)).max() <= 10.0 * c.rounding * scale
    still = pc.computeStaticTorque(model, data, q, fext)
    assert np.abs(still - (gravity + pushed)).max() <= 10.0 * c.rounding * max(np.abs(gravity + pushed).max(), 1e-300)
    # reversing time
    assert np.abs(pc.nonLinearEffects(light, free, q, -v) - spin).max() <= c.rounding * np.abs(spin).max()
