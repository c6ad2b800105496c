"""Adds increments to joint configurations; computes rates of increments for joints whose velocities do not commute."""

import math
from typing import Final

from ...compiler.numba_jit.jit import device
from ..directions import Out
from ..numbers.memory import put
from ..numbers.spatial import cross, join, rot, zero3
from ..numbers.tuples import Vec3, Vec6
from ..tables.layout import CONTINUOUS, FREEFLYER, PLANAR, SPHERICAL
from .placements import free_rotation

_SMALL: Final = 0.5  # angle [rad] below which a series is used for the coefficients


@device
def turn_quaternion(q: Out, i, x, y, z):
    """Turn the quaternion at q[i] by the rotation vector (x, y, z) [rad], expressed in body axes."""
    angle = math.sqrt(x * x + y * y + z * z)
    s = 0.5 - angle * angle / 48.0 if angle < 1e-4 else math.sin(0.5 * angle) / angle
    a, b, c, d = s * x, s * y, s * z, math.cos(0.5 * angle)
    qx, qy, qz, qw = q[i], q[i + 1], q[i + 2], q[i + 3]
    nx, ny = qw * a + qx * d + qy * c - qz * b, qw * b - qx * c + qy * d + qz * a
    nz, nw = qw * c + qx * b - qy * a + qz * d, qw * d - qx * a - qy * b - qz * c
    n = 1.0 / math.sqrt(nx * nx + ny * ny + nz * nz + nw * nw)
    q[i], q[i + 1], q[i + 2], q[i + 3] = n * nx, n * ny, n * nz, n * nw


@device
def turn_pair(q: Out, i, angle):
    c, s = math.cos(angle), math.sin(angle)
    x, y = c * q[i] - s * q[i + 1], s * q[i] + c * q[i + 1]
    n = 1.0 / math.sqrt(x * x + y * y)
    q[i], q[i + 1] = n * x, n * y


@device
def move_one(q: Out, kind, i, x, k):
    """Move the coordinates of one joint, which start at q[i], by exp(increment); the increment starts at x[k]."""
    if kind == SPHERICAL:
        turn_quaternion(q, i, x[k], x[k + 1], x[k + 2])
    elif kind == FREEFLYER:
        u, w = Vec3(x[k], x[k + 1], x[k + 2]), Vec3(x[k + 3], x[k + 4], x[k + 5])
        t = rot(free_rotation(q, i), displacement(u, w))
        q[i], q[i + 1], q[i + 2] = q[i] + t[0], q[i + 1] + t[1], q[i + 2] + t[2]
        turn_quaternion(q, i + 3, x[k + 3], x[k + 4], x[k + 5])
    elif kind == PLANAR:
        t = displacement(Vec3(x[k], x[k + 1], 0.0), Vec3(0.0, 0.0, x[k + 2]))
        q[i], q[i + 1] = q[i] + q[i + 2] * t[0] - q[i + 3] * t[1], q[i + 1] + q[i + 3] * t[0] + q[i + 2] * t[1]
        turn_pair(q, i + 2, x[k + 2])
    elif kind == CONTINUOUS:
        turn_pair(q, i, x[k])
    else:
        q[i] += x[k]


@device
def displacement(u, w):
    """Return the translation of exp([u; w]), where u is the linear and w the angular part."""
    T = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    angle = math.sqrt(T)
    if angle < 0.1:
        a = 0.5 - T * (1.0 / 24.0 - T * (1.0 / 720.0 - T / 40320.0))
        b = 1.0 / 6.0 - T * (1.0 / 120.0 - T * (1.0 / 5040.0 - T / 362880.0))
    else:
        s = math.sin(0.5 * angle)
        a, b = 2.0 * s * s / T, (angle - math.sin(angle)) / (T * angle)
    c = cross(w, u)
    return u + c * a + cross(w, c) * b


@device
def rate_one(kind, x, v, k, out: Out):
    """Write the rate of the increment x[k:] of a spherical, planar or free-flyer joint whose velocity is v[k:]."""
    if kind == SPHERICAL:
        u, w = zero3(), Vec3(x[k], x[k + 1], x[k + 2])
        y = Vec6(0.0, 0.0, 0.0, v[k], v[k + 1], v[k + 2])
    elif kind == PLANAR:
        u, w = Vec3(x[k], x[k + 1], 0.0), Vec3(0.0, 0.0, x[k + 2])
        y = Vec6(v[k], v[k + 1], 0.0, 0.0, 0.0, v[k + 2])
    else:
        u, w = Vec3(x[k], x[k + 1], x[k + 2]), Vec3(x[k + 3], x[k + 4], x[k + 5])
        y = Vec6(v[k], v[k + 1], v[k + 2], v[k + 3], v[k + 4], v[k + 5])
    T = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    angle = math.sqrt(T)
    if angle < _SMALL:
        # With x = ad(increment), the rate is x / (1 - exp(-x)) v = v + x v / 2 + c2 x^2 v + c4 x^4 v.
        # Two terms suffice, because x (x^2 + T)^2 = 0 with T = angle^2; see pin_clusters.simulation.
        c2, c4, a, b = 1.0 / 12.0, -1.0 / 720.0, -T * T, -2.0 * T
        c2, c4, a, b = c2 + a / 30240.0, c4 + b / 30240.0, -T * T * b, a - 2.0 * T * b
        c2, c4, a, b = c2 - a / 1209600.0, c4 - b / 1209600.0, -T * T * b, a - 2.0 * T * b
        c2, c4, a, b = c2 + a / 47900160.0, c4 + b / 47900160.0, -T * T * b, a - 2.0 * T * b
        s = 691.0 / 1307674368000.0
        c2, c4, a, b = c2 - s * a, c4 - s * b, -T * T * b, a - 2.0 * T * b
        c2, c4 = c2 + a / 74724249600.0, c4 + b / 74724249600.0
    else:
        half = 0.5 * angle
        cot, sin = 1.0 / math.tan(half), math.sin(half)
        value = half * cot
        slope = -(0.5 * cot - 0.5 * half / (sin * sin)) / (2.0 * angle)
        c4 = (1.0 - value - slope * T) / (T * T)
        c2 = slope + 2.0 * c4 * T
    increment = join(u, w)
    first = cross(increment, y)
    second = cross(increment, first)
    r = y + first * 0.5 + second * c2 + cross(increment, cross(increment, second)) * c4
    if kind == SPHERICAL:
        out[k], out[k + 1], out[k + 2] = r[3], r[4], r[5]
    elif kind == PLANAR:
        out[k], out[k + 1], out[k + 2] = r[0], r[1], r[5]
    else:
        put(out, k, r)
