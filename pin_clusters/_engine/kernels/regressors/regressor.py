"""Regressor of the joint torques: how they depend on the inertial parameters, in which they are linear.

One pass outward places the links, and writes the force that a unit of each parameter of a body needs; then each
velocity that moves the body takes its share. The numbers of a row lie side by side: a pack takes as many as a register
holds.
"""

from __future__ import annotations

from ..compiling.jit import inline, paste
from ..numbers.neighbours import PAIR, get_pack, get_pair, put_pack, put_pair
from ..numbers.simd import LANES, get, increase, put, zero
from ..numbers.spatial import angular, cross, dot3, point_velocity, rot
from ..numbers.tuples import load3, load6
from ..tables import regressor_views as row_of
from ..tables import regressor_workspace as own
from ..tables.addresses import seen
from ..tables.layout import OK, WRONG_SIZE
from ..tables.regressor_layout import PARAMETERS
from ..tables.tree_views import dof, driver, entry
from .regressor_links import (
    forces_of_parameters,
    place_of,
    pull_at,
    sines_and_cosines,
    start_regressor,
    step_outward,
)

WHOLE = PARAMETERS // LANES * LANES  # the rest is pairs: few of these cross a line of the cache


def rows_with(get_some, put_some):
    """Make what writes some neighbouring columns of a body, of which ``get_some`` reads one pack."""
    unit_force, unit_moment = own.unit_force_with(get_some), own.unit_moment_with(get_some)

    @inline
    def columns_of_body(index, work, n, O, B, j):
        """Write what the parameters from the jth on give to the rows of all velocities that move the body."""
        R, x = own.turn(work, B.link), own.position(work, B.link)
        f0, f1, f2 = unit_force(work, B.link, j)
        m0, m1, m2 = unit_moment(work, B.link, j)
        u0 = f0 * R[0] + f1 * R[1] + f2 * R[2]
        u1 = f0 * R[3] + f1 * R[4] + f2 * R[5]
        u2 = f0 * R[6] + f1 * R[7] + f2 * R[8]
        w0 = m0 * R[0] + m1 * R[1] + m2 * R[2] + u2 * x[1] - u1 * x[2]
        w1 = m0 * R[3] + m1 * R[4] + m2 * R[5] + u0 * x[2] - u2 * x[0]
        w2 = m0 * R[6] + m1 * R[7] + m2 * R[8] + u1 * x[0] - u0 * x[1]
        at = O.Y + B.column + j
        if n.base == 1:
            put_some(work, at, u0)
            put_some(work, at + n.width, u1)
            put_some(work, at + 2 * n.width, u2)
            put_some(work, at + 3 * n.width, w0)
            put_some(work, at + 4 * n.width, w1)
            put_some(work, at + 5 * n.width, w2)
        for t in range(B.pair0, B.pair1):
            P = row_of.pair(index, t)
            J = load6(work, P.at)
            row = u0 * J[0] + u1 * J[1] + u2 * J[2] + w0 * J[3] + w1 * J[4] + w2 * J[5]
            put_some(work, at + P.k * n.width, row)

    return columns_of_body


columns_of_body = rows_with(get_pack, put_pack)
two_columns_of_body = rows_with(get_pair, put_pair)


@inline
def column_of_rotor(index, params, work, out, n, O, S):
    """Write the column of the axial inertia of a rotor that is no body: what it has beyond the locked one; (S1)."""
    rho, rise = zero(work), zero(work)
    for t in range(S.driver0, S.driver1):
        D = driver(index, t)
        ratio = get(params, D.at)
        rho += ratio * get(work, O.v_tree + D.iv)
        rise += ratio * get(work, O.a_tree + D.iv)
    eta = rot(own.turn(work, S.link), load3(params, S.at))
    moment = eta * rise + cross(own.speed(work, S.link), eta) * rho
    for t in range(S.pair0, S.pair1):
        P = row_of.pair(index, t)
        put(work, O.Y + P.k * n.width + S.column, dot3(angular(load6(work, P.at)), moment))
    torque = rise + dot3(eta, own.gain(work, S.link))
    for t in range(S.term0, S.term1):
        T = row_of.turn(index, t)
        increase(work, O.Y + T.k * n.width + S.column, get(params, T.at) * get(out, T.at_G) * torque)


@inline
def column_of_rod(index, params, work, n, O, D):
    """Write the column of the mass of a rod: velocities along it are linear, so that three shares of it count.

    They are those of the squares of both ends' velocities and of their product, in twice the kinetic energy: 1/3, 1/3
    and 1/6 of a slender rod.
    """
    x, y = place_of(work, D.a, load3(params, D.at)), place_of(work, D.b, load3(params, D.at + 3))
    of_a, of_b = pull_at(work, D.a, x), pull_at(work, D.b, y)
    own_a, own_b, both = get(params, D.at + 6), get(params, D.at + 7), get(params, D.at + 8)
    f, g = of_a * own_a + of_b * both, of_b * own_b + of_a * both
    for t in range(D.pair0, D.pair1):
        P = row_of.pair(index, t)
        put(work, O.Y + P.k * n.width + D.column, zero(work))
    for t in range(D.a0, D.a1):
        P = row_of.pair(index, t)
        increase(work, O.Y + P.k * n.width + D.column, dot3(point_velocity(load6(work, P.at), x), f))
    for t in range(D.b0, D.b1):
        P = row_of.pair(index, t)
        increase(work, O.Y + P.k * n.width + D.column, dot3(point_velocity(load6(work, P.at), y), g))


@inline
def copied(work, n, O, result):
    """Copy the regressor to a matrix; returns whether it has that shape."""
    if result.shape[0] != n.nv or result.shape[1] != n.width:
        return False
    flat, size = seen(result.ctypes.data, result.size), n.nv * n.width
    for i in range(0, size - LANES, LANES):
        put_pack(flat, i, get_pack(work, O.Y + i))
    if size > 0:  # a body has more parameters than a register has numbers
        put_pack(flat, size - LANES, get_pack(work, O.Y + size - LANES))
    return True


@paste
def regressor(index, params, work, out, q, v, a, result):
    """Write the regressor of the joint torques, shape (nv, width), to work and to result; G and its bias are in out."""
    n = row_of.head(index, 0)
    O = row_of.room(index, n.room)
    if q.shape[0] != n.nq or v.shape[0] != n.nv or a.shape[0] != n.nv:
        return WRONG_SIZE
    start_regressor(params, work)
    sines_and_cosines(work, q, n, O)
    for b in range(1, n.links + 1):
        L = row_of.link(index, b)
        step_outward(index, params, work, out, q, v, a, n, O, b, L)
        if L.body == 1:
            forces_of_parameters(work, b)
    for r in range(n.body0, n.body1):
        B = row_of.body(index, r)
        for j in range(0, WHOLE, LANES):
            columns_of_body(index, work, n, O, B, j)
        for j in range(WHOLE, PARAMETERS, PAIR):
            two_columns_of_body(index, work, n, O, B, j)
    for r in range(n.spin0, n.spin1):
        column_of_rotor(index, params, work, out, n, O, row_of.spin(index, r))
    for r in range(n.armature0, n.armature1):
        M = row_of.armature(index, r)
        D, rise = dof(index, n.dof0 + M.iv), get(work, O.a_tree + M.iv)
        for t in range(D.term0, D.term1):
            T = entry(index, t)
            put(work, O.Y + T.k * n.width + M.column, get(out, O.G + T.at) * rise)
    for r in range(n.rod0, n.rod1):
        column_of_rod(index, params, work, n, O, row_of.rod(index, r))
    return OK if copied(work, n, O, result) else WRONG_SIZE
