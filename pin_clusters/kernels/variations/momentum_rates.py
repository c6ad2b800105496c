"""The matrix 2B = v x* I + (I v) xbar* - I v x (V2) of a rigid body, or the sum of 2B over a subtree.

In world axes about the origin, 2B = [[0, -2 l x], [0, Sigma - k x]]. The momentum [l; k] and the time derivative
Sigma of the rotational inertia are sums over the bodies. Symmetric 3 x 3 matrices are stored as six entries.
"""

from ...compiler.numba_jit.jit import inline
from ..numbers.spatial import angular, cross, dot3, join, linear, sym3_mul
from ..numbers.tuples import Vec3, Vec6


@inline
def rate_of_inertia(I, v):
    """Return Sigma of a rigid body, which is the angular part of v x* I - I v x."""
    h, u, w = Vec3(I[1], I[2], I[3]), linear(v), angular(v)
    a = cross(w, Vec3(I[4], I[5], I[6])) - u * h[0]
    b = cross(w, Vec3(I[5], I[7], I[8])) - u * h[1]
    c = cross(w, Vec3(I[6], I[8], I[9])) - u * h[2]
    s = 2.0 * dot3(u, h)
    return Vec6(2.0 * a[0] + s, a[1] + b[0], a[2] + c[0], 2.0 * b[1] + s, b[2] + c[1], 2.0 * c[2] + s)


@inline
def twice_B(h, sigma, x):
    w = angular(x)
    return join(cross(linear(h), w) * -2.0, sym3_mul(sigma, w) - cross(angular(h), w))


@inline
def twice_B_transposed(h, sigma, x):
    """Return the angular part of (2B)^T x; the linear part is zero."""
    w = angular(x)
    return cross(linear(h), linear(x)) * 2.0 + sym3_mul(sigma, w) + cross(angular(h), w)
