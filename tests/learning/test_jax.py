"""Functions for JAX: values of the kernels, derivatives, transformations, rows that are not good, and refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from samples import pool
from support.entries import OFTEN, ROBOTS, drawn, near
from support.messages import raises

import pin_clusters as pc

jax = pytest.importorskip("jax", reason="needs JAX: pip install '.[jax]'")
pytestmark = pytest.mark.filterwarnings("ignore:robot .* no real body:pin_clusters.PinClustersWarning")

FOUR = ["mini_cheetah", "tello", "four_bar", "cassie_leg"]
SHORT = 2e-3
"""Of float32, over the largest entry: accelerations amplify rounding by the condition of M."""


@pytest.fixture(autouse=True)
def _float64() -> Iterator[None]:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.mark.parametrize("robot", pool.some(FOUR, ["four_bar"]))
def test_values_are_those_of_the_kernels(robot: str, rng: np.random.Generator) -> None:
    model, q, v, x = near(robot, rng, 5)
    data = model.createData()
    for name in ("rnea", "aba", "crba"):
        given = [q] if name == "crba" else [q, v, x]
        wanted = np.array([getattr(pc, name)(model, data, *row) for row in zip(*given, strict=True)])
        assert pool.error(getattr(pc.jax, name)(model, *given), wanted) < 1e-11
        short = getattr(pc.jax, name)(model, *(x.astype(np.float32) for x in given))
        assert short.dtype == np.float32
        assert np.abs(np.asarray(short) - wanted).max() < SHORT * np.abs(wanted).max()


@pytest.mark.parametrize("robot", pool.some(FOUR, ["four_bar"], rest="ci"))
def test_check_grads(robot: str, rng: np.random.Generator) -> None:
    from jax.test_util import check_grads

    model, *given = near(robot, rng, 2)
    f = jax.jit(lambda *x: pc.jax.aba(model, *x))
    size = float(np.abs(f(*given)).max())  # tolerances are those of numbers near 1
    check_grads(lambda *x: f(*x) / size, given, order=1, modes=["rev"], eps=1e-6)


@pytest.mark.ci
def test_derivatives_of_derivatives(rng: np.random.Generator) -> None:
    from jax.test_util import check_grads

    model, *given = near("four_bar", rng, 2)
    check_grads(lambda *x: pc.jax.aba(model, *x), given, order=2, modes=["rev"], eps=1e-6, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("which", pool.some(ROBOTS, OFTEN[2:3], everyday=0))
def test_derivatives_are_those_along_integrate(which: tuple[str, str], rng: np.random.Generator) -> None:
    model, state = drawn(*which, rng)
    data = model.createData()
    if (condition := float(np.linalg.cond(pc.crba(model, data, state["q"])))) > 1e12:
        return
    q, v, tau = state["q"], state["v"], state["tau"]

    def after(step: Any, v: Any, tau: Any) -> Any:
        return pc.jax.aba(model, pc.jax.integrate(model, q, step), v, tau)

    found = jax.jit(jax.jacrev(after, argnums=(0, 1, 2)))(np.zeros(model.nv), v, tau)
    for x, y in zip(found, pc.computeABADerivatives(model, data, q, v, tau), strict=True):
        assert pool.error(x, y) < 1e-9 * max(1.0, 1e-6 * condition)


@pytest.mark.ci
def test_transformations(rng: np.random.Generator) -> None:
    model, q, v, tau = near("mit_humanoid_leg", rng, 3)

    def aba(*given: Any) -> Any:
        return pc.jax.aba(model, *given)

    rows = aba(q, v, tau)
    assert pool.error(jax.jit(jax.vmap(aba))(q, v, tau), rows) < 1e-13
    assert pool.error(jax.vmap(aba, in_axes=(None, 0, 1))(q[0], v, tau.T), aba(q[0], v, tau)) < 1e-13
    assert pool.error(aba(q.reshape(3, 1, -1), v, tau)[1, 1], rows[1]) < 1e-13
    jacobians = jax.jit(jax.vmap(jax.jacrev(aba, argnums=(0, 1, 2))))(q, v, tau)
    for x, y in zip(jacobians, pc.trace(model, "aba").jacobian()(q, v, tau), strict=True):
        assert pool.error(x, y) < 1e-11


def test_rows_that_are_not_good(rng: np.random.Generator) -> None:
    model, q, v, tau = near("four_bar", rng, 4)
    q[1, 1] += 0.1  # open
    v[2] = np.nan
    found, status = pc.jax.aba(model, q, v, tau, status=True)
    judged = np.zeros(4, dtype=np.int8)
    wanted = pc.batch.aba(model, q, v, tau, status=judged)
    assert status.tolist() == judged.tolist() == [0, 1, 3, 0]
    np.testing.assert_allclose(found, wanted, rtol=1e-11)
    for slope in jax.grad(lambda *x: pc.jax.aba(model, *x).sum(), argnums=(0, 1, 2))(q, v, tau):
        assert np.isnan(slope).all(axis=1).tolist() == [False, True, True, False]
    moved, status = pc.jax.integrate(model, q[:1], np.array([[2.5]]), status=True)
    assert status.tolist() == [1]  # beyond what the fixed number of Newton steps can close
    assert np.isnan(moved).all()


def test_float64_is_not_shortened_silently(rng: np.random.Generator) -> None:
    model, *given = near("four_bar", rng, 2)
    jax.config.update("jax_enable_x64", False)
    with raises(pc.ArgumentTypeError, "q float64 float32"):
        pc.jax.aba(model, *given)
    assert pc.jax.aba(model, *(x.astype(np.float32) for x in given)).dtype == np.float32


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        (lambda q, v, tau: (q, v.astype(np.float32), tau), pc.ArgumentTypeError, "q float64 v float32 tau"),
        (lambda q, v, tau: (q, v.astype(int), tau), pc.ArgumentTypeError, "float32 float64 q v int64"),
        (lambda q, v, tau: (q.tolist(), v, tau), pc.ArgumentTypeError, "q list"),
        (lambda q, v, tau: (q[:, 1:], v, tau), pc.ShapeError, "q has shape (2, 2), expected (3,) or (..., 3)"),
        (lambda q, v, tau: (q, v, np.ones((3, 1))), pc.ShapeError, "pc.jax.aba q v"),
        (lambda q, v, tau: (q, v), pc.ShapeError, "pc.jax.aba 3 arrays: q (3), v (1), tau (1); got 2"),
    ],
)  # fmt: skip
def test_what_is_refused(change: Any, error: Any, words: str, rng: np.random.Generator) -> None:
    model, *arrays = near("four_bar", rng, 2)
    with raises(error, words):
        pc.jax.aba(model, *change(*arrays))


def test_other_refusals(rng: np.random.Generator) -> None:
    model, *given = near("four_bar", rng, 2)
    with raises(pc.ArgumentTypeError, "ClusterModel Model"):
        pc.jax.aba(model.tree, *given)
    with raises(AttributeError, "'abba' aba"):
        pc.jax.abba(model, *given)
    with raises(pc.UnknownNameError, "'abba'"):
        pc.jax.function(model, "abba")
