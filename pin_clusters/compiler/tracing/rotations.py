"""Rotation increments without branches. The kernels branch on the size of the angle; this module uses ``select``.

For small angles, power series replace the closed-form expressions. Therefore, no expression divides by a number near
zero, and all derivatives are finite.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._support.arrays import in_order
from .expressions import Number, select, sine_and_cosine, square_root

_SMALL = 0.01
"""Squared angle [rad^2] below which the error of a series with five terms is less than 1e-16."""


def _series(T: Number, coefficients: Sequence[float]) -> Number:
    total: Number = 0.0
    for c in reversed(coefficients):
        total = total * T + c
    return total


def _blend(T: Number, near: Sequence[float], far: Number) -> Number:
    return select(T, _SMALL, _series(T, near), far)


def _angle(T: Number) -> Number:
    """Return the square root of T. If T is small, return 1 instead, so that quotients stay finite."""
    return square_root(select(T, _SMALL, 1.0, T))


def turn_quaternion(q: np.ndarray, i: int, x: Number, y: Number, z: Number) -> None:
    """Rotate the quaternion that begins at q[i] by the rotation vector (x, y, z) in body axes; normalise the result."""
    T = x * x + y * y + z * z
    angle = _angle(T)
    sine, cosine = sine_and_cosine(angle * 0.5)
    s = _blend(T, (0.5, -1.0 / 48.0, 1.0 / 3840.0, -1.0 / 645120.0, 1.0 / 185794560.0), sine / angle)
    d = _blend(T, (1.0, -1.0 / 8.0, 1.0 / 384.0, -1.0 / 46080.0, 1.0 / 10321920.0), cosine)
    a, b, c = s * x, s * y, s * z
    qx, qy, qz, qw = q[i : i + 4]
    turned = (
        qw * a + qx * d + qy * c - qz * b,
        qw * b - qx * c + qy * d + qz * a,
        qw * c + qx * b - qy * a + qz * d,
        qw * d - qx * a - qy * b - qz * c,
    )
    norm = square_root(in_order(t * t for t in turned))
    # As in Pinocchio, the sign is chosen so that the new quaternion is close to the old quaternion.
    along = in_order(old * new for old, new in zip((qx, qy, qz, qw), turned, strict=True))
    signed = select(along, 0.0, -norm, norm)
    q[i : i + 4] = [t / signed for t in turned]


def displacement(u: Any, w: Any) -> Any:
    """Return the translation of exp([u; w]), the displacement for a twist with linear part u and angular part w."""
    T = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    angle = _angle(T)
    sine, cosine = sine_and_cosine(angle)
    square = angle * angle
    a = _blend(T, (0.5, -1.0 / 24.0, 1.0 / 720.0, -1.0 / 40320.0, 1.0 / 3628800.0), (1.0 - cosine) / square)
    series = (1.0 / 6.0, -1.0 / 120.0, 1.0 / 5040.0, -1.0 / 362880.0, 1.0 / 39916800.0)
    b = _blend(T, series, (angle - sine) / (square * angle))
    c = _cross(w, u)
    d = _cross(w, c)
    return type(u)(*(u[k] + c[k] * a + d[k] * b for k in range(3)))


def _cross(x: Any, y: Any) -> list[Number]:
    return [x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]]
