"""Momentum matrix Ag, Jacobian of the centre of mass, and the robot's inertia about the centre of mass."""

from ...compiler.numba_jit.jit import inline
from ..numbers.memory import get, put, put_zeros
from ..numbers.tuples import Rigid, Vec3, load3, load6
from ..tables import layout as at
from ..tables import link_workspace as of_link
from ..tables.layout import BODY_PARAMS
from ..tables.tree_layout import JCOM, MAP, MAP_RATE, MOMENTUM, WHOLE, WORLD
from ..tables.views import dof, driver, entry, link, lump, spin_row
from .independent_columns import add_independent
from .link_motions import carried, direction
from .masses import end_of, lumped, middle, spin_momentum

from ..numbers.spatial import angular, cross, join, linear, point_inertia  # isort: skip
from ..numbers.spatial import rigid_in_world, rigid_mul, rot, zero3, zero_rigid  # isort: skip
from ..directions import Out


@inline
def rate_of_inertia(I, v):
    m, h, u, w = I[0], Vec3(I[1], I[2], I[3]), linear(v), angular(v)
    p = u * m + cross(w, h)
    uh = 2.0 * (u[0] * h[0] + u[1] * h[1] + u[2] * h[2])
    # The rotational part is w x J + (w x J)^T, where J = ((a, b, c), (b, d, e), (c, e, f)), plus the terms in u.
    a, b, c, d, e, f = I[4], I[5], I[6], I[7], I[8], I[9]
    return Rigid(
        m * 0.0,
        p[0],
        p[1],
        p[2],
        2.0 * (w[1] * c - w[2] * b) + uh - 2.0 * h[0] * u[0],
        w[1] * e - w[2] * d + w[2] * a - w[0] * c - h[0] * u[1] - h[1] * u[0],
        w[1] * f - w[2] * e + w[0] * b - w[1] * a - h[0] * u[2] - h[2] * u[0],
        2.0 * (w[2] * b - w[0] * e) + uh - 2.0 * h[1] * u[1],
        w[2] * c - w[0] * f + w[0] * d - w[1] * b - h[1] * u[2] - h[2] * u[1],
        2.0 * (w[0] * e - w[1] * c) + uh - 2.0 * h[2] * u[2],
    )


@inline
def rate_of_point(m, x, u):
    p, h = u * m, x * m
    xx, yy, zz = 2.0 * h[0] * u[0], 2.0 * h[1] * u[1], 2.0 * h[2] * u[2]
    return Rigid(
        m * 0.0,
        p[0],
        p[1],
        p[2],
        yy + zz,
        -h[0] * u[1] - h[1] * u[0],
        -h[0] * u[2] - h[2] * u[0],
        xx + zz,
        -h[1] * u[2] - h[2] * u[1],
        xx + yy,
    )


@inline
def lump_columns(index, params, work, out: Out, n, A, b, c, common, m, from_common, share, what):
    """Add the momentum of a point mass m at point c of link b to the columns of the joints from b to ``common``.

    ``from_common`` is the vector from the robot's centre of mass to the lump (the mean of its two points).
    """
    x = of_link.position(work, b) + c
    while b != common:
        L = link(index, b)
        for iv in range(L.iv, L.iv + L.ndof):
            S = direction(params, work, dof(index, n.dof0 + iv))
            p = (linear(S) + cross(angular(S), x - of_link.position(work, b))) * m
            if what & MAP:
                i = A.Ag + 6 * iv
                put(out, i, load6(out, i) + join(p, cross(from_common, p)))
            if what & JCOM:
                k = A.Jcom + 3 * iv
                put(out, k, load3(out, k) + p * share)
        b = L.parent


@inline
def inertias(index, params, work, n, turning, rates):
    """Write the inertia of each link's subtree about the first link's origin; return the robot's inertia.

    Without ``turning``, compute only masses and first moments. If ``rates``, also write the time derivatives; the
    record of link 0 then contains the time derivative for the whole robot.
    """
    o, total = middle(work, n), zero_rigid()
    of_link.set_inertia_rate(work, 0, total)
    for b in range(1, n.links + 1):
        k = b * BODY_PARAMS
        x = of_link.position(work, b) - o
        R, m, lever = of_link.rotation(work, b), get(params, k + at.MASS), load3(params, k + at.LEVER)
        if turning:
            I = rigid_in_world(R, x, m, lever, load6(params, k + at.INERTIA))
            of_link.set_inertia(work, b, I)
            if rates:
                of_link.set_inertia_rate(work, b, rate_of_inertia(I, carried(of_link.velocity(work, b), -x)))
        else:
            h, e = (x + rot(R, lever)) * m, 0.0
            of_link.set_inertia(work, b, Rigid(m, h[0], h[1], h[2], e, e, e, e, e, e))
    for r in range(n.lump0, n.lump1):
        M = lump(index, r)
        m, x, u, _ = lumped(params, work, M, min(rates, 1))
        if rates:
            of_link.add_inertia_rate(work, M.common, rate_of_point(m, x - o, u))
        if M.common > 0:
            of_link.add_inertia(work, M.common, point_inertia(m, x - o))
        else:
            total = total + point_inertia(m, x - o)
    for i in range(n.links):
        b = n.links - i
        L = link(index, b)
        if rates:
            of_link.add_inertia_rate(work, L.parent, of_link.inertia_rate(work, b))
        if L.parent > 0:
            of_link.add_inertia(work, L.parent, of_link.inertia(work, b))
        else:
            total = total + of_link.inertia(work, b)
    return total


@inline
def multiply(out: Out, at, rows, columns, x, to):
    for r in range(rows):
        total = 0.0
        for k in range(columns):
            total += get(out, at + r * columns + k) * get(x, k)
        put(out, to + r, total)


@inline
def spin_columns(index, params, work, out: Out, n, O, to, rates):
    """Add spin momenta s r of lumped rotors to the momentum matrix, or w x s r + s dr/dt to its rate if ``rates``."""
    for r in range(n.spin0, n.spin1):
        S = spin_row(index, r)
        s = spin_momentum(params, work, S)
        by_G = cross(angular(of_link.velocity(work, S.link)), s) if rates else s
        for i in range(S.driver0, S.driver1):
            E = driver(index, i)
            D = dof(index, n.dof0 + E.iv)
            for t in range(D.term0, D.term1):
                T = entry(index, t)
                h = by_G * (get(params, E.at) * get(out, O.G + T.at))
                if rates and n.loops == 1:
                    h = h + s * (get(params, E.at) * get(out, O.kept_rate + T.at))
                for k in range(3):
                    i_out = to + (3 + k) * n.nv + T.k
                    put(out, i_out, get(out, i_out) + h[k])


@inline
def momentum_matrix(index, params, work, out: Out, v, n, A, O, what, level):
    """Write com, Ig and, if requested, Ag, hg and Jcom; with WORLD, also write com of the subtrees in the world."""
    o, robot = middle(work, n), inertias(index, params, work, n, what & (MAP | WHOLE), what & MAP_RATE)
    m = robot[0] + get(params, at.MASS)
    share = 1.0 / m
    c = Vec3(robot[1], robot[2], robot[3]) * share
    put(out, A.com, o + c)
    for iv in range(n.nv_tree):
        D = dof(index, n.dof0 + iv)
        S = carried(direction(params, work, D), o + c - of_link.position(work, D.link))
        I = of_link.inertia(work, D.link)
        # p is the linear momentum of the subtree per unit velocity; moments are about the robot's centre of mass.
        d = Vec3(I[1], I[2], I[3]) - c * I[0]
        p = linear(S) * I[0] + cross(angular(S), d)
        if what & MAP:
            put(out, A.Ag + 6 * iv, join(p, angular(rigid_mul(I, carried(S, -c))) - cross(c, p)))
        if what & JCOM:
            put(out, A.Jcom + 3 * iv, p * share)
    for r in range(n.lump0, n.lump1):
        M = lump(index, r)
        m_lump, x, _, _ = lumped(params, work, M, 0)
        x = x - o - c
        ca, cb = end_of(params, work, M.a, M.at + 1), end_of(params, work, M.b, M.at + 4)
        lump_columns(index, params, work, out, n, A, M.a, ca, M.common, 0.5 * m_lump, x, share, what)
        lump_columns(index, params, work, out, n, A, M.b, cb, M.common, 0.5 * m_lump, x, share, what)
    if what & MAP:
        put_zeros(out, O.Ag, 6 * n.nv)
        add_independent(index, out, n, A.Ag, 6, O.G, O.Ag)
        spin_columns(index, params, work, out, n, O, O.Ag, False)
        if what & MOMENTUM and level > 0:
            multiply(out, O.Ag, 6, n.nv, v, A.hg)
    if what & JCOM:
        put_zeros(out, O.Jcom, 3 * n.nv)
        add_independent(index, out, n, A.Jcom, 3, O.G, O.Jcom)
    if what & WORLD:
        for b in range(1, n.links + 1):
            j, I = link(index, b).joint, of_link.inertia(work, b)
            if j > 0:
                put(out, A.com + 3 * j, o + Vec3(I[1], I[2], I[3]) * (1.0 / I[0]))
    xx, yy, zz = m * c[0] * c[0], m * c[1] * c[1], m * c[2] * c[2]
    put(out, A.Ig, m)
    put(out, A.Ig + 1, zero3())
    put(out, A.Ig + 4, Vec3(robot[4] - yy - zz, robot[5] + m * c[0] * c[1], robot[7] - xx - zz))
    put(out, A.Ig + 7, Vec3(robot[6] + m * c[0] * c[2], robot[8] + m * c[1] * c[2], robot[9] - xx - yy))
