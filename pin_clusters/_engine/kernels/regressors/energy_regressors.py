"""Regressors of both energies, and of the centre of mass: how they depend on the inertial parameters.

One pass outward places the links and, for the kinetic energy, moves them; then each parameter reads its link.
"""

from __future__ import annotations

from ..bodies.placements import unit_rotation
from ..compiling.jit import inline, paste
from ..numbers.simd import get, put, zero
from ..numbers.spatial import axis_of, cross, dot3, matmul3, rot, rot_t, zero3
from ..numbers.tuples import load3, load9
from ..tables import layout as at
from ..tables import regressor_views as row_of
from ..tables import regressor_workspace as own
from ..tables.layout import OK, WRONG_SIZE
from ..tables.tree_views import dof, driver
from .regressor_links import joint_moved, place_of, put_in_place, rates, sines_and_cosines


@inline
def start_links_of(work, O):
    """Set the universe: unit rotation, rest."""
    o = zero(work)
    own.set_rotation(work, 0, unit_rotation(o))
    own.set_position(work, 0, zero3(o))
    own.set_turn(work, 0, unit_rotation(o))
    own.set_speed(work, 0, zero3(o))
    own.set_rate(work, 0, zero3(o))
    put(work, O.base, unit_rotation(o))
    put(work, O.base + 9, zero3(o))


@inline
def move_link(index, params, work, out, v, n, O, b, L, R, d):
    """Write the velocity of a link: of its origin as a point, and of turning."""
    w_up = own.speed(work, L.parent)
    turn, along = zero3(zero(work)), own.rate(work, L.parent) + cross(w_up, d)
    for i in range(L.ndof):
        D = dof(index, n.dof0 + L.iv + i)
        rate, _ = rates(index, out, v, v, O, L.iv + i, D)
        put(work, O.v_tree + L.iv + i, rate)
        step = axis_of(R, D.axis) * rate
        if D.turns == 1:
            turn = turn + step
            if D.screw >= 0:
                along = along + step * get(params, D.screw)
        else:
            along = along + step
    own.set_speed(work, b, w_up + turn)
    own.set_rate(work, b, along)


@inline
def static_columns(index, params, work, n, O, static):
    """Write the columns of the centre of mass, three rows."""
    bodies, share = n.body1 - n.body0, get(params, O.mass)
    width, less = n.width - 6 * bodies, 6 * bodies
    R0, p0 = load9(work, O.base), load3(work, O.base + 9)
    for r in range(n.body0, n.body1):
        B = row_of.body(index, r)
        R, x = matmul3(R0, own.turn(work, B.link)), (p0 + rot(R0, own.position(work, B.link))) * share
        i = 4 * (r - n.body0)
        put(static, i, (x[0], R[0] * share, R[1] * share, R[2] * share))
        put(static, i + width, (x[1], R[3] * share, R[4] * share, R[5] * share))
        put(static, i + 2 * width, (x[2], R[6] * share, R[7] * share, R[8] * share))
    for i in range(4 * bodies, width):
        for row in range(3):
            put(static, row * width + i, zero(work))
    for r in range(n.rod0, n.rod1):
        D = row_of.rod(index, r)
        x, i = (p0 + rot(R0, centre_of_rod(params, work, D))) * share, D.column - less
        put(static, i, x[0])
        put(static, width + i, x[1])
        put(static, 2 * width + i, x[2])


@inline
def centre_of_rod(params, work, D):
    """Centre of mass of a rod."""
    x, y = place_of(work, D.a, load3(params, D.at)), place_of(work, D.b, load3(params, D.at + 3))
    both = get(params, D.at + 8)
    return x * (get(params, D.at + 6) + both) + y * (get(params, D.at + 7) + both)


@inline
def potential_columns(index, params, work, n, O, potential):
    """Write the columns of the potential energy."""
    up, o = load3(params, at.MINUS_GRAVITY), zero(work)
    level, up = dot3(up, load3(work, O.base + 9)), rot_t(load9(work, O.base), up)
    for i in range(n.width):
        put(potential, i, o)
    for r in range(n.body0, n.body1):
        B = row_of.body(index, r)
        g = rot_t(own.turn(work, B.link), up)
        put(potential, B.column, (level + dot3(up, own.position(work, B.link)), g[0], g[1], g[2]))
    for r in range(n.rod0, n.rod1):
        D = row_of.rod(index, r)
        put(potential, D.column, level + dot3(up, centre_of_rod(params, work, D)))


@inline
def kinetic_columns(index, params, work, n, O, kinetic):
    """Write the columns of the kinetic energy."""
    for r in range(n.body0, n.body1):
        B = row_of.body(index, r)
        R, i = own.turn(work, B.link), B.column
        u, w = rot_t(R, own.rate(work, B.link)), rot_t(R, own.speed(work, B.link))
        moment = cross(u, w)
        put(kinetic, i, (0.5 * dot3(u, u), moment[0], moment[1], moment[2]))
        xx, yy, zz = 0.5 * w[0] * w[0], 0.5 * w[1] * w[1], 0.5 * w[2] * w[2]
        put(kinetic, i + 4, (xx, w[0] * w[1], yy, w[0] * w[2], w[1] * w[2], zz))
    for r in range(n.spin0, n.spin1):
        S, rho = row_of.spin(index, r), zero(work)
        for t in range(S.driver0, S.driver1):
            D = driver(index, t)
            rho += get(params, D.at) * get(work, O.v_tree + D.iv)
        eta = rot(own.turn(work, S.link), load3(params, S.at))
        put(kinetic, S.column, rho * (dot3(eta, own.speed(work, S.link)) + 0.5 * rho))
    for r in range(n.armature0, n.armature1):
        M = row_of.armature(index, r)
        rate = get(work, O.v_tree + M.iv)
        put(kinetic, M.column, 0.5 * rate * rate)
    for r in range(n.rod0, n.rod1):
        D = row_of.rod(index, r)
        x, y = rate_of(work, D.a, load3(params, D.at)), rate_of(work, D.b, load3(params, D.at + 3))
        own_a, own_b, both = get(params, D.at + 6), get(params, D.at + 7), get(params, D.at + 8)
        put(kinetic, D.column, 0.5 * (own_a * dot3(x, x) + own_b * dot3(y, y)) + both * dot3(x, y))


@inline
def rate_of(work, b, point):
    """Velocity of a point of a link that is given in its joint frame."""
    return own.rate(work, b) + cross(own.speed(work, b), rot(own.turn(work, b), point))


@paste
def energy_regressors(index, params, work, out, q, v, static, kinetic, potential):
    """Write the regressors that there is room for; G is in out, the tree's, for the kinetic energy.

    Args:
        v: Independent velocities; may be empty without kinetic.
        static: By rows, 3 x (width less 6 per body); or empty.
        kinetic, potential: ``width`` numbers, or empty.
    """
    n = row_of.head(index, 0)
    O = row_of.room(index, n.room)
    moves = kinetic.shape[0] > 0
    if q.shape[0] != n.nq or (moves and v.shape[0] != n.nv):
        return WRONG_SIZE
    start_links_of(work, O)
    sines_and_cosines(work, q, n, O)
    for b in range(1, n.links + 1):
        L = row_of.link(index, b)
        R, d = joint_moved(params, work, q, O, b, L)
        if n.base == 1 and b == 1:  # its own frame is the world below it
            put(work, O.base, R)
            put(work, O.base + 9, d)
            R, d = unit_rotation(zero(work)), zero3(zero(work))
        put_in_place(params, work, b, L, R, d)
        if moves:
            move_link(index, params, work, out, v, n, O, b, L, R, d)
    if static.shape[0] > 0:
        static_columns(index, params, work, n, O, static)
    if moves:
        kinetic_columns(index, params, work, n, O, kinetic)
    if potential.shape[0] > 0:
        potential_columns(index, params, work, n, O, potential)
    return OK
