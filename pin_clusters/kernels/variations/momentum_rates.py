"""2 B = v x* I + (I v) xbar* - I v x of a rigid body or of many, from the momentum and one symmetric 3 x 3; (V2).

In axes of the world, about its origin, 2 B = [[0, -2 l x], [0, Sigma - k x]], with momentum [l; k] and Sigma the rate
of the rotational inertia: both are sums over bodies.
"""

from ...compiler.numba_jit.jit import inline
from ..numbers.spatial import angular, cross, dot3, join, linear, sym3_mul
from ..numbers.tuples import Vec3, Vec6


@inline
def rate_of_inertia(I, v):
    """Sigma of a rigid body: angular part of v x* I - I v x."""
    h, u, w = Vec3(I[1], I[2], I[3]), linear(v), angular(v)
    a = cross(w, Vec3(I[4], I[5], I[6])) - u * h[0]
    b = cross(w, Vec3(I[5], I[7], I[8])) - u * h[1]
    c = cross(w, Vec3(I[6], I[8], I[9])) - u * h[2]
    s = 2.0 * dot3(u, h)
    return Vec6(2.0 * a[0] + s, a[1] + b[0], a[2] + c[0], 2.0 * b[1] + s, b[2] + c[1], 2.0 * c[2] + s)


@inline
def twice_B(h, sigma, x):
    """2 B x, of momentum h."""
    w = angular(x)
    return join(cross(linear(h), w) * -2.0, sym3_mul(sigma, w) - cross(angular(h), w))


@inline
def twice_B_transposed(h, sigma, x):
    """Angular part of 2 B' x; the linear part is zero."""
    w = angular(x)
    return cross(linear(h), linear(x)) * 2.0 + sym3_mul(sigma, w) + cross(angular(h), w)
