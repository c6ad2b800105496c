"""Centre of mass and momentum of the system of links, rods with mass, and lumped rotors.

Moments are first computed about the first link's origin, then shifted to the centre of mass. This limits rounding
errors if the robot is far from the origin of the universe.
"""

from ...compiler.numba_jit.jit import inline
from ..directions import Out
from ..numbers.memory import get, put
from ..numbers.spatial import angular, cross, join, point_velocity, rot, rot_t, sym3_mul, zero3
from ..numbers.tuples import Rigid, Vec3, load3, load6
from ..tables import layout as at
from ..tables import link_workspace as of_link
from ..tables.layout import BODY_PARAMS
from ..tables.tree_layout import CENTERS, JCOM, MAP, MAP_RATE, MOMENTUM, SUBTREES, WHOLE, WORLD
from ..tables.views import link, lump, spin_row
from .masses import acceleration_of_center, driven, lumped, middle, spin_momentum
from .momentum_matrix import momentum_matrix
from .momentum_rate import momentum_matrix_rate


@inline
def spins(index, params, work, n, O, level):
    """Return the spin momentum of the lumped rotors (S1); at level 2, also its time derivative."""
    h, rate = zero3(), zero3()
    for r in range(n.spin0, n.spin1):
        S = spin_row(index, r)
        s, speed = spin_momentum(params, work, S), driven(index, params, work, S, O.v_tree)
        h = h + s * speed
        if level > 1:
            change = driven(index, params, work, S, O.a_tree)
            # The rotor axis rotates with its carrier.
            rate = rate + s * change + cross(angular(of_link.velocity(work, S.link)), s * speed)
    return h, rate


@inline
def moments(m, x, u, a):
    h, p, dp = x * m, u * m, a * m
    return Rigid(m, h[0], h[1], h[2], p[0], p[1], p[2], dp[0], dp[1], dp[2])


@inline
def centers(index, params, work, out: Out, n, A, O, what, level):
    """Write position, velocity and acceleration of the centre of mass; if requested, also momentum and its rate."""
    o, z = middle(work, n), zero3()
    mass, first, p, dp, L, dL = get(params, at.MASS), z, z, z, z, z
    for b in range(1, n.links + 1):
        k, R, x = b * BODY_PARAMS, of_link.rotation(work, b), of_link.position(work, b) - o
        m, u, ddx = get(params, k + at.MASS), z, z
        c = rot(R, load3(params, k + at.LEVER))
        mass += m
        first = first + (x + c) * m
        if level > 0:
            v, I = of_link.velocity(work, b), load6(params, k + at.INERTIA)
            u, w = point_velocity(v, c), rot_t(R, angular(v))
            p = p + u * m
            L = L + cross(x + c, u * m) + rot(R, sym3_mul(I, w))
            if level > 1:
                a = of_link.acceleration(work, b)
                ddx = acceleration_of_center(c, u, v, a)
                dp = dp + ddx * m
                spin = sym3_mul(I, rot_t(R, angular(a))) + cross(w, sym3_mul(I, w))
                dL = dL + cross(x + c, ddx * m) + rot(R, spin)
        if what & SUBTREES:
            of_link.set_moments(work, b, moments(m, x + c, u, ddx))
    for r in range(n.lump0, n.lump1):
        M = lump(index, r)
        m, x, u, ddx = lumped(params, work, M, level)
        x = x - o
        mass, first, p, dp = mass + m, first + x * m, p + u * m, dp + ddx * m
        L, dL = L + cross(x, u * m), dL + cross(x, ddx * m)
        if what & SUBTREES and M.common > 0:
            of_link.add_moments(work, M.common, moments(m, x, u, ddx))
    com = first * (1.0 / mass)
    put(out, A.com, o + com)
    if level > 0:
        put(out, A.vcom, p * (1.0 / mass))
    if level > 1:
        put(out, A.acom, dp * (1.0 / mass))
    if what & MOMENTUM:
        h, dh = spins(index, params, work, n, O, level)
        put(out, A.hg, join(p, L - cross(com, p) + h))
        if level > 1:
            put(out, A.dhg, join(dp, dL - cross(com, dp) + dh))


@inline
def subtrees(index, work, out: Out, n, A, level):
    """Write com, vcom and acom of the subtrees in joint frames, computed from the moments that ``centers`` writes."""
    o = middle(work, n)
    for i in range(n.links):
        b = n.links - i
        L = link(index, b)
        s = of_link.moments(work, b)
        if L.parent > 0:
            of_link.add_moments(work, L.parent, s)
        if L.joint > 0:
            R, share, k = of_link.turn(work, b), 1.0 / s[0], 3 * L.joint
            put(out, A.com + k, rot_t(R, Vec3(s[1], s[2], s[3]) * share + o - of_link.position(work, b)))
            if level > 0:
                put(out, A.vcom + k, rot_t(R, Vec3(s[4], s[5], s[6]) * share))
            if level > 1:
                put(out, A.acom + k, rot_t(R, Vec3(s[7], s[8], s[9]) * share))


@inline
def masses(index, params, work, out: Out, v, n, A, O, E, what, level):
    if what & (MAP | JCOM | WORLD | WHOLE):
        momentum_matrix(index, params, work, out, v, n, A, O, what, level)
        if what & MAP_RATE:
            momentum_matrix_rate(index, params, work, out, n, A, O, E)
    if what & CENTERS:
        centers(index, params, work, out, n, A, O, what, level)
        if what & SUBTREES:
            subtrees(index, work, out, n, A, level)
