"""The oracles that are exact agree: projection, Lagrange multipliers, and the dense cluster recursions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin
import pytest
from samples import mechanisms, pool, trees
from support.loops import state
from support.tolerances import BACKWARD, EXACT, backward, relative

from pin_clusters.constraints.closures import RodClosure
from pin_clusters.verification import reference
from pin_clusters.verification.baselines import lagrange, projection

# of each kind of closure and rank; three at random
FEW = (
    "four_bar_serial_on_free_flyer", "watt_six_bar", "geared_five_bar", "rssr_massive", "spatial_ball_in_tree",
    "bennett", "delta_pairs", "sloppy_four_bar", "ankle_2rsu", *range(3),
)  # fmt: skip
CASES = [*mechanisms.FIXED, *range(24)]
LIMIT = 1e-10


@pytest.mark.parametrize("seed", range(12))
def test_trees(seed: int, rng: np.random.Generator) -> None:
    robot = trees.random_robot(rng, int(rng.integers(2, 8)), floating=bool(seed % 2), chain=float(rng.random()))
    model = robot.build(("as_added", "depth_first", "shuffled")[seed % 3], rng)
    exact, kkt = projection.createData(model), lagrange.createData(model)
    assert np.abs(kkt.K @ kkt.G).max(initial=0.0) < 1e-12
    assert len(kkt.K) + model.nv == kkt.tree.nv
    q, v, a, fext = trees.random_state(model, rng)
    M = projection.crba(model, exact, q)
    for forces in (None, fext, [pin.Force(f) for f in fext]):
        tau = projection.rnea(model, exact, q, v, a, forces)
        h = projection.rnea(model, exact, q, v, 0.0 * a, forces)
        assert backward(M, projection.aba(model, exact, q, v, tau, forces), h, tau) < BACKWARD
        # the multipliers are solved for as well, and have their own scale
        assert backward(M, lagrange.aba(model, kkt, q, v, tau, forces), h, tau) < 100.0 * BACKWARD
    tau = projection.rnea(model, exact, q, v, a, fext)
    assert relative(reference.rnea(model, q, v, a, fext), tau) < EXACT
    assert relative(reference.crba(model, q), M) < EXACT
    assert reference.computeKineticEnergy(model, q, v) == pytest.approx(0.5 * v @ M @ v, rel=EXACT)


@pytest.mark.parametrize("case", pool.some(CASES, FEW))
def test_closed_loops(case: Any, rng: np.random.Generator) -> None:
    m = mechanisms.FIXED[case](rng) if isinstance(case, str) else mechanisms.random_one(rng, case)
    model = pool.build(m)
    q, v, a, tau, fext = state(model, m, rng)
    p, kkt = projection.createData(model), lagrange.createData(model)
    limit = max(LIMIT, 10.0 * m.exact)
    for forces in (None, fext, [pin.Force(f) for f in fext]):
        expected = projection.aba(model, p, q, v, tau, forces)
        assert pool.error(lagrange.aba(model, kkt, q, v, tau, forces), expected) < limit
        assert pool.error(projection.aba(model, p, q, v, projection.rnea(model, p, q, v, a, forces), forces), a) < LIMIT
    if not any(isinstance(c, RodClosure) and c.mass for c in model.closures):
        assert pool.error(reference.rnea(model, q, v, a, fext), projection.rnea(model, p, q, v, a, fext)) < LIMIT
        assert pool.error(reference.aba(model, q, v, tau, fext), projection.aba(model, p, q, v, tau, fext)) < LIMIT
        M = projection.crba(model, p, q)
        assert pool.error(reference.crba(model, q), M) < LIMIT
        assert pool.error(reference.computeMinverse(model, q) @ M, np.eye(model.nv)) < LIMIT
        T, U = projection.computeKineticEnergy(model, p, q, v), projection.computePotentialEnergy(model, p, q)
        assert pool.error(reference.computeKineticEnergy(model, q, v), T) < LIMIT
        assert pool.error(reference.computePotentialEnergy(model, q), U) < LIMIT
