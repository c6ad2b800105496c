"""A traced step in JAX: values, gradients of one step, and gradients of a rollout with checkpoints."""

from __future__ import annotations

import numpy as np
import pytest
from worlds.robots import GAINS, robot

import pin_clusters as pc

pytestmark = pytest.mark.ci
jax = pytest.importorskip("jax", reason="needs JAX: pip install '.[jax]'")


def test_values_and_gradients() -> None:
    jax.config.update("jax_enable_x64", True)
    try:
        _values_and_gradients()
    finally:
        jax.config.update("jax_enable_x64", False)


def _values_and_gradients() -> None:
    of = robot("mini_cheetah")
    options = {
        "ground": pc.Ground(0.8), "touching": of.feet, "dt": 2e-3, "drive": pc.Drive(*GAINS["mini_cheetah"]),
    }  # fmt: skip
    program = pc.trace(of.model, "step", **options)
    step = pc.jax.function(of.model, "step", **options)
    joints = [of.model.own_tree.joints[of.model.getJointId(x)].idx_q for x in of.model.independent_joints[1:]]
    target, zeros = of.q[joints] + 0.05, np.zeros(12)
    state = of.q, np.zeros(of.model.nv)
    for expected, result in zip(program(*state, target, zeros), step(*state, target, zeros), strict=True):
        np.testing.assert_allclose(result, expected, rtol=0.0, atol=1e-12)

    def height(target: object, n: int = 5) -> object:
        q, v, last = jax.numpy.asarray(state[0]), jax.numpy.asarray(state[1]), jax.numpy.asarray(zeros)

        def one(carry: object, _: object) -> tuple[object, None]:
            q, v, last = carry  # type: ignore[misc]
            results = step(q, v, target, last)
            return (results[0], results[1], results[3]), None

        (q, v, _), _ = jax.lax.scan(jax.checkpoint(one), (q, v, last), None, length=n)
        return v[2] + q[2]

    gradient, h = np.asarray(jax.grad(height)(jax.numpy.asarray(target))), 1e-6
    for k in (1, 2, 7):
        shift = h * np.eye(12)[k]
        difference = (float(height(target + shift)) - float(height(target - shift))) / (2 * h)  # type: ignore[arg-type]
        # central differences of a smooth function: 1e-12 of the height over 2e-6, and a curvature of h^2
        assert abs(gradient[k] - difference) < 1e-5 * (1.0 + abs(difference))
    assert np.abs(gradient).max() > 1e-4
