"""Computes sines, cosines and rotations."""

import math

from ...compiler.numba_jit.jit import inline
from .choices import if_less


@inline
def turn_z(R, c, s):
    return (
        c * R[0] + s * R[1],
        c * R[1] - s * R[0],
        R[2],
        c * R[3] + s * R[4],
        c * R[4] - s * R[3],
        R[5],
        c * R[6] + s * R[7],
        c * R[7] - s * R[6],
        R[8],
    )


@inline
def quaternion_rotation(x, y, z, w):
    xx, yy, zz = 2.0 * x * x, 2.0 * y * y, 2.0 * z * z
    xy, xz, yz = 2.0 * x * y, 2.0 * x * z, 2.0 * y * z
    xw, yw, zw = 2.0 * x * w, 2.0 * y * w, 2.0 * z * w
    return (1.0 - yy - zz, xy - zw, xz + yw, xy + zw, 1.0 - xx - zz, yz - xw, xz - yw, yz + xw, 1.0 - xx - yy)


# pi/2 in three parts of 33 bits, so that n times a part is exact up to n = 2^20 (Cody and Waite 1980)
_PIO2_1, _PIO2_2, _PIO2_3 = 1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21
_TWO_OVER_PI = 0.63661977236758134308


# Adding and then subtracting 1.5 * 2^52 rounds to the nearest integer, without the integer conversion of floor().
_ROUND = 6755399441055744.0
_FAR = 2.0**20


@inline
def nearest(x):
    """Return the nearest integer, for |x| below 2^51."""
    return (x + _ROUND) - _ROUND


@inline
def sincos(x):
    """Return sine and cosine to one unit in the last place, by polynomials of Cephes (S. Moshier)."""
    if _FAR <= abs(x) < math.inf:  # for such arguments, the reduction below is inexact
        return math.sin(x), math.cos(x)
    n = nearest(x * _TWO_OVER_PI)
    r = ((x - n * _PIO2_1) - n * _PIO2_2) - n * _PIO2_3
    z = r * r
    p = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
    p = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * p))
    s = r + r * z * (-1.66666666666666324348e-01 + z * p)
    p = 2.08757232129817482790e-09 + z * -1.13596475577881948265e-11
    p = -1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * p))
    c = 1.0 - (0.5 * z - z * z * (4.16666666666666019037e-02 + z * p))
    quadrant = n - 4.0 * nearest(0.25 * n - 0.375)  # for an integer n, nearest(...) is floor(n / 4)
    odd = quadrant - 2.0 * nearest(0.5 * quadrant - 0.25)
    ss, cc = if_less(odd, 0.5, s, c), if_less(odd, 0.5, c, s)
    return if_less(quadrant, 1.5, ss, -ss), if_less(quadrant * (3.0 - quadrant), 1.0, cc, -cc)
