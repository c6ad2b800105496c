"""Jacobian of the centre of mass of a subtree.

The column of a tree velocity is m v_c / M, where M is the mass of the subtree, m is the mass of the moved part of the
subtree, and v_c is the velocity of this part's centre of mass per unit velocity. A velocity above the subtree moves the
whole subtree.
"""

from ...compiler.numba_jit.jit import inline, paste
from ..directions import Out
from ..numbers.memory import get, put
from ..numbers.spatial import angular, cross, linear
from ..numbers.tuples import Vec3
from ..tables import link_workspace as of_link
from ..tables.layout import OK, WRONG_SIZE
from ..tables.tree_layout import LINK_MOMENTS, LINK_WORK
from ..tables.views import derived_at, dof, entry, link, lump, own_at, place_at, sections_at, tree_header_at
from .independent_columns import clear_rows
from .link_motions import direction, start_links
from .masses import end_of, middle
from .momentum_matrix import inertias
from .motion import outward


@inline
def mark(index, work, n, root):
    """Write two flags per link: whether it is in the subtree of ``root``, and whether it is an ancestor of ``root``."""
    for b in range(n.links + 1):
        inside = 0.0
        if b == root:
            inside = 1.0
        elif b > 0:
            inside = get(work, link(index, b).parent * LINK_WORK + LINK_MOMENTS)
        put(work, b * LINK_WORK + LINK_MOMENTS, inside)
        put(work, b * LINK_WORK + LINK_MOMENTS + 1, 0.0)
    b = root
    while b > 0:
        b = link(index, b).parent
        put(work, b * LINK_WORK + LINK_MOMENTS + 1, 1.0)


@inline
def add(index, out, to: Out, D, at_G, p):
    for t in range(D.term0, D.term1):
        T = entry(index, t)
        g = get(out, at_G + T.at)
        for r in range(3):
            to[r, T.k] += g * p[r]


@inline
def add_lump(index, params, work, out, n, O, M, b, c, share, to: Out):
    """Add the terms of half a lump at point c of link b to the columns of the joints between b and ``M.common``."""
    x = of_link.position(work, b) + c
    while b != M.common:
        L = link(index, b)
        for iv in range(L.iv, L.iv + L.ndof):
            D = dof(index, n.dof0 + iv)
            S = direction(params, work, D)
            add(index, out, to, D, O.G, (linear(S) + cross(angular(S), x - of_link.position(work, b))) * share)
        b = L.parent


@paste
def subtree_jacobian(index, params, work, out: Out, q, joint, to: Out):
    """Write the Jacobian of a subtree's centre of mass, 3 x nv; out contains G. With empty q, call ``tree`` first."""
    n = tree_header_at(index, 0)
    A, O = sections_at(index, n.sections), own_at(index, n.sections + 1)
    if joint < 0 or joint >= n.njoints or to.shape[0] != 3 or to.shape[1] != n.nv:
        return WRONG_SIZE
    if q.shape[0] > 0:
        if q.shape[0] != n.nq:
            return WRONG_SIZE
        start_links(work)
        outward(index, params, work, out, q, n, A, O, 0)
    put(out, derived_at(index, n.sections + 2).standing, 0.0)
    root = place_at(index, n.place0 + joint).link
    of_link.set_inertia(work, 0, inertias(index, params, work, n, False, False))
    mark(index, work, n, root)
    share, o = 1.0 / of_link.inertia(work, root)[0], middle(work, n)
    clear_rows(to, n)
    for iv in range(n.nv_tree):
        D = dof(index, n.dof0 + iv)
        k = D.link * LINK_WORK + LINK_MOMENTS
        inside, above = get(work, k), get(work, k + 1)
        I = of_link.inertia(work, D.link) * inside + of_link.inertia(work, root) * above
        S, x = direction(params, work, D), of_link.position(work, D.link) - o
        p = linear(S) * I[0] + cross(angular(S), Vec3(I[1], I[2], I[3]) - x * I[0])
        add(index, out, to, D, O.G, p * share)
    for r in range(n.lump0, n.lump1):
        M = lump(index, r)
        part = 0.5 * get(params, M.at) * share * get(work, M.common * LINK_WORK + LINK_MOMENTS)
        add_lump(index, params, work, out, n, O, M, M.a, end_of(params, work, M.a, M.at + 1), part, to)
        add_lump(index, params, work, out, n, O, M, M.b, end_of(params, work, M.b, M.at + 4), part, to)
    return OK
