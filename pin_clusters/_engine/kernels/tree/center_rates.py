"""How the velocity of the centre of mass depends on the configuration: dv_com/dq, the independent v held.

Per velocity of the tree, with m, h, p the mass, first moment and momentum of what its link carries, S its motion, and
L = v_lam x S: (m L_lin + L_ang x h + S_ang x p) / mass. What ``tree`` left of links must still be there.
"""

from __future__ import annotations

from ..compiling.jit import inline, paste
from ..numbers.simd import get, zero
from ..numbers.spatial import angular, cross, linear, point_velocity
from ..numbers.tuples import Vec3
from ..tables import layout as at
from ..tables import link_workspace as of_link
from ..tables.tree_views import derived_at, dof, entry, link, lump, own_at, tree_header_at
from .link_motions import carried, direction
from .masses import end_of, lumped, middle
from .momentum_rate import seen_at


@inline
def total(index, params, work, n):
    """Mass of the whole robot."""
    mass = get(params, at.MASS)
    for b in range(1, n.links + 1):
        if link(index, b).parent == 0:
            mass += of_link.moments(work, b)[0]
    for r in range(n.lump0, n.lump1):
        M = lump(index, r)
        if M.common == 0:
            mass += get(params, M.at)
    return mass


@inline
def add_center(index, out, n, D, iv, at_G, v_q, by_q, by_v, share, to):
    """Add what a velocity of the tree does to the momentum: by_q when its joint moves, by_v per unit of its change."""
    for t in range(D.term0, D.term1):
        T = entry(index, t)
        g = get(out, at_G + T.at) * share
        for r in range(3):
            to[r, T.k] += g * by_q[r]
        if n.loops == 1:
            change = v_q[iv, T.k] * share
            for r in range(3):
                to[r, T.k] += change * by_v[r]


@inline
def turned_by_joint(index, params, work, b, D):
    """v_lam x S at the origin of link b, and S."""
    up = link(index, b).parent
    S = direction(params, work, D)
    return cross(carried(of_link.velocity(work, up), of_link.position(work, b) - of_link.position(work, up)), S), S


@inline
def lump_center(index, params, work, out, n, at_G, v_q, M, b, c, share, to):
    """The same of a part of a point mass that goes with point c of link b, but not with ``M.common``."""
    x, u = of_link.position(work, b) + c, point_velocity(of_link.velocity(work, b), c)
    while b != M.common:
        L = link(index, b)
        for iv in range(L.iv, L.iv + L.ndof):
            D = dof(index, n.dof0 + iv)
            by_joint, S = turned_by_joint(index, params, work, b, D)
            by_q = linear(seen_at(work, by_joint, b, x)) + cross(angular(S), u)
            add_center(index, out, n, D, iv, at_G, v_q, by_q, linear(seen_at(work, S, b, x)), share, to)
        b = L.parent


@paste
def center_rates(index, params, work, out, v_q, to):
    """Write dv_com/dq; v_q is dv_tree/dq, of which nothing is read without loops. Returns 1 if links moved since."""
    n = tree_header_at(index, 0)
    O, o = own_at(index, n.sections + 1), middle(work, n)
    share = 1.0 / total(index, params, work, n)
    for r in range(3):
        for k in range(n.nv):
            to[r, k] = zero(out)
    for iv in range(n.nv_tree):
        D = dof(index, n.dof0 + iv)
        by_joint, S = turned_by_joint(index, params, work, D.link, D)
        s = of_link.moments(work, D.link)
        h, p = Vec3(s[1], s[2], s[3]), Vec3(s[4], s[5], s[6])
        L, S = seen_at(work, by_joint, D.link, o), seen_at(work, S, D.link, o)
        by_q = linear(L) * s[0] + cross(angular(L), h) + cross(angular(S), p)
        by_v = linear(S) * s[0] + cross(angular(S), h)
        add_center(index, out, n, D, iv, O.G, v_q, by_q, by_v, share, to)
    for r in range(n.lump0, n.lump1):
        M = lump(index, r)
        half = 0.5 * lumped(params, work, M, 0)[0] * share
        ca, cb = end_of(params, work, M.a, M.at + 1), end_of(params, work, M.b, M.at + 4)
        lump_center(index, params, work, out, n, O.G, v_q, M, M.a, ca, half, to)
        lump_center(index, params, work, out, n, O.G, v_q, M, M.b, cb, half, to)
    return 1 - int(get(out, derived_at(index, n.sections + 2).standing))
