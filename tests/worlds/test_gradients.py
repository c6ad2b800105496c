"""Derivatives of a traced step through contact, against central differences."""

from __future__ import annotations

import numpy as np
import pytest
from worlds.robots import GAINS, robot, states

import pin_clusters as pc

H = 1e-6
"""Step of the central differences: their error is H^2 times the third derivative plus 1e-16 / H, about 1e-9."""


@pytest.mark.ci
def test_jvp_and_vjp() -> None:
    of = robot("mini_cheetah")
    program = pc.trace(
        of.model,
        "step",
        ground=pc.Ground(0.8),
        touching=of.feet,
        dt=2e-3,
        sweeps=10,
        drive=pc.Drive(*GAINS["mini_cheetah"]),
        parameters="friction",
    )
    n, rng = 24, np.random.default_rng(0)
    q, v = states(of, n)
    joints = [of.model.own_tree.joints[of.model.getJointId(x)].idx_q for x in of.model.independent_joints[1:]]
    target = q[:, joints] + 0.1 * rng.uniform(-1.0, 1.0, (n, 12))
    state, last = [q, v], np.zeros((n, 12))
    for _ in range(20):  # robots that stand and slide
        results = program(*state, target, np.full((n, 1), 0.8), last)
        state, last = [results[0], results[1]], results[3]
    given = [*state, target, np.full((n, 1), 0.8), last]
    names = [name for name, _ in program.outputs]
    changes = [np.zeros_like(x) for x in given]
    changes[1], changes[2] = 0.1 * rng.standard_normal(given[1].shape), rng.standard_normal(given[2].shape)
    changes[3][:] = 0.1
    derivatives = program.jvp()(*given, *changes)
    shifted = [program(*(x + sign * H * d for x, d in zip(given, changes, strict=True))) for sign in (1.0, -1.0)]
    again = [program(*(x + sign * 0.5 * H * d for x, d in zip(given, changes, strict=True))) for sign in (1.0, -1.0)]
    pushing = results[3].reshape(n, 4, 3)[:, :, 2] > 0.0
    assert pushing.mean() > 0.4
    good, checked = np.ones(n, dtype=bool), 0
    for k in (0, 1, 3):
        first, second = (shifted[0][k] - shifted[1][k]) / (2 * H), (again[0][k] - again[1][k]) / H
        # near a switch between stick, slip and lift-off there is no derivative, and the differences disagree
        good &= np.abs(first - second).max(axis=1) < 1e-6 * (1.0 + np.abs(second).max())
    for k in (0, 1, 3):
        expected = (again[0][k] - again[1][k]) / H
        scale = 1.0 + np.abs(expected[good]).max()
        np.testing.assert_allclose(derivatives[k][good], expected[good], rtol=0.0, atol=1e-6 * scale)
        checked += int(np.abs(expected[good]).max() > 1e-3)
    assert good.sum() > n // 2
    assert checked == 3, names
    bars = [rng.standard_normal(x.shape) for x in results]
    products = program.vjp()(*given, *(bar.reshape(n, -1) for bar in bars))
    left = sum((bar * x).reshape(n, -1).sum(axis=1) for bar, x in zip(bars, derivatives, strict=True))
    right = sum((product * d).sum(axis=1) for product, d in zip(products, changes, strict=True))
    np.testing.assert_allclose(left[good], right[good], rtol=1e-9, atol=1e-9)
