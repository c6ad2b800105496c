"""Computes quaternions of rotations and logarithms of placements without branches, accurately up to half a turn."""

import math

from ...compiler.numba_jit.jit import inline
from ..numbers.choices import if_less
from ..numbers.spatial import cross, join
from ..numbers.tuples import Vec3


@inline
def wider(a, b):
    """Return the tuple with the larger first entry, which is proportional to the squared length of the other four."""
    return (
        if_less(a[0], b[0], b[0], a[0]),
        if_less(a[0], b[0], b[1], a[1]),
        if_less(a[0], b[0], b[2], a[2]),
        if_less(a[0], b[0], b[3], a[3]),
        if_less(a[0], b[0], b[4], a[4]),
    )


@inline
def quaternion(R):
    """Return the unit quaternion (x, y, z, w), w >= 0, of a rotation: the longest column of 4 q q', normalized."""
    x, y, z = R[7] - R[5], R[2] - R[6], R[3] - R[1]
    xy, xz, yz = R[1] + R[3], R[2] + R[6], R[5] + R[7]
    trace = 1.0 + R[0] + R[4] + R[8]
    dx, dy, dz = 1.0 + R[0] - R[4] - R[8], 1.0 - R[0] + R[4] - R[8], 1.0 - R[0] - R[4] + R[8]
    c = wider(wider((trace, x, y, z, trace), (dx, dx, xy, xz, x)), wider((dy, xy, dy, yz, y), (dz, xz, yz, dz, z)))
    s = if_less(c[4], 0.0, -1.0, 1.0) / math.sqrt(c[1] * c[1] + c[2] * c[2] + c[3] * c[3] + c[4] * c[4])
    return c[1] * s, c[2] * s, c[3] * s, c[4] * s


@inline
def log6(R, p):
    """Return the motion [linear; angular] that leads from the identity to the placement (R, p) in unit time."""
    x, y, z, w = quaternion(R)
    # In turn, t is tan(angle / 4), tan(angle / 8) and tan(angle / 16), divided by sin(angle / 2). The last t is <= 0.2.
    ss = x * x + y * y + z * z
    t = 1.0 / (1.0 + w)
    t = t / (1.0 + math.sqrt(1.0 + t * t * ss))
    t = t / (1.0 + math.sqrt(1.0 + t * t * ss))
    u = t * t * ss
    atan = 1.0 / 19.0 - u * (1.0 / 21.0 - u * (1.0 / 23.0))
    atan = 1.0 / 13.0 - u * (1.0 / 15.0 - u * (1.0 / 17.0 - u * atan))
    atan = 1.0 / 7.0 - u * (1.0 / 9.0 - u * (1.0 / 11.0 - u * atan))
    atan = 1.0 - u * (1.0 / 3.0 - u * (1.0 / 5.0 - u * atan))
    turn = Vec3(x, y, z) * (16.0 * t * atan)
    half = 8.0 * t * atan  # (angle / 2) / sin(angle / 2)
    h = half * half * ss
    # At small angles, where (1 - x cot x) / (2 x)^2 with x = angle / 2 loses digits, a series is used instead.
    series = h * (1382.0 / 2554051500.0 + h * (1.0 / 18243225.0 + h * (3617.0 / 651283132500.0)))
    series = h * (1.0 / 18900.0 + h * (1.0 / 187110.0 + series))
    series = 1.0 / 12.0 + h * (1.0 / 180.0 + h * (1.0 / 1890.0 + series))
    small = if_less(h, 0.0625, 1.0, 0.0)
    direct = (1.0 - half * w) / (4.0 * h + small)
    # The linear part is V^-1 p, where V maps the linear part of a motion to the translation of its exponential.
    turned = cross(turn, p)
    return join(p - turned * 0.5 + cross(turn, turned) * if_less(h, 0.0625, series, direct), turn)
