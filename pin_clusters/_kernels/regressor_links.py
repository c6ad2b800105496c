"""One link for the regressor: its place, its motion, the columns of its Jacobian, the forces of its parameters.

No linear velocity is needed: of a body's origin only its acceleration as a point is felt.
"""

from __future__ import annotations

from . import layout as at
from ._jit import inline
from .angles import sincos, turn_z
from .bodies import turned, unit_rotation
from .layout import BODY_PARAMS
from .links import moved
from .packs_in_rows import get_pack, put_pack
from .regressor_layout import FORCE, GAIN, LINK_ROOM, MOMENT, PARAMETERS, PULL, ROTATION, SPEED, TURN
from .regressor_views import column_at, entry_at
from .simd import LANES, get, put, zero
from .spatial import column, cross, join, rot, rot_t, zero3
from .tree_views import dof, entry
from .tuples import Vec3, load3, load6, load9


@inline
def start_regressor(params, work):
    """Set the universe: unit rotation, rest, and minus gravity.

    Writes: motion_of_link, pose_of_link.
    """
    o = zero(work)
    put(work, ROTATION, unit_rotation(o))
    put(work, ROTATION + 9, zero3(o))
    put(work, TURN, unit_rotation(o))
    set_link_motion(work, 0, zero3(o), zero3(o), load3(params, at.MINUS_GRAVITY))


@inline
def set_link_motion(work, A, w, alpha, pull):
    """Writes: motion_of_link."""
    put(work, A + SPEED, w)
    put(work, A + GAIN, alpha)
    put(work, A + PULL, pull)


@inline
def sines_and_cosines(work, q, n, O):
    """Write those of all entries of q: as many at once as a register holds, and at no price for what is no angle.

    Reads: q.
    Writes: work.
    """
    if n.nq < LANES:
        for i in range(n.nq):
            s, c = sincos(get(q, i))
            put(work, O.sines + i, s)
            put(work, O.cosines + i, c)
        return
    for k in range(0, n.nq, LANES):
        i = min(k, n.nq - LANES)
        s, c = sincos(get_pack(q, i))
        put_pack(work, O.sines + i, s)
        put_pack(work, O.cosines + i, c)


@inline
def step_outward(index, params, work, out, q, v, a, n, O, b, L):
    """Place link b (row L), move it, write its columns.

    Reads: motion_of_link, pose_of_link, q, rates.
    Writes: columns_of_link, motion_of_link, pose_of_link.
    """
    k, U, A = b * BODY_PARAMS, L.parent * LINK_ROOM, b * LINK_ROOM
    R_up, w_up, pull = load9(work, U + ROTATION), load3(work, U + SPEED), load3(work, U + PULL)
    R, d = turned(R_up, L.shuffle, params, k + at.ROTATION), rot(R_up, load3(params, k + at.POSITION))
    if L.kind == at.REVOLUTE:
        R = turn_z(R, get(work, O.cosines + L.iq), get(work, O.sines + L.iq))
    else:
        R, d = moved(params, q, L, k, R, d)
    alpha = load3(work, U + GAIN)
    if n.base == 1 and b == 1:  # its own frame is the world below it
        pull = rot_t(R, pull)
        R, d = unit_rotation(zero(work)), zero3(zero(work))
    x = load3(work, U + ROTATION + 9) + d
    put(work, A + ROTATION, R)
    put(work, A + ROTATION + 9, x)
    put(work, A + TURN, turned(R, L.align, params, k + at.ALIGN))
    pull = pull + cross(alpha, d) + cross(w_up, cross(w_up, d))
    if L.k >= 0:
        z, ratio = column(R, 2), get(out, L.at_G)
        rate, rise = ratio * get(v, L.k), ratio * get(a, L.k)
        put(work, O.v_tree + L.iv, rate)
        put(work, O.a_tree + L.iv, rise)
        turn = z * rate
        set_link_motion(work, A, w_up + turn, alpha + cross(w_up, turn) + z * rise, pull)
        put(work, L.place, load6(work, L.up) + join(cross(x, z), z) * ratio)
    else:
        along, turn, gain, speeding = zero3(zero(work)), zero3(zero(work)), zero3(zero(work)), zero3(zero(work))
        for i in range(L.ndof):
            D = dof(index, n.dof0 + L.iv + i)
            e, (rate, rise) = axis_of(R, D.axis), rates(index, out, v, a, O, L.iv + i, D)
            put(work, O.v_tree + L.iv + i, rate)
            put(work, O.a_tree + L.iv + i, rise)
            if D.turns == 1:
                turn, gain = turn + e * rate, gain + e * rise
                if D.screw >= 0:
                    pitch = get(params, D.screw)
                    along, speeding = along + e * (pitch * rate), speeding + e * (pitch * rise)
            else:
                along, speeding = along + e * rate, speeding + e * rise
        w = w_up + turn
        set_link_motion(work, A, w, alpha + cross(w_up, turn) + gain, pull + cross(w_up + w, along) + speeding)
    for c in range(L.column0, L.column1):
        C = column_at(index, c)
        J = load6(work, C.up)
        for t in range(C.entry0, C.entry1):
            E = entry_at(index, t)
            e = axis_of(R, E.axis)
            J = J + direction_at(params, E, e, x) * get(out, E.at_G)
        put(work, C.at, J)


@inline
def rates(index, out, v, a, O, iv, D):
    """Velocity and acceleration of the tree, of its velocity iv (row D).

    Reads: a, out, v.
    """
    rate, rise = zero(out), get(out, O.g + iv)
    for t in range(D.term0, D.term1):
        T = entry(index, t)
        g = get(out, O.G + T.at)
        rate += g * get(v, T.k)
        rise += g * get(a, T.k)
    return rate, rise


@inline
def axis_of(R, i):
    """Column i of a rotation."""
    if i == 0:
        return column(R, 0)
    return column(R, 1) if i == 1 else column(R, 2)


@inline
def direction_at(params, E, e, x):
    """Motion per unit velocity along or about an axis e at x."""
    if E.turns == 0:
        return join(e, zero3(e[0] * 0.0))
    if E.screw >= 0:
        return join(cross(x, e) + e * get(params, E.screw), e)
    return join(cross(x, e), e)


@inline
def forces_of_parameters(work, A):
    """Write force and moment of a body per unit of its ten parameters, in its own axes about its origin.

    They are Pinocchio's: mass, first moment (3), inertia about the origin: xx xy yy xz yz zz.

    Reads: motion_of_link, pose_of_link.
    Writes: forces_of_link.
    """
    R = load9(work, A + TURN)
    w, alpha, p = rot_t(R, load3(work, A + SPEED)), rot_t(R, load3(work, A + GAIN)), rot_t(R, load3(work, A + PULL))
    xx, yy, zz, xy, xz, yz = w[0] * w[0], w[1] * w[1], w[2] * w[2], w[0] * w[1], w[0] * w[2], w[1] * w[2]
    o = zero(work)
    put(work, A + FORCE, (p[0], -(yy + zz), xy - alpha[2], xz + alpha[1]))
    put(work, A + FORCE + PARAMETERS, (p[1], xy + alpha[2], -(xx + zz), yz - alpha[0]))
    put(work, A + FORCE + 2 * PARAMETERS, (p[2], xz - alpha[1], yz + alpha[0], -(xx + yy)))
    row = (o, o, p[2], -p[1], alpha[0], alpha[1] - xz, -yz, alpha[2] + xy, yy - zz, yz)
    put(work, A + MOMENT, row)
    row = (o, -p[2], o, p[0], xz, alpha[0] + yz, alpha[1], zz - xx, alpha[2] - xy, -xz)
    put(work, A + MOMENT + PARAMETERS, row)
    row = (o, p[1], -p[0], o, -xy, xx - yy, xy, alpha[0] - yz, alpha[1] + xz, alpha[2])
    put(work, A + MOMENT + 2 * PARAMETERS, row)


@inline
def place_of(work, A, point):
    """Where a point of a link is that is given in its joint frame.

    Reads: pose_of_link.
    """
    return load3(work, A + ROTATION + 9) + rot(load9(work, A + TURN), point)


@inline
def pull_at(work, A, x):
    """Acceleration of the point of a link at x, minus gravity.

    Reads: motion_of_link, pose_of_link.
    """
    w, d = load3(work, A + SPEED), x - load3(work, A + ROTATION + 9)
    return load3(work, A + PULL) + cross(load3(work, A + GAIN), d) + cross(w, cross(w, d))


@inline
def at_place(J, x):
    """Linear part of a motion at x."""
    return Vec3(J[0], J[1], J[2]) + cross(Vec3(J[3], J[4], J[5]), x)
