"""Derivative dv_com/dq of the velocity of the centre of mass at constant independent velocities (L8).

Each velocity of the tree contributes (m L_lin + L_ang x h + S_ang x p) / mass. S is the motion per unit velocity, and
L = v_lam x S with the velocity v_lam of the parent link. m, h and p are the mass, first moment and linear momentum of
the link's subtree. Call ``tree`` first, which writes the subtree sums to work.
"""

from ...compiler.numba_jit.jit import inline, paste
from ..directions import Out
from ..numbers.memory import get, increase, put, put_zeros
from ..numbers.spatial import angular, cross, linear, point_velocity
from ..numbers.tuples import Vec3, load3
from ..tables import layout as at
from ..tables import link_workspace as of_link
from ..tables.views import derived_at, dof, entry, link, lump, own_at, tree_header_at
from .independent_columns import clear_rows
from .link_motions import carried, direction
from .masses import end_of, lumped, middle
from .momentum_rate import seen_at


@inline
def total(index, params, work, n):
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
def sums_of(O, L):
    """Return the ``work`` offset of the sums for a link: mass, moment and momentum of lumps, which overwrite a_tree."""
    return O.a_tree + 7 * L.iv


@inline
def add_lump(index, params, work, O, M, b, c, o, half):
    """Add half of a lump at point c of link b to the sums of the links between b and ``M.common``.

    A lump at the midpoint of two points has the same momentum as two halves of the lump, one at each point.
    """
    h, p = (of_link.position(work, b) + c - o) * half, point_velocity(of_link.velocity(work, b), c) * half
    while b != M.common:
        L = link(index, b)
        sums = sums_of(O, L)
        increase(work, sums, half)
        put(work, sums + 1, load3(work, sums + 1) + h)
        put(work, sums + 4, load3(work, sums + 4) + p)
        b = L.parent


@inline
def add_lumps(index, params, work, n, O, o):
    put_zeros(work, O.a_tree, 7 * n.nv_tree)
    for r in range(n.lump0, n.lump1):
        M = lump(index, r)
        half = 0.5 * lumped(params, work, M, 0)[0]
        add_lump(index, params, work, O, M, M.a, end_of(params, work, M.a, M.at + 1), o, half)
        add_lump(index, params, work, O, M, M.b, end_of(params, work, M.b, M.at + 4), o, half)


@paste
def center_rates(index, params, work, out, to: Out):
    """Write dv_com/dq, 3 x nv; return 1 if ``tree`` must run first. With loops, call ``coupling_derivatives`` first."""
    n = tree_header_at(index, 0)
    O, E, o = own_at(index, n.sections + 1), derived_at(index, n.sections + 2), middle(work, n)
    share = 1.0 / total(index, params, work, n)
    if n.lump0 < n.lump1:
        add_lumps(index, params, work, n, O, o)
    clear_rows(to, n)
    for iv in range(n.nv_tree):
        D = dof(index, n.dof0 + iv)
        up, S = link(index, D.link).parent, direction(params, work, D)
        d = of_link.position(work, D.link) - of_link.position(work, up)
        by_joint = cross(carried(of_link.velocity(work, up), d), S)  # (parent's velocity) x S, at the link's origin
        s = of_link.moments(work, D.link)
        m, h, p = s[0], Vec3(s[1], s[2], s[3]), Vec3(s[4], s[5], s[6])
        if n.lump0 < n.lump1:
            sums = sums_of(O, link(index, D.link))
            m, h, p = m + get(work, sums), h + load3(work, sums + 1), p + load3(work, sums + 4)
        L, S = seen_at(work, by_joint, D.link, o), seen_at(work, S, D.link, o)
        by_q = linear(L) * m + cross(angular(L), h) + cross(angular(S), p)
        by_v = linear(S) * m + cross(angular(S), h)
        for t in range(D.term0, D.term1):
            T = entry(index, t)
            g = get(out, E.turned + T.at) * share
            for r in range(3):
                to[r, T.k] += g * by_q[r]
            if n.loops == 1:
                change = get(out, E.turned + n.nv_tree * n.nv + T.at) * share
                for r in range(3):
                    to[r, T.k] += change * by_v[r]
    return 1 - int(get(out, E.standing))
