"""Compiled algorithms, dense cluster recursions and projection are three routes to the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
from samples import pool, trees
from support.tolerances import BACKWARD, EXACT, backward, inverse_residual, relative

import pin_clusters as pc
from pin_clusters.verification import reference
from pin_clusters.verification.baselines import projection
from pin_clusters.verification.reference import _clusters

ORDERS = ("as_added", "depth_first", "shuffled")


@pytest.mark.parametrize("seed", pool.some(range(12), 12, jitless=range(2)))
def test_kernels_and_reference(seed: int, rng: np.random.Generator) -> None:
    robot = trees.random_robot(rng, int(rng.integers(2, 8)), floating=bool(seed % 2), chain=float(rng.random()))
    model = robot.build(ORDERS[seed % 3], rng)
    data = model.createData()
    q, v, a, fext = trees.random_state(model, rng)
    tau = reference.rnea(model, q, v, a, fext)
    M, h = reference.crba(model, q), reference.rnea(model, q, v, np.zeros(model.nv), fext)
    assert relative(pc.rnea(model, data, q, v, a, fext), tau) < EXACT
    assert relative(pc.nonLinearEffects(model, data, q, v), reference.nonLinearEffects(model, q, v)) < EXACT
    gravity = reference.computeGeneralizedGravity(model, q)
    assert relative(pc.computeGeneralizedGravity(model, data, q), gravity) < EXACT
    assert relative(pc.crba(model, data, q), M) < EXACT
    T, U = reference.computeKineticEnergy(model, q, v), reference.computePotentialEnergy(model, q)
    assert pc.computeKineticEnergy(model, data, q, v) == pytest.approx(T, rel=EXACT)
    assert pc.computePotentialEnergy(model, data, q) == pytest.approx(U, rel=EXACT, abs=1e-10)
    assert backward(M, pc.aba(model, data, q, v, tau, fext), h, tau) < BACKWARD
    assert backward(M, reference.aba(model, q, v, tau, fext), h, tau) < BACKWARD
    assert inverse_residual(reference.computeMinverse(model, q), M) < BACKWARD
    assert inverse_residual(pc.computeMinverse(model, data, q), M) < BACKWARD


def test_stacked_matrices_of_the_paper(rng: np.random.Generator) -> None:
    """Structure of the blocks: X_intra is unit lower triangular, X has the columns of one body, G is blockwise."""
    model = trees.random_robot(rng, 6, couplings=2, rotor_bodies=3, rotors=2).build("shuffled", rng)
    q, _, _, _ = trees.random_state(model, rng)
    clusters = _clusters.blocks(model, q)
    seen = np.concatenate([b.columns for b in clusters])
    assert sorted(seen) == list(range(model.nv))
    for b in clusters:
        assert np.allclose(np.triu(b.X_intra, 1), 0.0, atol=0.0) or _blockwise_lower(b.X_intra)
        assert np.linalg.det(b.X_intra) == pytest.approx(1.0)
        used = {int(c) // 6 for c in np.flatnonzero(np.any(b.X != 0.0, axis=0))}
        assert len(used) == 1
        np.testing.assert_allclose(b.S, b.X_intra @ b.S_span @ b.G)
        assert np.linalg.matrix_rank(b.S) == len(b.columns)


def _blockwise_lower(X: np.ndarray) -> bool:
    n = len(X) // 6
    return all(not X[6 * i : 6 * i + 6, 6 * j : 6 * j + 6].any() for i in range(n) for j in range(i + 1, n))


@pc.engine("tables")
def test_reference_shares_no_tables_with_the_kernels(rng: np.random.Generator) -> None:
    """An error in the kernels' parameters must show: the reference does not read them."""
    model = trees.geared_arm().build()
    q, v, a, _ = trees.random_state(model, rng)
    right = reference.rnea(model, q, v, a)
    exact = projection.rnea(model, projection.createData(model), q, v, a)
    data = model.createData()
    assert relative(pc.rnea(model, data, q, v, a), right) < EXACT
    model.tables.params[:] *= 1.001
    assert relative(reference.rnea(model, q, v, a), right) == 0.0
    assert relative(projection.rnea(model, projection.createData(model), q, v, a), exact) == 0.0
    assert relative(pc.rnea(model, data, q, v, a), right) > 1e-6
