"""Forward and inverse dynamics are inverse, and the inverse of the mass matrix is what it says."""

from __future__ import annotations

import numpy as np
from samples import pool
from support.tolerances import BACKWARD, EXACT, backward, inverse_residual, relative

import pin_clusters as pc


@pool.each()
def test_aba_inverts_rnea(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    model, data, q, v, a, fext = s[1:]
    tau = pc.rnea(model, data, q, v, a, fext)
    M, h = pc.crba(model, data, q), pc.rnea(model, data, q, v, 0.0 * a, fext)
    found = pc.aba(model, data, q, v, tau, fext)
    # what is judged is the residual, where G makes M and tau large
    assert backward(M, found, h, tau) <= BACKWARD
    terms = np.linalg.norm(M, 2) * np.linalg.norm(found) + np.linalg.norm(h) + np.linalg.norm(tau)
    if s.case.robot is not None:
        assert np.linalg.norm(pc.rnea(model, data, q, v, found, fext) - tau) <= BACKWARD * terms
        assert np.linalg.norm(M @ a + h - tau) <= EXACT * terms
        assert relative(pc.nonLinearEffects(model, data, q, v), pc.rnea(model, data, q, v, 0.0 * a)) <= EXACT
        return
    assert pool.error(found, a) < s.case.rounding * max(1.0, np.linalg.cond(M) / 1e3)
    assert pool.error(M @ a + h, tau) < s.case.rounding
    assert pool.error(pc.nonLinearEffects(model, data, q, v), pc.rnea(model, data, q, v, 0.0 * a)) < s.case.rounding


@pool.each()
def test_inverse_mass_matrix(key: pool.Key, rng: np.random.Generator) -> None:
    """Times M it is 1; it is symmetric; its columns are the accelerations of unit torques."""
    s = pool.state(key, rng)
    model, data, q = s.model, s.data, s.q
    Minv, M = pc.computeMinverse(model, data, q), pc.crba(model, data, q)
    limit = BACKWARD if s.case.robot is not None else 1e-12
    assert inverse_residual(Minv, M) <= limit
    if s.case.robot is not None:
        assert relative(Minv, Minv.T) <= EXACT
    else:
        assert pool.error(Minv, Minv.T) < s.case.rounding
    light = pool.weightless(model)
    free, zero = light.createData(), 0.0 * s.v
    columns = np.stack([pc.aba(light, free, q, zero, e) for e in np.eye(model.nv)], axis=1)
    assert inverse_residual(columns, M) <= limit
