"""Regressor of the joint torques, which are linear in the inertial parameters; equations (Y1), (Y2).

One outward pass computes the poses and motions of the links. The kernel then computes the force per unit of each
parameter of a body and projects it onto each velocity that moves the body. In each row, the entries for a body's
parameters are adjacent and are computed at once.
"""

from ...compiler.numba_jit.jit import inline, paste
from ..numbers.memory import get, increase, put, put_copy
from ..numbers.spatial import angular, cross, dot3, point_velocity
from ..numbers.tuples import load3, load6
from ..tables import layout as at
from ..tables import link_workspace as of_link
from ..tables import regressor_views as row_of
from ..tables import regressor_workspace as own
from ..tables.addresses import seen
from ..tables.layout import OK, WRONG_SIZE
from ..tables.regressor_layout import PARAMETERS
from ..tables.views import dof, driver, entry, link, own_at, spin_row, tree_header_at
from ..tree.link_motions import start_links
from ..tree.masses import driven
from .regressor_links import arm, forces_of_parameters, sines_and_cosines, step_outward


@inline
def columns_of_body(index, work, H, r):
    """Write the columns (Y1) of the body in table row r, for all velocities that move the body."""
    B, forces = row_of.body(index, r), own.forces_at(H, r)
    R, x = of_link.turn(work, B.link), of_link.position(work, B.link)
    f0, f1, f2 = own.three_rows(work, forces)
    m0, m1, m2 = own.three_rows(work, forces + 3 * PARAMETERS)
    u0 = f0 * R[0] + f1 * R[1] + f2 * R[2]
    u1 = f0 * R[3] + f1 * R[4] + f2 * R[5]
    u2 = f0 * R[6] + f1 * R[7] + f2 * R[8]
    w0 = m0 * R[0] + m1 * R[1] + m2 * R[2] + u2 * x[1] - u1 * x[2]
    w1 = m0 * R[3] + m1 * R[4] + m2 * R[5] + u0 * x[2] - u2 * x[0]
    w2 = m0 * R[6] + m1 * R[7] + m2 * R[8] + u1 * x[0] - u0 * x[1]
    first = H.Y + B.column
    if H.base == 1:
        put(work, first, u0)
        put(work, first + H.width, u1)
        put(work, first + 2 * H.width, u2)
        put(work, first + 3 * H.width, w0)
        put(work, first + 4 * H.width, w1)
        put(work, first + 5 * H.width, w2)
    for t in range(B.pair0, B.pair1):
        P = row_of.pair(index, t)
        J = load6(work, P.at)
        row = u0 * J[0] + u1 * J[1] + u2 * J[2] + w0 * J[3] + w1 * J[4] + w2 * J[5]
        put(work, first + P.k * H.width, row)


@inline
def column_of_rotor(index, params, work, out, n, O, H, P):
    """Write the column (Y2) for the axial inertia of a rotor that is lumped into its carrier."""
    S = spin_row(index, P.tree)
    rho, rise = driven(index, params, work, S, O.v_tree), driven(index, params, work, S, O.a_tree)
    eta = arm(work, S.link, load3(params, P.at))
    moment = eta * rise + cross(own.speed(work, S.link), eta) * rho
    for t in range(P.pair0, P.pair1):
        V = row_of.pair(index, t)
        put(work, H.Y + V.k * H.width + P.column, dot3(angular(load6(work, V.at)), moment))
    torque = rise + dot3(eta, own.gain(work, S.link))
    for i in range(S.driver0, S.driver1):
        driven_by = driver(index, i)
        D = dof(index, n.dof0 + driven_by.iv)
        for t in range(D.term0, D.term1):
            T = entry(index, t)
            share = get(params, driven_by.at) * get(out, O.G + T.at)
            increase(work, H.Y + T.k * H.width + P.column, share * torque)


@inline
def column_of_rod(index, params, work, H, D):
    """Write the column for the mass of a rod.

    The velocity varies linearly along a rod. The kinetic energy is therefore a sum of three terms: the squares of both
    end velocities, and twice their product. For unit mass, twice the kinetic energy of a slender rod has the
    coefficients 1/3, 1/3 and 1/6.
    """
    x, of_a = place_and_pull(work, D.a, load3(params, D.at))
    y, of_b = place_and_pull(work, D.b, load3(params, D.at + 3))
    own_a, own_b, shared = get(params, D.at + 6), get(params, D.at + 7), get(params, D.at + 8)
    f, g = of_a * own_a + of_b * shared, of_b * own_b + of_a * shared
    for t in range(D.pair0, D.pair1):
        P = row_of.pair(index, t)
        u_a, u_b = point_velocity(load6(work, P.at), x), point_velocity(load6(work, P.other), y)
        put(work, H.Y + P.k * H.width + D.column, dot3(u_a, f) + dot3(u_b, g))


@inline
def place_and_pull(work, b, point):
    """Return the position of a point of a link, and the point's acceleration minus gravity."""
    w, d = own.speed(work, b), arm(work, b, point)
    return of_link.position(work, b) + d, own.pull(work, b) + cross(own.gain(work, b), d) + cross(w, cross(w, d))


@inline
def copied(work, n, H, result):
    if result.shape[0] != n.nv or result.shape[1] != H.width:
        return False
    put_copy(seen(result.ctypes.data, result.size), 0, work, H.Y, n.nv * H.width)
    return True


@paste
def regressor(index, params, work, out, q, v, a, result):
    """Write the torque regressor, shape (nv, width), to work and to result; out must contain G and its bias."""
    n = tree_header_at(index, 0)
    O, H = own_at(index, n.sections + 1), row_of.head(index, n.place1)
    if q.shape[0] != n.nq or v.shape[0] != n.nv or a.shape[0] != n.nv:
        return WRONG_SIZE
    start_links(work)
    own.set_pull(work, 0, load3(params, at.MINUS_GRAVITY))
    sines_and_cosines(work, q, n, H)
    for b in range(1, n.links + 1):
        step_outward(index, params, work, out, q, v, a, n, O, H, b, link(index, b))
    for r in range(H.body0, H.body1):
        forces_of_parameters(work, row_of.body(index, r).link, own.forces_at(H, r))
    for r in range(H.body0, H.body1):
        columns_of_body(index, work, H, r)
    for r in range(H.spin0, H.spin1):
        column_of_rotor(index, params, work, out, n, O, H, row_of.spin(index, r))
    for r in range(H.armature0, H.armature1):
        M = row_of.armature(index, r)
        D, rise = dof(index, n.dof0 + M.iv), get(work, O.a_tree + M.iv)
        for t in range(D.term0, D.term1):
            T = entry(index, t)
            put(work, H.Y + T.k * H.width + M.column, get(out, O.G + T.at) * rise)
    for r in range(H.rod0, H.rod1):
        column_of_rod(index, params, work, H, row_of.rod(index, r))
    return OK if copied(work, n, H, result) else WRONG_SIZE
