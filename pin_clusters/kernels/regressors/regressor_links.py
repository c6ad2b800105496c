"""Computes a link's pose and, for the torque regressor, also its motion, Jacobian, and forces per unit parameter."""

from ...compiler.numba_jit.jit import inline
from ..bodies.placements import moved, turned, unit_rotation
from ..numbers.angles import sincos, turn_z
from ..numbers.memory import get, put
from ..numbers.spatial import angular, column, cross, join, linear, rot, rot_t, zero3, zero6
from ..numbers.tuples import load3, load6
from ..tables import layout as at
from ..tables import link_workspace as of_link
from ..tables import regressor_views as row_of
from ..tables import regressor_workspace as own
from ..tables.layout import BODY_PARAMS
from ..tables.regressor_layout import PARAMETERS
from ..tables.views import dof
from ..tree.link_motions import at_point, direction, put_in_place
from ..tree.motion import rate_of


@inline
def sines_and_cosines(work, q, n, H):
    for i in range(n.nq):
        s, c = sincos(get(q, i))
        put(work, H.sines + i, s)
        put(work, H.cosines + i, c)


@inline
def joint_moved(params, work, q, H, b, L):
    """Return the rotation of link b (table row L), and the link's offset from its parent link."""
    k, R_up = b * BODY_PARAMS, of_link.rotation(work, L.parent)
    R, d = turned(R_up, L.shuffle, params, k + at.ROTATION), rot(R_up, load3(params, k + at.POSITION))
    if L.kind == at.REVOLUTE:
        return turn_z(R, get(work, H.cosines + L.iq), get(work, H.sines + L.iq)), d
    return moved(params, q, L, k, R, d)


@inline
def step_outward(index, params, work, out, q, v, a, n, O, H, b, L):
    """Place link b (table row L), compute its motion, and write its Jacobian columns."""
    w_up, alpha, pull = own.speed(work, L.parent), own.gain(work, L.parent), own.pull(work, L.parent)
    R, d = joint_moved(params, work, q, H, b, L)
    if H.base == 1 and b == 1:  # bodies below a free flyer use its frame as the world
        pull = rot_t(R, pull)
        R, d = unit_rotation(), zero3()
    put_in_place(params, work, b, L, R, d)
    x, reach = of_link.position(work, b), row_of.reach(index, H.reach0 + b)
    pull = pull + cross(alpha, d) + cross(w_up, cross(w_up, d))
    if L.kind == at.REVOLUTE or L.kind == at.CONTINUOUS:  # a fast path for the most frequent kinds of joints
        z, rate, rise = column(R, 2), 0.0, get(out, O.g + L.iv)
        S = join(cross(x, z), z)
        for c in range(reach.column0, reach.column1):
            C = row_of.column(index, c)
            g = get(out, O.G + L.iv * n.nv + C.k)
            rate += g * get(v, C.k)
            rise += g * get(a, C.k)
            put(work, C.at, load6(work, C.up) + S * g)
        put(work, O.v_tree + L.iv, rate)
        put(work, O.a_tree + L.iv, rise)
        turn, gain = z * rate, z * rise
    else:
        vj, aj = zero6(), zero6()
        for iv in range(L.iv, L.iv + L.ndof):
            S = direction(params, work, dof(index, n.dof0 + iv))
            rate = rate_of(index, out, v, n, O, iv, 0.0)
            rise = rate_of(index, out, a, n, O, iv, get(out, O.g + iv))
            put(work, O.v_tree + iv, rate)
            put(work, O.a_tree + iv, rise)
            vj, aj = vj + S * rate, aj + S * rise
        turn, gain = angular(vj), angular(aj)
        pull = pull + cross(w_up + w_up + turn, linear(vj)) + linear(aj)
        for c in range(reach.column0, reach.column1):
            C = row_of.column(index, c)
            J = load6(work, C.up)
            for iv in range(C.iv0, C.iv1):
                S = at_point(direction(params, work, dof(index, n.dof0 + iv)), x)
                J = J + S * get(out, O.G + iv * n.nv + C.k)
            put(work, C.at, J)
    own.set_speed(work, b, w_up + turn)
    own.set_gain(work, b, alpha + cross(w_up, turn) + gain)
    own.set_pull(work, b, pull)


@inline
def forces_of_parameters(work, b, at):
    """Write force and moment of a body per unit of its ten parameters, in body axes about the body's origin (Y1).

    The parameters are in Pinocchio's order: mass, first moment (3), inertia about the origin xx xy yy xz yz zz. The
    forces for the six inertia parameters are zero; these parameters cause only moments.
    """
    R = of_link.turn(work, b)
    w, alpha, p = rot_t(R, own.speed(work, b)), rot_t(R, own.gain(work, b)), rot_t(R, own.pull(work, b))
    xx, yy, zz, xy, xz, yz = w[0] * w[0], w[1] * w[1], w[2] * w[2], w[0] * w[1], w[0] * w[2], w[1] * w[2]
    o = 0.0
    put(work, at, (p[0], -(yy + zz), xy - alpha[2], xz + alpha[1]))
    put(work, at + PARAMETERS, (p[1], xy + alpha[2], -(xx + zz), yz - alpha[0]))
    put(work, at + 2 * PARAMETERS, (p[2], xz - alpha[1], yz + alpha[0], -(xx + yy)))
    row = (o, o, p[2], -p[1], alpha[0], alpha[1] - xz, -yz, alpha[2] + xy, yy - zz, yz)
    put(work, at + 3 * PARAMETERS, row)
    row = (o, -p[2], o, p[0], xz, alpha[0] + yz, alpha[1], zz - xx, alpha[2] - xy, -xz)
    put(work, at + 4 * PARAMETERS, row)
    row = (o, p[1], -p[0], o, -xy, xx - yy, xy, alpha[0] - yz, alpha[1] + xz, alpha[2])
    put(work, at + 5 * PARAMETERS, row)


@inline
def arm(work, b, point):
    """Return the vector from a link's origin to a point of the link, in world axes; ``point`` is in joint axes."""
    return rot(of_link.turn(work, b), point)
