"""Rates of change of rigid-body inertias: of mass, first moment and rotational inertia, in axes that stay."""

from __future__ import annotations

from ..compiling.jit import inline
from ..numbers.spatial import angular, cross, linear
from ..numbers.tuples import Rigid, Vec3


@inline
def rate_of_inertia(I, v):
    """Rate of change of a rigid-body inertia whose body has motion v: of mass, first moment, rotational inertia."""
    m, h, u, w = I[0], Vec3(I[1], I[2], I[3]), linear(v), angular(v)
    p = u * m + cross(w, h)
    uh = 2.0 * (u[0] * h[0] + u[1] * h[1] + u[2] * h[2])
    # w x J + (w x J)', J = ((a, b, c), (b, d, e), (c, e, f))
    a, b, c, d, e, f = I[4], I[5], I[6], I[7], I[8], I[9]
    return Rigid(
        m * 0.0, p[0], p[1], p[2],
        2.0 * (w[1] * c - w[2] * b) + uh - 2.0 * h[0] * u[0],
        w[1] * e - w[2] * d + w[2] * a - w[0] * c - h[0] * u[1] - h[1] * u[0],
        w[1] * f - w[2] * e + w[0] * b - w[1] * a - h[0] * u[2] - h[2] * u[0],
        2.0 * (w[2] * b - w[0] * e) + uh - 2.0 * h[1] * u[1],
        w[2] * c - w[0] * f + w[0] * d - w[1] * b - h[1] * u[2] - h[2] * u[1],
        2.0 * (w[0] * e - w[1] * c) + uh - 2.0 * h[2] * u[2],
    )  # fmt: skip


@inline
def rate_of_point(m, x, u):
    """The same of a point mass at x with velocity u."""
    p, h = u * m, x * m
    xx, yy, zz = 2.0 * h[0] * u[0], 2.0 * h[1] * u[1], 2.0 * h[2] * u[2]
    return Rigid(
        m * 0.0, p[0], p[1], p[2],
        yy + zz, -h[0] * u[1] - h[1] * u[0], -h[0] * u[2] - h[2] * u[0],
        xx + zz, -h[1] * u[2] - h[2] * u[1], xx + yy,
    )  # fmt: skip
