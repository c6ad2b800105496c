"""One link for the regressor: its place, its motion, the columns of its Jacobian, the forces of its parameters.

No linear velocity is needed: of a body's origin only its acceleration as a point is felt.
"""

from __future__ import annotations

from ..bodies.placements import moved, turned, unit_rotation
from ..compiling.jit import inline
from ..numbers.angles import sincos, turn_z
from ..numbers.neighbours import get_pack, put_pack
from ..numbers.simd import LANES, get, put, zero
from ..numbers.spatial import axis_of, column, cross, join, rot, rot_t, zero3
from ..numbers.tuples import load3, load6
from ..tables import layout as at
from ..tables import regressor_views as row_of
from ..tables import regressor_workspace as own
from ..tables.layout import BODY_PARAMS
from ..tables.tree_views import dof, entry


@inline
def start_regressor(params, work):
    """Set the universe: unit rotation, rest, and minus gravity."""
    o = zero(work)
    own.set_rotation(work, 0, unit_rotation(o))
    own.set_position(work, 0, zero3(o))
    own.set_turn(work, 0, unit_rotation(o))
    set_link_motion(work, 0, zero3(o), zero3(o), load3(params, at.MINUS_GRAVITY))


@inline
def set_link_motion(work, b, w, alpha, pull):
    """Write angular velocity and acceleration, and the acceleration of the origin as a point, minus gravity."""
    own.set_speed(work, b, w)
    own.set_gain(work, b, alpha)
    own.set_pull(work, b, pull)


@inline
def sines_and_cosines(work, q, n, O):
    """Write those of all entries of q: as many at once as a register holds, and at no price for what is no angle."""
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
def joint_moved(params, work, q, O, b, L):
    """Rotation of link b (row L), and its offset from its parent."""
    k, R_up = b * BODY_PARAMS, own.rotation(work, L.parent)
    R, d = turned(R_up, L.shuffle, params, k + at.ROTATION), rot(R_up, load3(params, k + at.POSITION))
    if L.kind == at.REVOLUTE:
        return turn_z(R, get(work, O.cosines + L.iq), get(work, O.sines + L.iq)), d
    return moved(params, q, L, k, R, d)


@inline
def put_in_place(params, work, b, L, R, d):
    """Write rotation and position of link b; returns the latter."""
    x = own.position(work, L.parent) + d
    own.set_rotation(work, b, R)
    own.set_position(work, b, x)
    own.set_turn(work, b, turned(R, L.align, params, b * BODY_PARAMS + at.ALIGN))
    return x


@inline
def step_outward(index, params, work, out, q, v, a, n, O, b, L):
    """Place link b (row L), move it, write its columns."""
    up = L.parent
    w_up, alpha, pull = own.speed(work, up), own.gain(work, up), own.pull(work, up)
    R, d = joint_moved(params, work, q, O, b, L)
    if n.base == 1 and b == 1:  # its own frame is the world below it
        pull = rot_t(R, pull)
        R, d = unit_rotation(zero(work)), zero3(zero(work))
    x = put_in_place(params, work, b, L, R, d)
    pull = pull + cross(alpha, d) + cross(w_up, cross(w_up, d))
    if L.k >= 0:
        z, ratio = column(R, 2), get(out, L.at_G)
        rate, rise = ratio * get(v, L.k), ratio * get(a, L.k)
        put(work, O.v_tree + L.iv, rate)
        put(work, O.a_tree + L.iv, rise)
        turn = z * rate
        set_link_motion(work, b, w_up + turn, alpha + cross(w_up, turn) + z * rise, pull)
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
        set_link_motion(work, b, w, alpha + cross(w_up, turn) + gain, pull + cross(w_up + w, along) + speeding)
    for c in range(L.column0, L.column1):
        C = row_of.column(index, c)
        J = load6(work, C.up)
        for t in range(C.entry0, C.entry1):
            E = row_of.entry(index, t)
            e = axis_of(R, E.axis)
            J = J + direction_at(params, zero(work), E, e, x) * get(out, E.at_G)
        put(work, C.at, J)


@inline
def rates(index, out, v, a, O, iv, D):
    """Velocity and acceleration of the tree, of its velocity iv (row D)."""
    rate, rise = zero(out), get(out, O.g + iv)
    for t in range(D.term0, D.term1):
        T = entry(index, t)
        g = get(out, O.G + T.at)
        rate += g * get(v, T.k)
        rise += g * get(a, T.k)
    return rate, rise


@inline
def direction_at(params, o, E, e, x):
    """Motion per unit velocity along or about an axis e at x."""
    if E.turns == 0:
        return join(e, zero3(o))
    if E.screw >= 0:
        return join(cross(x, e) + e * get(params, E.screw), e)
    return join(cross(x, e), e)


@inline
def forces_of_parameters(work, b):
    """Write force and moment of a body per unit of its ten parameters, in its own axes about its origin.

    They are Pinocchio's: mass, first moment (3), inertia about the origin: xx xy yy xz yz zz.
    """
    R = own.turn(work, b)
    w, alpha, p = rot_t(R, own.speed(work, b)), rot_t(R, own.gain(work, b)), rot_t(R, own.pull(work, b))
    xx, yy, zz, xy, xz, yz = w[0] * w[0], w[1] * w[1], w[2] * w[2], w[0] * w[1], w[0] * w[2], w[1] * w[2]
    o = zero(work)
    own.set_unit_force(work, b, 0, (p[0], -(yy + zz), xy - alpha[2], xz + alpha[1]))
    own.set_unit_force(work, b, 1, (p[1], xy + alpha[2], -(xx + zz), yz - alpha[0]))
    own.set_unit_force(work, b, 2, (p[2], xz - alpha[1], yz + alpha[0], -(xx + yy)))
    row = (o, o, p[2], -p[1], alpha[0], alpha[1] - xz, -yz, alpha[2] + xy, yy - zz, yz)
    own.set_unit_moment(work, b, 0, row)
    row = (o, -p[2], o, p[0], xz, alpha[0] + yz, alpha[1], zz - xx, alpha[2] - xy, -xz)
    own.set_unit_moment(work, b, 1, row)
    row = (o, p[1], -p[0], o, -xy, xx - yy, xy, alpha[0] - yz, alpha[1] + xz, alpha[2])
    own.set_unit_moment(work, b, 2, row)


@inline
def place_of(work, b, point):
    """Where a point of a link is that is given in its joint frame."""
    return own.position(work, b) + rot(own.turn(work, b), point)


@inline
def pull_at(work, b, x):
    """Acceleration of the point of a link at x, minus gravity."""
    w, d = own.speed(work, b), x - own.position(work, b)
    return own.pull(work, b) + cross(own.gain(work, b), d) + cross(w, cross(w, d))
