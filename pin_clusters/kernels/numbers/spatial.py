"""Spatial algebra on tuples. The linear part is first; rotations are row-major; unrolling keeps tuples in registers."""

from numba.extending import overload

from ...compiler.numba_jit.jit import INLINE, inline
from .tuples import Rigid, Sym6, Vec3, Vec6

# Numba compares the signatures of an overload and its implementation; therefore neither has annotations.


def cross(a, b):
    return _cross6(a, b) if len(a) == 6 else _cross3(a, b)


def _cross3(a, b):
    return Vec3(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def _cross6(a, b):
    return Vec6(
        a[4] * b[2] - a[5] * b[1] + a[1] * b[5] - a[2] * b[4],
        a[5] * b[0] - a[3] * b[2] + a[2] * b[3] - a[0] * b[5],
        a[3] * b[1] - a[4] * b[0] + a[0] * b[4] - a[1] * b[3],
        a[4] * b[5] - a[5] * b[4],
        a[5] * b[3] - a[3] * b[5],
        a[3] * b[4] - a[4] * b[3],
    )


@overload(cross, **INLINE)
def _cross(a, b):
    return _cross6 if len(a) == 6 else _cross3


@inline
def cross_force(v, f):
    return Vec6(
        v[4] * f[2] - v[5] * f[1],
        v[5] * f[0] - v[3] * f[2],
        v[3] * f[1] - v[4] * f[0],
        v[4] * f[5] - v[5] * f[4] + v[1] * f[2] - v[2] * f[1],
        v[5] * f[3] - v[3] * f[5] + v[2] * f[0] - v[0] * f[2],
        v[3] * f[4] - v[4] * f[3] + v[0] * f[1] - v[1] * f[0],
    )


@inline
def zero3():
    return Vec3(0.0, 0.0, 0.0)


@inline
def zero6():
    return Vec6(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inline
def zero_rigid():
    return Rigid(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@inline
def zero_sym6():
    o = 0.0
    return Sym6(o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o)


@inline
def linear(a):
    return Vec3(a[0], a[1], a[2])


@inline
def angular(a):
    return Vec3(a[3], a[4], a[5])


@inline
def join(a, b):
    return Vec6(a[0], a[1], a[2], b[0], b[1], b[2])


@inline
def add_angular(a, h):
    return Vec6(a[0], a[1], a[2], a[3] + h[0], a[4] + h[1], a[5] + h[2])


@inline
def column(R, k):
    return Vec3(R[k], R[3 + k], R[6 + k])


@inline
def axis_of(R, i):
    """Return column i of a rotation, like ``column``, but also for an index i that is unknown at compile time."""
    if i == 0:
        return column(R, 0)
    return column(R, 1) if i == 1 else column(R, 2)


@inline
def dot3(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline
def dot6(a, b):
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5])


@inline
def rot(R, a):
    return Vec3(
        R[0] * a[0] + R[1] * a[1] + R[2] * a[2],
        R[3] * a[0] + R[4] * a[1] + R[5] * a[2],
        R[6] * a[0] + R[7] * a[1] + R[8] * a[2],
    )


@inline
def rot_t(R, a):
    return Vec3(
        R[0] * a[0] + R[3] * a[1] + R[6] * a[2],
        R[1] * a[0] + R[4] * a[1] + R[7] * a[2],
        R[2] * a[0] + R[5] * a[1] + R[8] * a[2],
    )


@inline
def matmul3(A, B):
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
def transposed(R):
    return (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8])


@inline
def sym3_mul(S, a):
    return Vec3(
        S[0] * a[0] + S[1] * a[1] + S[2] * a[2],
        S[1] * a[0] + S[3] * a[1] + S[4] * a[2],
        S[2] * a[0] + S[4] * a[1] + S[5] * a[2],
    )


@inline
def rotate_sym3(R, S):
    a = sym3_mul(S, Vec3(R[0], R[1], R[2]))
    b = sym3_mul(S, Vec3(R[3], R[4], R[5]))
    c = sym3_mul(S, Vec3(R[6], R[7], R[8]))
    return (
        R[0] * a[0] + R[1] * a[1] + R[2] * a[2],
        R[3] * a[0] + R[4] * a[1] + R[5] * a[2],
        R[6] * a[0] + R[7] * a[1] + R[8] * a[2],
        R[3] * b[0] + R[4] * b[1] + R[5] * b[2],
        R[6] * b[0] + R[7] * b[1] + R[8] * b[2],
        R[6] * c[0] + R[7] * c[1] + R[8] * c[2],
    )


@inline
def rigid_in_world(R, x, m, lever, I):
    """Return a rigid-body inertia about the world origin in world axes; I is the inertia about the centre of mass."""
    c = x + rot(R, lever)
    h = c * m
    J = rotate_sym3(R, I)
    xx, yy, zz = h[0] * c[0], h[1] * c[1], h[2] * c[2]
    return Rigid(
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
def point_inertia(m, x):
    xx, yy, zz, h = m * x[0] * x[0], m * x[1] * x[1], m * x[2] * x[2], x * m
    return Rigid(m, h[0], h[1], h[2], yy + zz, -h[0] * x[1], -h[0] * x[2], xx + zz, -h[1] * x[2], xx + yy)


@inline
def rigid_mul(I, a):
    m, h0, h1, h2 = I[0], I[1], I[2], I[3]
    return Vec6(
        m * a[0] + a[4] * h2 - a[5] * h1,
        m * a[1] + a[5] * h0 - a[3] * h2,
        m * a[2] + a[3] * h1 - a[4] * h0,
        I[4] * a[3] + I[5] * a[4] + I[6] * a[5] + h1 * a[2] - h2 * a[1],
        I[5] * a[3] + I[7] * a[4] + I[8] * a[5] + h2 * a[0] - h0 * a[2],
        I[6] * a[3] + I[8] * a[4] + I[9] * a[5] + h0 * a[1] - h1 * a[0],
    )


@inline
def rigid_as_sym6(I):
    o, m, h0, h1, h2 = 0.0, I[0], I[1], I[2], I[3]
    return Sym6(m, o, o, m, o, m, o, h2, -h1, -h2, o, h0, h1, -h0, o, I[4], I[5], I[6], I[7], I[8], I[9])


@inline
def sym6_mul(I, a):
    return Vec6(
        I[0] * a[0] + I[1] * a[1] + I[2] * a[2] + I[6] * a[3] + I[7] * a[4] + I[8] * a[5],
        I[1] * a[0] + I[3] * a[1] + I[4] * a[2] + I[9] * a[3] + I[10] * a[4] + I[11] * a[5],
        I[2] * a[0] + I[4] * a[1] + I[5] * a[2] + I[12] * a[3] + I[13] * a[4] + I[14] * a[5],
        I[6] * a[0] + I[9] * a[1] + I[12] * a[2] + I[15] * a[3] + I[16] * a[4] + I[17] * a[5],
        I[7] * a[0] + I[10] * a[1] + I[13] * a[2] + I[16] * a[3] + I[18] * a[4] + I[19] * a[5],
        I[8] * a[0] + I[11] * a[1] + I[14] * a[2] + I[17] * a[3] + I[19] * a[4] + I[20] * a[5],
    )


@inline
def sym6_minus_outer(I, u, w):
    """Return the upper triangle of I - u w', which is symmetric only after all columns of a cluster are subtracted."""
    return Sym6(
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
def rot6(R, m):
    return join(rot(R, linear(m)), rot(R, angular(m)))


@inline
def rot6_t(R, m):
    return join(rot_t(R, linear(m)), rot_t(R, angular(m)))


@inline
def force_from(R, p, f):
    """Transform a force from the frame with axes R and origin p to the frame in which R and p are expressed."""
    n = rot(R, linear(f))
    return join(n, rot(R, angular(f)) + cross(p, n))


@inline
def point_velocity(m, d):
    """Return the velocity of a body point; d is its position relative to the reference point of the body's motion m."""
    return linear(m) + cross(angular(m), d)
