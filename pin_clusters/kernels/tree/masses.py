"""Masses that are not links: lumps (point masses of rods) and lumped rotors; also the reference point of moments."""

from ...compiler.numba_jit.jit import inline
from ..numbers.memory import get
from ..numbers.spatial import angular, cross, linear, point_velocity, rot, zero3
from ..numbers.tuples import load3
from ..tables import link_workspace as of_link
from ..tables.views import driver


@inline
def middle(work, n):
    """Return the reference point of moments: the first link's origin, which limits rounding errors."""
    return of_link.position(work, min(n.links, 1))


@inline
def spin_momentum(params, work, S):
    return rot(of_link.rotation(work, S.link), load3(params, S.at))


@inline
def driven(index, params, work, S, at):
    """Return the speed of a lumped rotor, or its acceleration if work[at:] contains accelerations of the tree."""
    total = 0.0
    for i in range(S.driver0, S.driver1):
        D = driver(index, i)
        total += get(params, D.at) * get(work, at + D.iv)
    return total


@inline
def end_of(params, work, b, at_point):
    return rot(of_link.rotation(work, b), load3(params, at_point))


@inline
def acceleration_of_center(c, u, v, a):
    return linear(a) + cross(angular(a), c) + cross(angular(v), u)


@inline
def lumped(params, work, M, level):
    """Return mass, position, velocity (zero below level 1) and acceleration (zero below level 2) of a lump."""
    ca, cb, z = end_of(params, work, M.a, M.at + 1), end_of(params, work, M.b, M.at + 4), zero3()
    x = (of_link.position(work, M.a) + ca + of_link.position(work, M.b) + cb) * 0.5
    u, ddx = z, z
    if level > 0:
        va, vb = of_link.velocity(work, M.a), of_link.velocity(work, M.b)
        ua, ub = point_velocity(va, ca), point_velocity(vb, cb)
        u = (ua + ub) * 0.5
        if level > 1:
            aa, ab = of_link.acceleration(work, M.a), of_link.acceleration(work, M.b)
            ddx = (acceleration_of_center(ca, ua, va, aa) + acceleration_of_center(cb, ub, vb, ab)) * 0.5
    return get(params, M.at), x, u, ddx
