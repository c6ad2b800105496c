"""Rate of change of the momentum matrix; and how the velocity of the centre of mass depends on the configuration."""

from __future__ import annotations

from . import layout as at
from ._jit import inline
from .layout import BODY_PARAMS
from .link_workspace import (
    add_link_inertia_rate,
    link_inertia,
    link_inertia_rate,
    link_position,
    link_rotation,
    link_velocity,
    set_link_inertia_rate,
)
from .links import carried, direction
from .simd import get, put, zero
from .spatial import angular, cross, join, linear, rigid_in_world, rigid_mul, zero_rigid
from .tree_columns import add_independent, clear
from .tree_masses import end_of, lumped, middle, spin_momentum
from .tree_views import dof, driver, entry, link, lump, spin_row
from .tuples import Rigid, Vec3, load3, load6


@inline
def inertia_rate(I, v):
    """Rate of change of a rigid-body inertia whose body has motion v: of mass, first moment, rotational inertia.

    Reads: I.
    """
    m, h, u, w = I[0], Vec3(I[1], I[2], I[3]), linear(v), angular(v)
    p = u * m + cross(w, h)
    uh = 2.0 * (u[0] * h[0] + u[1] * h[1] + u[2] * h[2])
    # w x J + (w x J)', J = ((a, b, c), (b, d, e), (c, e, f))
    a, b, c, d, e, f = I[4], I[5], I[6], I[7], I[8], I[9]
    return Rigid(
        m * 0.0, p[0], p[1], p[2],
        2.0 * (w[1] * c - w[2] * b) + uh - 2.0 * h[0] * u[0],
        w[1] * e - w[2] * d + w[2] * a - w[0] * c - h[0] * u[1] - h[1] * u[0],
        w[1] * f - w[2] * e + w[0] * b - w[1] * a - h[0] * u[2] - h[2] * u[0],
        2.0 * (w[2] * b - w[0] * e) + uh - 2.0 * h[1] * u[1],
        w[2] * c - w[0] * f + w[0] * d - w[1] * b - h[1] * u[2] - h[2] * u[1],
        2.0 * (w[0] * e - w[1] * c) + uh - 2.0 * h[2] * u[2],
    )  # fmt: skip


@inline
def point_inertia_rate(m, x, u):
    """The same of a point mass at x with velocity u."""
    p, h = u * m, x * m
    xx, yy, zz = 2.0 * h[0] * u[0], 2.0 * h[1] * u[1], 2.0 * h[2] * u[2]
    return Rigid(
        m * 0.0, p[0], p[1], p[2],
        yy + zz, -h[0] * u[1] - h[1] * u[0], -h[0] * u[2] - h[2] * u[0],
        xx + zz, -h[1] * u[2] - h[2] * u[1], xx + yy,
    )  # fmt: skip


@inline
def inertia_rates(index, params, work, n):
    """Rates of the inertias of links with all that they carry, about the first one; returns that of the whole.

    Reads: link_acceleration, link_inertia_rate, link_position, link_rotation, link_velocity.
    Writes: link_inertia_rate.
    """
    o, whole = middle(work, n), zero_rigid(zero(work))
    for b in range(1, n.links + 1):
        k, x = b * BODY_PARAMS, link_position(work, b) - o
        m, lever, I = get(params, k + at.MASS), load3(params, k + at.LEVER), load6(params, k + at.INERTIA)
        J = rigid_in_world(link_rotation(work, b), x, m, lever, I)
        set_link_inertia_rate(work, b, inertia_rate(J, carried(link_velocity(work, b), -x)))
    for r in range(n.lump0, n.lump1):
        M = lump(index, r)
        m, x, u, _ = lumped(params, work, M, 1)
        change = point_inertia_rate(m, x - o, u)
        if M.common > 0:
            add_link_inertia_rate(work, M.common, change)
        else:
            whole = whole + change
    for i in range(n.links):
        b = n.links - i
        L = link(index, b)
        if L.parent > 0:
            add_link_inertia_rate(work, L.parent, link_inertia_rate(work, b))
        else:
            whole = whole + link_inertia_rate(work, b)
    return whole


@inline
def seen_at(work, S, b, x):
    """Motion per unit of a velocity that moves link b, given at its origin, as seen at x.

    Reads: link_position.
    """
    return carried(S, x - link_position(work, b))


@inline
def lump_rates(index, params, work, out, n, A, E, M, b, c, u_c, from_center, x_rate, m):
    """Add the rate of the momentum of a point mass m that goes with point c of link b, but not with ``M.common``.

    u_c is the velocity of that point; from_center and x_rate, where the whole point mass is from the centre of mass,
    and its velocity relative to that.

    Reads: link, link_position, link_velocity, out.
    Writes: out.
    """
    x = link_position(work, b) + c
    while b != M.common:
        L = link(index, b)
        for iv in range(L.iv, L.iv + L.ndof):
            S = direction(params, work, dof(index, n.dof0 + iv))
            dS = seen_at(work, cross(link_velocity(work, b), S), b, x)
            p = linear(seen_at(work, S, b, x)) * m
            dp = (linear(dS) + cross(angular(S), u_c)) * m
            i = E.tree_dAg + 6 * iv
            put(out, i, load6(out, i) + join(dp, cross(x_rate, p) + cross(from_center, dp)))
        b = L.parent


@inline
def velocity_of_end(work, b, c):
    """Velocity of a point of a link.

    Reads: link_velocity.
    """
    v = link_velocity(work, b)
    return linear(v) + cross(angular(v), c)


@inline
def spin_column_rates(index, params, work, out, n, O, E):
    """Add what the spin of rotors that are no links changes.

    Reads: link_rotation, link_velocity, out.
    Writes: out.
    """
    for r in range(n.spin0, n.spin1):
        S = spin_row(index, r)
        s = spin_momentum(params, work, S)
        turn = cross(angular(link_velocity(work, S.link)), s)
        for i in range(S.driver0, S.driver1):
            F = driver(index, i)
            D = dof(index, n.dof0 + F.iv)
            for t in range(D.term0, D.term1):
                T = entry(index, t)
                h = turn * (get(params, F.at) * get(out, O.G + T.at))
                if n.loops == 1:
                    h = h + s * (get(params, F.at) * get(out, O.kept_rate + T.at))
                for k in range(3):
                    i_out = E.dAg + (3 + k) * n.nv + T.k
                    put(out, i_out, get(out, i_out) + h[k])


@inline
def momentum_matrix_rate(index, params, work, out, n, A, O, E):
    """Rate of change of the momentum matrix about the centre of mass; ``momentum_matrix`` comes before.

    Reads: link, link_acceleration, link_inertia, link_inertia_rate, link_position, link_rotation, link_velocity, out.
    Writes: link_inertia_rate, out.
    """
    o, c, mass = middle(work, n), load3(out, A.com), get(out, A.Ig)
    whole = inertia_rates(index, params, work, n)
    c_rate = Vec3(whole[1], whole[2], whole[3]) * (1.0 / mass)
    put(out, A.vcom, c_rate)
    for iv in range(n.nv_tree):
        D = dof(index, n.dof0 + iv)
        S, v = direction(params, work, D), link_velocity(work, D.link)
        I, change = link_inertia(work, D.link), link_inertia_rate(work, D.link)
        # about the first link, which stands still for this
        dS, S = seen_at(work, cross(v, S), D.link, o), seen_at(work, S, D.link, o)
        p, dh = linear(rigid_mul(I, S)), rigid_mul(I, dS) + rigid_mul(change, S)
        dp = linear(dh)
        put(out, E.tree_dAg + 6 * iv, join(dp, angular(dh) - cross(c - o, dp) - cross(c_rate, p)))
    for r in range(n.lump0, n.lump1):
        M = lump(index, r)
        m, x, u, _ = lumped(params, work, M, 1)
        ca, cb = end_of(params, work, M.a, M.at + 1), end_of(params, work, M.b, M.at + 4)
        ua, ub = velocity_of_end(work, M.a, ca), velocity_of_end(work, M.b, cb)
        lump_rates(index, params, work, out, n, A, E, M, M.a, ca, ua, x - c, u - c_rate, 0.5 * m)
        lump_rates(index, params, work, out, n, A, E, M, M.b, cb, ub, x - c, u - c_rate, 0.5 * m)
    clear(out, E.dAg, 6 * n.nv)
    add_independent(index, out, n, E.tree_dAg, 6, O.G, E.dAg)
    if n.loops == 1:
        add_independent(index, out, n, A.Ag, 6, O.kept_rate, E.dAg)
    spin_column_rates(index, params, work, out, n, O, E)
