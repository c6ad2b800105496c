"""Regressors of kinetic energy, potential energy and centre of mass, with one column per inertial parameter."""

from ...compiler.numba_jit.jit import inline, paste
from ..directions import Out
from ..numbers.memory import get, put, put_zeros
from ..numbers.spatial import add_angular, angular, column, cross, dot3, linear, point_velocity, rot_t
from ..numbers.tuples import load3
from ..tables import layout as at
from ..tables import link_workspace as of_link
from ..tables import regressor_views as row_of
from ..tables.layout import OK, WRONG_SIZE
from ..tables.regressor_layout import PARAMETERS
from ..tables.views import link, own_at, spin_row, tree_header_at
from ..tree.link_motions import carried, put_in_place, start_links
from ..tree.masses import driven
from ..tree.motion import along_joint, spread
from .regressor_links import arm, joint_moved, sines_and_cosines


@inline
def static_columns(index, params, work, H, static: Out):
    bodies, share = H.body1 - H.body0, get(params, H.mass)
    width = H.width - 6 * bodies
    for r in range(H.body0, H.body1):
        B, i = row_of.body(index, r), 4 * (r - H.body0)
        R, x = of_link.turn(work, B.link), of_link.position(work, B.link) * share
        put(static, i, (x[0], R[0] * share, R[1] * share, R[2] * share))
        put(static, i + width, (x[1], R[3] * share, R[4] * share, R[5] * share))
        put(static, i + 2 * width, (x[2], R[6] * share, R[7] * share, R[8] * share))
    for row in range(3):
        put_zeros(static, row * width + 4 * bodies, width - 4 * bodies)
    for r in range(H.rod0, H.rod1):
        D = row_of.rod(index, r)
        x, i = centre_of_rod(params, work, D) * share, D.column - 6 * bodies
        put(static, i, x[0])
        put(static, width + i, x[1])
        put(static, 2 * width + i, x[2])


@inline
def centre_of_rod(params, work, D):
    x = of_link.position(work, D.a) + arm(work, D.a, load3(params, D.at))
    y = of_link.position(work, D.b) + arm(work, D.b, load3(params, D.at + 3))
    shared = get(params, D.at + 8)
    return x * (get(params, D.at + 6) + shared) + y * (get(params, D.at + 7) + shared)


@inline
def potential_columns(index, params, work, H, potential: Out):
    """Write the columns of the potential energy: -g . x and -R' g for a body with pose R, x under gravity g."""
    up, o, first_rod = load3(params, at.MINUS_GRAVITY), 0.0, PARAMETERS * (H.body1 - H.body0)
    for r in range(H.body0, H.body1):
        B = row_of.body(index, r)
        g = rot_t(of_link.turn(work, B.link), up)
        put(potential, B.column, (dot3(up, of_link.position(work, B.link)), g[0], g[1], g[2], o, o, o, o, o, o))
    put_zeros(potential, first_rod, H.width - first_rod)
    for r in range(H.rod0, H.rod1):
        D = row_of.rod(index, r)
        put(potential, D.column, dot3(up, centre_of_rod(params, work, D)))


@inline
def kinetic_columns(index, params, work, O, H, kinetic: Out):
    """Write the columns of the kinetic energy: u . u / 2, u x w, products of w, for velocity [u; w] in body axes."""
    for r in range(H.body0, H.body1):
        B = row_of.body(index, r)
        R, v, i = of_link.turn(work, B.link), of_link.velocity(work, B.link), B.column
        u, w = rot_t(R, linear(v)), rot_t(R, angular(v))
        moment = cross(u, w)
        put(kinetic, i, (0.5 * dot3(u, u), moment[0], moment[1], moment[2]))
        xx, yy, zz = 0.5 * w[0] * w[0], 0.5 * w[1] * w[1], 0.5 * w[2] * w[2]
        put(kinetic, i + 4, (xx, w[0] * w[1], yy, w[0] * w[2], w[1] * w[2], zz))
    for r in range(H.spin0, H.spin1):
        P = row_of.spin(index, r)
        S = spin_row(index, P.tree)
        rho, eta = driven(index, params, work, S, O.v_tree), arm(work, S.link, load3(params, P.at))
        put(kinetic, P.column, rho * (dot3(eta, angular(of_link.velocity(work, S.link))) + 0.5 * rho))
    for r in range(H.armature0, H.armature1):
        M = row_of.armature(index, r)
        rate = get(work, O.v_tree + M.iv)
        put(kinetic, M.column, 0.5 * rate * rate)
    for r in range(H.rod0, H.rod1):
        D = row_of.rod(index, r)
        x = point_velocity(of_link.velocity(work, D.a), arm(work, D.a, load3(params, D.at)))
        y = point_velocity(of_link.velocity(work, D.b), arm(work, D.b, load3(params, D.at + 3)))
        square_a, square_b, shared = get(params, D.at + 6), get(params, D.at + 7), get(params, D.at + 8)
        put(kinetic, D.column, 0.5 * (square_a * dot3(x, x) + square_b * dot3(y, y)) + shared * dot3(x, y))


@paste
def energy_regressors(index, params, work, out, q, v, static: Out, kinetic: Out, potential: Out):
    """Write each regressor whose array is not empty; the kinetic energy requires that ``out`` contains G.

    ``v`` can be empty if ``kinetic`` is empty. ``static`` is 3 x (width - 6 x bodies), row-major, or empty. ``kinetic``
    and ``potential`` have ``width`` entries or are empty.
    """
    n = tree_header_at(index, 0)
    O, H, moves = own_at(index, n.sections + 1), row_of.head(index, n.place1), kinetic.shape[0] > 0
    if q.shape[0] != n.nq or (moves and v.shape[0] != n.nv):
        return WRONG_SIZE
    start_links(work)
    sines_and_cosines(work, q, n, H)
    if moves:
        spread(index, work, out, v, n, O, O.v_tree, -1)
    for b in range(1, n.links + 1):
        L = link(index, b)
        R, d = joint_moved(params, work, q, H, b, L)
        put_in_place(params, work, b, L, R, d)
        if moves:
            vel = carried(of_link.velocity(work, L.parent), d)
            if L.kind == at.REVOLUTE or L.kind == at.CONTINUOUS:  # a fast path for the most frequent kinds of joints
                vel = add_angular(vel, column(R, 2) * get(work, O.v_tree + L.iv))
            else:
                vel = vel + along_joint(index, params, work, n, L, O.v_tree)
            of_link.set_velocity(work, b, vel)
    if static.shape[0] > 0:
        static_columns(index, params, work, H, static)
    if moves:
        kinetic_columns(index, params, work, O, H, kinetic)
    if potential.shape[0] > 0:
        potential_columns(index, params, work, H, potential)
    return OK
