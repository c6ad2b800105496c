"""The mass matrix: symmetric, positive definite, the kinetic energy's, and the torques of unit accelerations."""

from __future__ import annotations

import numpy as np
import pytest
from samples import pool
from support.tolerances import EXACT, relative

import pin_clusters as pc


@pool.each()
def test_mass_matrix(key: pool.Key, rng: np.random.Generator) -> None:
    s = pool.state(key, rng)
    model, data, q, v = s[1:5]
    M = pc.crba(model, data, q)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0.0
    tree = s.case.robot is not None
    T = 0.5 * float(v @ M @ v)
    assert pc.computeKineticEnergy(model, data, q, v) == pytest.approx(T, rel=EXACT if tree else 1e-11, abs=0.0)
    light = pool.weightless(model)
    free, zero = light.createData(), 0.0 * v
    columns = np.stack([pc.rnea(light, free, q, zero, e) for e in np.eye(model.nv)], axis=1)
    if tree:
        assert relative(columns, M) <= EXACT
    else:
        assert pool.error(columns, M) < s.case.rounding
    terms, nle = model.createData(), pc.nonLinearEffects(model, data, q, v).copy()
    pc.computeAllTerms(model, terms, q, v)
    assert pool.error(terms.M, M) < s.case.rounding
    assert pool.error(terms.nle, nle) < s.case.rounding
