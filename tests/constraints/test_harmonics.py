"""The algebra of harmonics against plain evaluation, and derivatives against differences."""

import numpy as np
import pytest
from support.messages import raises

from pin_clusters.constraints._functions import central_differences
from pin_clusters.constraints._harmonics import coordinates, cos, harmonic_closure, linear, rotation, sin, square

pytestmark = pytest.mark.jitless


def closure(rows, joints=(1, 2, 3)):
    return harmonic_closure(None, joints, rows, [f"row {i}" for i in range(len(rows))], ["m"] * len(rows))


def rodrigues(axis, x):
    n = np.asarray(axis)
    skew = np.array([[0, -n[2], n[1]], [n[2], 0, -n[0]], [-n[1], n[0], 0]])
    return np.eye(3) + np.sin(x) * skew + (1 - np.cos(x)) * skew @ skew


def geometry():
    x, y, z = coordinates(3)
    axis, other = np.array([0.6, 0.0, 0.8]), np.array([0.0, 1.0, 0.0])
    point = np.array([0.1, -0.2, 0.3]) + rotation(axis, x) @ (
        np.array([0.2, 0.1, 0.0]) + rotation(other, y) @ [1, 2, 3]
    )
    return closure(
        [
            square(point) - 0.25,
            point[1] * linear(z) + 0.5 * linear(x - 2.0 * y + 0.3),
            sin(x + 0.2) * cos(y) * sin(z) * cos(x - z) * sin(0.5 * y),
        ]
    )


def by_hand(v):
    x, y, z = v
    axis, other = [0.6, 0.0, 0.8], [0.0, 1.0, 0.0]
    point = np.array([0.1, -0.2, 0.3]) + rodrigues(axis, x) @ (
        np.array([0.2, 0.1, 0.0]) + rodrigues(other, y) @ [1, 2, 3]
    )
    return np.array(
        [
            point @ point - 0.25,
            point[1] * z + 0.5 * (x - 2.0 * y + 0.3),
            np.sin(x + 0.2) * np.cos(y) * np.sin(z) * np.cos(x - z) * np.sin(0.5 * y),
        ]
    )


def test_value_is_that_of_the_geometry():
    c = geometry()
    assert max(len(factors) for row in c.terms for _, factors in row) <= 3
    for v in np.random.default_rng(1).uniform(-3, 3, (20, 3)):
        np.testing.assert_allclose(c.value(v), by_hand(v), atol=3e-14)


def test_derivatives():
    c, steps = geometry(), np.full(3, 0.02)
    for v in np.random.default_rng(2).uniform(-3, 3, (5, 3)):
        np.testing.assert_allclose(c.jacobian(v), central_differences(c.value, v, steps), atol=1e-11)
        np.testing.assert_allclose(c.hessian(v), central_differences(c.jacobian, v, steps), atol=1e-11)


def test_equal_terms_meet():
    x, y, _ = coordinates(3)
    assert (sin(x - y) + sin(y - x)).terms == {}
    assert (cos(x - y) - cos(y - x)).terms == {}
    assert sin(0.0 * x + 0.5).terms == {(): np.sin(0.5)}
    assert (2.0 - (sin(x) - sin(x)) - 2.0).terms == {}


def test_too_many_linear_factors_are_refused():
    x, y, z = coordinates(3)
    with raises(NotImplementedError, "4"):
        linear(x) * linear(y) * linear(z) * linear(x)
