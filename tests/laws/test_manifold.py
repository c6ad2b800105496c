"""The manifold of closed loops: moved along, measured on, and reached by the shortest way."""

from __future__ import annotations

import warnings

import numpy as np
import pinocchio as pin
from samples import mechanisms, pool

import pin_clusters as pc

# what dropped rows miss by is the misalignment of the geometry, which the results feel some times over
SLOPPY = 30.0


@pool.each(pool.FAMILIES, jitless=False, everyday=pool.FAMILIES_EVERYDAY)
def test_integrate_and_difference(key: pool.Key, rng: np.random.Generator) -> None:
    """The round trip, the same poses as the tests' own motion, and closed by the rule."""
    c = pool.case(key)
    model, q = c.model, c.pose(rng)
    q = pc.project(model, q)
    fastest = max(1.0, float(np.abs(pc.coupling_jacobian(model, model.createData(), q)).max()))
    for size in (1e-5, 0.02):
        v = size / fastest * rng.normal(size=model.nv)  # the dependent joints stay off their dead centres
        there = pc.integrate(model, q, v)
        assert np.abs(pc.difference(model, q, there) - v).max() < 1e-12
        own = mechanisms.move(model, q, v)
        # the rows that repeat others are solved for as well there, as far as they go
        assert np.abs(pin.difference(model.tree, own, there)).max() < 1e-9 + SLOPPY * c.exact
        assert_closed(model, there, SLOPPY * c.exact)
        back = pc.integrate(model, there, -v)
        if not c.mechanism.independent or "base" not in c.mechanism.independent:
            assert np.abs(pin.difference(model.tree, q, back)).max() < 1e-9


def assert_closed(model: pc.ClusterModel, q: np.ndarray, slack: float) -> None:
    """The rule: each row below 1e-13 of its scale, times max(1, |q| / 100 rad); by the tests' own rows as well."""
    scales = np.array([row.scale for row in pc.residual_rows(model)])
    allowed = 1e-13 * scales * max(1.0, np.abs(q).max() / 100.0) + slack
    assert np.all(np.abs(pc.residual(model, q)) <= allowed)
    own = mechanisms.residual(model, q)  # couplings, then closures, in the same order and units
    assert np.all(np.abs(own) <= 10.0 * allowed + 1e-15)


@pool.each(pool.FAMILIES, jitless=False, everyday=pool.FAMILIES_EVERYDAY)
def test_project_is_the_nearest_assembled_pose(key: pool.Key, rng: np.random.Generator) -> None:
    """The change has no part along the manifold, and others nearby are farther away; what is held stays."""
    c = pool.case(key)
    model, q = c.model, c.pose(rng)
    tree = model.tree
    for size in (1e-5, 1e-3):
        off = np.array(pin.integrate(tree, q, size * rng.normal(size=tree.nv)))
        closed = pc.project(model, off)
        assert_closed(model, closed, SLOPPY * c.exact)
        if c.exact:
            continue
        way = np.array(pin.difference(tree, off, closed))
        Q = np.linalg.qr(pc.coupling_jacobian(model, model.createData(), closed))[0]
        assert np.abs(Q.T @ way).max() < 200.0 * size * np.abs(way).max() + 1e-12
        for _ in range(3):
            # Pythagoras: the way to a neighbour is longer
            step = size * rng.normal(size=model.nv)
            other = np.array(pin.difference(tree, off, pc.integrate(model, closed, step)))
            assert other @ other > way @ way
    held = list(model.independent_joints)
    kept = pc.project(model, off, hold=held)
    assert_closed(model, kept, SLOPPY * c.exact)
    assert np.abs(pin.difference(tree, off, kept)[model.idx_v_independent]).max() < 1e-15


@pool.each(pool.FAMILIES, jitless=False, everyday=pool.FAMILIES_EVERYDAY)
def test_independent_joints_are_chosen_alike_each_time(key: pool.Key) -> None:
    c = pool.case(key)
    m = c.mechanism
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pc.PinClustersWarning)
        one, two = (pc.ClusterModel(m.tree, m.constraints, m.q0) for _ in range(2))
    assert one.independent_joints == two.independent_joints
    assert one.nv == c.model.nv
    K_d = max(c.K_d for c in pc.condition(one, one.createData(), pc.neutral(one)))
    given = max(c.K_d for c in pc.condition(c.model, c.model.createData(), m.q0))
    assert K_d < 100.0 * given
