"""Spatial algebra on tuples of scalars, linear part first.

Every value is a tuple: 3-vector (3), rotation (9, row major), symmetric 3x3 (6: xx xy xz yy yz zz), spatial vector
(6), symmetric spatial matrix (21: linear-linear (6), linear-angular (9), angular-angular (6)), rigid-body inertia
(10: mass, first moment, inertia about the origin). Nothing here knows whether a scalar is a float64 or a SIMD pack.
Loops are written out: Numba keeps unrolled tuples in registers.
"""

from __future__ import annotations

from ._jit import inline
from .simd import get, if_less, put, zero


@inline
def add3(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@inline
def sub3(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@inline
def scale3(s, a):
    return (s * a[0], s * a[1], s * a[2])


@inline
def axpy3(s, a, b):
    return (s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2])


@inline
def dot3(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline
def cross(a, b):
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@inline
def rot(R, a):
    """R a."""
    return (
        R[0] * a[0] + R[1] * a[1] + R[2] * a[2],
        R[3] * a[0] + R[4] * a[1] + R[5] * a[2],
        R[6] * a[0] + R[7] * a[1] + R[8] * a[2],
    )


@inline
def rot_t(R, a):
    """R' a."""
    return (
        R[0] * a[0] + R[3] * a[1] + R[6] * a[2],
        R[1] * a[0] + R[4] * a[1] + R[7] * a[2],
        R[2] * a[0] + R[5] * a[1] + R[8] * a[2],
    )


@inline
def matmul3(A, B):
    """A B."""
    return (
        A[0] * B[0] + A[1] * B[3] + A[2] * B[6],
        A[0] * B[1] + A[1] * B[4] + A[2] * B[7],
        A[0] * B[2] + A[1] * B[5] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[3] + A[5] * B[6],
        A[3] * B[1] + A[4] * B[4] + A[5] * B[7],
        A[3] * B[2] + A[4] * B[5] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[3] + A[8] * B[6],
        A[6] * B[1] + A[7] * B[4] + A[8] * B[7],
        A[6] * B[2] + A[7] * B[5] + A[8] * B[8],
    )


@inline
def turn_z(R, c, s):
    """R Rz(angle), from the cosine and sine of the angle."""
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
    """Rotation of a unit quaternion."""
    xx, yy, zz = 2.0 * x * x, 2.0 * y * y, 2.0 * z * z
    xy, xz, yz = 2.0 * x * y, 2.0 * x * z, 2.0 * y * z
    xw, yw, zw = 2.0 * x * w, 2.0 * y * w, 2.0 * z * w
    return (1.0 - yy - zz, xy - zw, xz + yw, xy + zw, 1.0 - xx - zz, yz - xw, xz - yw, yz + xw, 1.0 - xx - yy)


# pi/2 in three parts of 33 bits: n times a part is exact up to n = 2^20 (Cody and Waite 1980)
_PIO2_1, _PIO2_2, _PIO2_3 = 1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21
_TWO_OVER_PI = 0.63661977236758134308


# adding and taking away 1.5 * 2^52 rounds to the nearest whole number; floor() would convert to integers and back
_ROUND = 6755399441055744.0


@inline
def nearest(x):
    """Nearest whole number, for |x| below 2^51."""
    return (x + _ROUND) - _ROUND


@inline
def sincos(x):
    """Sine and cosine to one unit in the last place, for |x| below 1e6; slowly less accurate beyond.

    Polynomials of the Cephes library (S. Moshier) on [-pi/4, pi/4].
    """
    n = nearest(x * _TWO_OVER_PI)
    r = ((x - n * _PIO2_1) - n * _PIO2_2) - n * _PIO2_3
    z = r * r
    p = -2.50507602534068634195e-08 + z * 1.58969099521155010221e-10
    p = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * p))
    s = r + r * z * (-1.66666666666666324348e-01 + z * p)
    p = 2.08757232129817482790e-09 + z * -1.13596475577881948265e-11
    p = -1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * p))
    c = 1.0 - (0.5 * z - z * z * (4.16666666666666019037e-02 + z * p))
    quadrant = n - 4.0 * nearest(0.25 * n - 0.375)  # the nearest one is the floor: n is whole
    odd = quadrant - 2.0 * nearest(0.5 * quadrant - 0.25)
    ss, cc = if_less(odd, 0.5, s, c), if_less(odd, 0.5, c, s)
    return if_less(quadrant, 1.5, ss, -ss), if_less(quadrant * (3.0 - quadrant), 1.0, cc, -cc)


@inline
def sym3_mul(S, a):
    return (
        S[0] * a[0] + S[1] * a[1] + S[2] * a[2],
        S[1] * a[0] + S[3] * a[1] + S[4] * a[2],
        S[2] * a[0] + S[4] * a[1] + S[5] * a[2],
    )


@inline
def rotate_sym3(R, S):
    """R S R'."""
    a = sym3_mul(S, (R[0], R[1], R[2]))
    b = sym3_mul(S, (R[3], R[4], R[5]))
    c = sym3_mul(S, (R[6], R[7], R[8]))
    return (
        R[0] * a[0] + R[1] * a[1] + R[2] * a[2],
        R[3] * a[0] + R[4] * a[1] + R[5] * a[2],
        R[6] * a[0] + R[7] * a[1] + R[8] * a[2],
        R[3] * b[0] + R[4] * b[1] + R[5] * b[2],
        R[6] * b[0] + R[7] * b[1] + R[8] * b[2],
        R[6] * c[0] + R[7] * c[1] + R[8] * c[2],
    )


@inline
def add6(a, b):
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@inline
def sub6(a, b):
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4], a[5] - b[5])


@inline
def scale6(s, a):
    return (s * a[0], s * a[1], s * a[2], s * a[3], s * a[4], s * a[5])


@inline
def axpy6(s, a, b):
    """Return s a + b."""
    return (
        s * a[0] + b[0],
        s * a[1] + b[1],
        s * a[2] + b[2],
        s * a[3] + b[3],
        s * a[4] + b[4],
        s * a[5] + b[5],
    )


@inline
def dot6(a, b):
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5])


@inline
def angular(a):
    return (a[3], a[4], a[5])


@inline
def linear(a):
    return (a[0], a[1], a[2])


@inline
def join(a, b):
    """Spatial vector of a linear and an angular part."""
    return (a[0], a[1], a[2], b[0], b[1], b[2])


@inline
def crm(v, m):
    """Motion cross motion, v x m."""
    return (
        v[4] * m[2] - v[5] * m[1] + v[1] * m[5] - v[2] * m[4],
        v[5] * m[0] - v[3] * m[2] + v[2] * m[3] - v[0] * m[5],
        v[3] * m[1] - v[4] * m[0] + v[0] * m[4] - v[1] * m[3],
        v[4] * m[5] - v[5] * m[4],
        v[5] * m[3] - v[3] * m[5],
        v[3] * m[4] - v[4] * m[3],
    )


@inline
def crf(v, f):
    """Motion cross force, v x* f."""
    return (
        v[4] * f[2] - v[5] * f[1],
        v[5] * f[0] - v[3] * f[2],
        v[3] * f[1] - v[4] * f[0],
        v[4] * f[5] - v[5] * f[4] + v[1] * f[2] - v[2] * f[1],
        v[5] * f[3] - v[3] * f[5] + v[2] * f[0] - v[0] * f[2],
        v[3] * f[4] - v[4] * f[3] + v[0] * f[1] - v[1] * f[0],
    )


@inline
def rigid_in_world(R, x, m, lever, I):
    """Move a rigid-body inertia about the centre of mass to the world's axes and origin, as 10 numbers."""
    c = add3(x, rot(R, lever))
    h = scale3(m, c)
    J = rotate_sym3(R, I)
    xx, yy, zz = h[0] * c[0], h[1] * c[1], h[2] * c[2]
    return (
        m,
        h[0],
        h[1],
        h[2],
        J[0] + yy + zz,
        J[1] - h[0] * c[1],
        J[2] - h[0] * c[2],
        J[3] + xx + zz,
        J[4] - h[1] * c[2],
        J[5] + xx + yy,
    )


@inline
def rigid_mul(I, a):
    """Rigid-body inertia times motion."""
    m, h0, h1, h2 = I[0], I[1], I[2], I[3]
    return (
        m * a[0] + a[4] * h2 - a[5] * h1,
        m * a[1] + a[5] * h0 - a[3] * h2,
        m * a[2] + a[3] * h1 - a[4] * h0,
        I[4] * a[3] + I[5] * a[4] + I[6] * a[5] + h1 * a[2] - h2 * a[1],
        I[5] * a[3] + I[7] * a[4] + I[8] * a[5] + h2 * a[0] - h0 * a[2],
        I[6] * a[3] + I[8] * a[4] + I[9] * a[5] + h0 * a[1] - h1 * a[0],
    )


@inline
def rigid_as_sym6(I, o):
    """Rigid-body inertia as a symmetric spatial matrix; o is a zero of the scalar type."""
    m, h0, h1, h2 = I[0] + o, I[1], I[2], I[3]
    return (m, o, o, m, o, m, o, h2, -h1, -h2, o, h0, h1, -h0, o, I[4], I[5], I[6], I[7], I[8], I[9])


@inline
def sym6_mul(I, a):
    return (
        I[0] * a[0] + I[1] * a[1] + I[2] * a[2] + I[6] * a[3] + I[7] * a[4] + I[8] * a[5],
        I[1] * a[0] + I[3] * a[1] + I[4] * a[2] + I[9] * a[3] + I[10] * a[4] + I[11] * a[5],
        I[2] * a[0] + I[4] * a[1] + I[5] * a[2] + I[12] * a[3] + I[13] * a[4] + I[14] * a[5],
        I[6] * a[0] + I[9] * a[1] + I[12] * a[2] + I[15] * a[3] + I[16] * a[4] + I[17] * a[5],
        I[7] * a[0] + I[10] * a[1] + I[13] * a[2] + I[16] * a[3] + I[18] * a[4] + I[19] * a[5],
        I[8] * a[0] + I[11] * a[1] + I[14] * a[2] + I[17] * a[3] + I[19] * a[4] + I[20] * a[5],
    )


@inline
def sym6_minus_outer(I, u, w):
    """I - u w', of which the upper triangle is kept: the sum over all columns of a cluster is symmetric."""
    return (
        I[0] - u[0] * w[0],
        I[1] - u[0] * w[1],
        I[2] - u[0] * w[2],
        I[3] - u[1] * w[1],
        I[4] - u[1] * w[2],
        I[5] - u[2] * w[2],
        I[6] - u[0] * w[3],
        I[7] - u[0] * w[4],
        I[8] - u[0] * w[5],
        I[9] - u[1] * w[3],
        I[10] - u[1] * w[4],
        I[11] - u[1] * w[5],
        I[12] - u[2] * w[3],
        I[13] - u[2] * w[4],
        I[14] - u[2] * w[5],
        I[15] - u[3] * w[3],
        I[16] - u[3] * w[4],
        I[17] - u[3] * w[5],
        I[18] - u[4] * w[4],
        I[19] - u[4] * w[5],
        I[20] - u[5] * w[5],
    )


@inline
def add21(a, b):
    return (
        a[0] + b[0],
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3],
        a[4] + b[4],
        a[5] + b[5],
        a[6] + b[6],
        a[7] + b[7],
        a[8] + b[8],
        a[9] + b[9],
        a[10] + b[10],
        a[11] + b[11],
        a[12] + b[12],
        a[13] + b[13],
        a[14] + b[14],
        a[15] + b[15],
        a[16] + b[16],
        a[17] + b[17],
        a[18] + b[18],
        a[19] + b[19],
        a[20] + b[20],
    )


@inline
def load3(a, i):
    return (get(a, i), get(a, i + 1), get(a, i + 2))


@inline
def load6(a, i):
    return (get(a, i), get(a, i + 1), get(a, i + 2), get(a, i + 3), get(a, i + 4), get(a, i + 5))


@inline
def load9(a, i):
    return join9(load3(a, i), load3(a, i + 3), load3(a, i + 6))


@inline
def join9(a, b, c):
    return (a[0], a[1], a[2], b[0], b[1], b[2], c[0], c[1], c[2])


@inline
def load10(a, i):
    x, y = load6(a, i), load3(a, i + 6)
    return (x[0], x[1], x[2], x[3], x[4], x[5], y[0], y[1], y[2], get(a, i + 9))


@inline
def load21(a, i):
    x, y, z, w = load6(a, i), load6(a, i + 6), load6(a, i + 12), load3(a, i + 18)
    return (
        x[0], x[1], x[2], x[3], x[4], x[5], y[0], y[1], y[2], y[3], y[4], y[5],
        z[0], z[1], z[2], z[3], z[4], z[5], w[0], w[1], w[2],
    )  # fmt: skip


@inline
def store3(a, i, x):
    put(a, i, x[0])
    put(a, i + 1, x[1])
    put(a, i + 2, x[2])


@inline
def store6(a, i, x):
    store3(a, i, (x[0], x[1], x[2]))
    store3(a, i + 3, (x[3], x[4], x[5]))


@inline
def store9(a, i, x):
    store6(a, i, (x[0], x[1], x[2], x[3], x[4], x[5]))
    store3(a, i + 6, (x[6], x[7], x[8]))


@inline
def store10(a, i, x):
    store9(a, i, (x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]))
    put(a, i + 9, x[9])


@inline
def store21(a, i, x):
    store9(a, i, (x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8]))
    store9(a, i + 9, (x[9], x[10], x[11], x[12], x[13], x[14], x[15], x[16], x[17]))
    store3(a, i + 18, (x[18], x[19], x[20]))


@inline
def accumulate3(a, i, x):
    store3(a, i, add3(load3(a, i), x))


@inline
def accumulate6(a, i, x):
    store6(a, i, add6(load6(a, i), x))


@inline
def accumulate10(a, i, x):
    accumulate6(a, i, (x[0], x[1], x[2], x[3], x[4], x[5]))
    accumulate3(a, i + 6, (x[6], x[7], x[8]))
    put(a, i + 9, get(a, i + 9) + x[9])


@inline
def accumulate21(a, i, x):
    store21(a, i, add21(load21(a, i), x))


@inline
def zero6(a):
    o = zero(a)
    return (o, o, o, o, o, o)
