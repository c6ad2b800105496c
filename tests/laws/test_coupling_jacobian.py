"""G is the slope of assembled motion, and its bias the slope of the spanning velocity."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from samples import mechanisms, pool, trees

import pin_clusters as pc

# what dropped rows miss by is the misalignment of the geometry, which the results feel some times over
SLOPPY = 30.0


def moved(c: pool.Case, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    """By Newton's method of the tests, or by the couplings as the user wrote them: not by the package."""
    if c.robot is None:
        return mechanisms.move(c.model, q, step)
    full = np.zeros(c.model.tree.nv)
    full[c.model.idx_v_independent] = step
    return trees.on_couplings(c.model, pin.integrate(c.model.tree, q, full))


@pool.each(jitless=False)
def test_g_is_the_slope_of_assembled_motion(key: pool.Key, rng: np.random.Generator) -> None:
    """Column by column."""
    c, model, data, q, *_ = pool.state(key, rng)
    G = pc.coupling_jacobian(model, data, q).copy()
    h = 2e-4 / max(1.0, float(np.abs(G).max()))
    scale = float(np.abs(G).max()) ** 2 + 1.0  # of the curvature of the motion
    for k, e in enumerate(np.eye(model.nv)):
        measured = pool.slope(lambda t, e=e: pin.difference(model.tree, q, moved(c, q, t * e)), h)
        assert np.abs(G[:, k] - measured).max() < 1e-7 * scale + SLOPPY * c.exact


@pool.each(jitless=False)
def test_the_bias_is_the_slope_of_the_spanning_velocity(key: pool.Key, rng: np.random.Generator) -> None:
    c, model, data, q, v, *_ = pool.state(key, rng)
    g = pc.coupling_bias(model, data, q, v).copy()
    h = 2e-4 / max(1.0, float(np.abs(g).max(initial=0.0)))
    measured = pool.slope(lambda t: pc.coupling_jacobian(model, data, moved(c, q, t * v)) @ v, h)
    assert np.abs(g - measured).max() < 1e-6 * (float(np.abs(g).max(initial=0.0)) ** 2 + 1.0) + 10.0 * SLOPPY * c.exact


@pool.each(pool.FAMILIES, jitless=False, everyday=pool.FAMILIES_EVERYDAY)
def test_loops_do_turn(key: pool.Key) -> None:
    """The states are not all the reference."""
    c = pool.case(key)
    assert c.mechanism is not None
    assert np.abs(pin.difference(c.model.tree, c.mechanism.q0, c.q)).max() > 0.02
    G = pc.coupling_jacobian(c.model, c.model.createData(), c.q)
    dependent = np.setdiff1d(np.arange(c.model.tree.nv), c.model.idx_v_independent)
    assert np.abs(G[dependent]).max() > 1e-3
