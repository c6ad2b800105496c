"""Time derivative of the momentum matrix."""

from ...compiler.numba_jit.jit import inline
from ..directions import Out
from ..numbers.memory import get, put, put_zeros
from ..numbers.spatial import angular, cross, join, linear, point_velocity, rigid_mul
from ..numbers.tuples import Vec3, load3, load6
from ..tables import link_workspace as of_link
from ..tables.views import dof, link, lump
from .independent_columns import add_independent
from .link_motions import carried, direction
from .masses import end_of, lumped, middle
from .momentum_matrix import spin_columns


@inline
def seen_at(work, S, b, x):
    return carried(S, x - of_link.position(work, b))


@inline
def lump_rates(index, params, work, out: Out, n, A, E, M, b, c, u_c, from_center, x_rate, m):
    """Add the momentum rate of a point mass m at point c of link b to the columns of joints from b to ``M.common``.

    u_c is the velocity of c. from_center and x_rate are position and velocity of the lump (the mean of its two points)
    relative to the centre of mass of the robot.
    """
    x = of_link.position(work, b) + c
    while b != M.common:
        L = link(index, b)
        for iv in range(L.iv, L.iv + L.ndof):
            S = direction(params, work, dof(index, n.dof0 + iv))
            dS = seen_at(work, cross(of_link.velocity(work, b), S), b, x)
            p = linear(seen_at(work, S, b, x)) * m
            dp = (linear(dS) + cross(angular(S), u_c)) * m
            i = E.tree_dAg + 6 * iv
            put(out, i, load6(out, i) + join(dp, cross(x_rate, p) + cross(from_center, dp)))
        b = L.parent


@inline
def momentum_matrix_rate(index, params, work, out: Out, n, A, O, E):
    """Write dAg/dt about the centre of mass; call ``momentum_matrix`` first.

    For each joint, d(I S)/dt = I dS + dI/dt S, where I is the inertia of its subtree and dS = v x S.
    """
    o, c, mass = middle(work, n), load3(out, A.com), get(out, A.Ig)
    robot_rate = of_link.inertia_rate(work, 0)
    c_rate = Vec3(robot_rate[1], robot_rate[2], robot_rate[3]) * (1.0 / mass)
    put(out, A.vcom, c_rate)
    for iv in range(n.nv_tree):
        D = dof(index, n.dof0 + iv)
        S, v = direction(params, work, D), of_link.velocity(work, D.link)
        I, change = of_link.inertia(work, D.link), of_link.inertia_rate(work, D.link)
        # Moments are taken about the point that coincides with the first link's origin and is fixed in the world.
        dS, S = seen_at(work, cross(v, S), D.link, o), seen_at(work, S, D.link, o)
        p, dh = linear(rigid_mul(I, S)), rigid_mul(I, dS) + rigid_mul(change, S)
        dp = linear(dh)
        put(out, E.tree_dAg + 6 * iv, join(dp, angular(dh) - cross(c - o, dp) - cross(c_rate, p)))
    for r in range(n.lump0, n.lump1):
        M = lump(index, r)
        m, x, u, _ = lumped(params, work, M, 1)
        ca, cb = end_of(params, work, M.a, M.at + 1), end_of(params, work, M.b, M.at + 4)
        ua, ub = point_velocity(of_link.velocity(work, M.a), ca), point_velocity(of_link.velocity(work, M.b), cb)
        lump_rates(index, params, work, out, n, A, E, M, M.a, ca, ua, x - c, u - c_rate, 0.5 * m)
        lump_rates(index, params, work, out, n, A, E, M, M.b, cb, ub, x - c, u - c_rate, 0.5 * m)
    put_zeros(out, E.dAg, 6 * n.nv)
    add_independent(index, out, n, E.tree_dAg, 6, O.G, E.dAg)
    if n.loops == 1:
        add_independent(index, out, n, A.Ag, 6, O.kept_rate, E.dAg)
    spin_columns(index, params, work, out, n, O, E.dAg, True)
