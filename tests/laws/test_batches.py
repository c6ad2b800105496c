"""The rows of a batch are single states."""

from __future__ import annotations

import numpy as np
from samples import pool
from support import rows

import pin_clusters as pc


@pool.each(jitless=False)
def test_rows_are_single_states(key: pool.Key, rng: np.random.Generator) -> None:
    _, model, data, q0, _, _, _ = pool.state(key, rng)
    n = 11
    q0 = pc.project(model, q0)
    # dependent joints that are fast are near a dead centre
    spread = 0.02 / max(1.0, float(np.abs(pc.coupling_jacobian(model, data, q0)).max()))
    q = np.array([pc.integrate(model, q0, spread * rng.normal(size=model.nv)) for _ in range(n)])
    v, a = rng.normal(size=(2, n, model.nv))
    fext = rng.normal(size=(n, model.njoints, 6))
    for forces in (None, fext):
        each = [()] * n if forces is None else [(x,) for x in forces]
        status = np.full(n, -1, dtype=np.int8)
        tau = pc.batch.rnea(model, q, v, a, forces, status=status)
        assert not status.any()
        single = np.array([pc.rnea(model, data, *x, *f) for *x, f in zip(q, v, a, each, strict=True)])
        assert pool.error(tau, single) < 1e-11
        found = pc.batch.aba(model, q, v, tau, forces, status=status)
        assert not status.any()
        single = np.array([pc.aba(model, data, *x, *f) for *x, f in zip(q, v, tau, each, strict=True)])
        assert pool.error(found, single) < 1e-10
        if key in pool.LOOPS:  # M amplifies the rounding of tau, not much there
            assert pool.error(found, a) < 1e-8


@pool.each(jitless=False)
def test_rows_of_all_functions_are_single_states(key: pool.Key, rng: np.random.Generator) -> None:
    model = pool.case(key).model
    given = rows.near(model, pc.project(model, pool.state(key, rng)[3]), rng, 11)
    for name in rows.FUNCTIONS:
        status = np.full(given.count(name), -1, dtype=np.int8)
        found = rows.batch(name, model, given, threads=2, status=status)
        wanted = rows.one_by_one(name, model, given)
        assert rows.error(found, wanted) < 1e-13, name
        assert np.array_equal(status == 0, np.isfinite(wanted).all(axis=1)), name
