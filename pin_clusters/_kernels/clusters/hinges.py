"""HINGES: joints like SINGLE's that share spin elements or armature on the output body, as belts do.

They could be GENERAL: apart, they need no K. Without it mit_humanoid takes 8 % longer in aba, 5 % in rnea, 7 % in crba.
``eliminate`` and ``propagate`` are for two joints; more are GENERAL there.
"""

from __future__ import annotations

from .._jit import inline
from ..bodies import hinge
from ..motions import body_inertia, hinge_motion, hinge_motion_at_rest, set_body, spin_moment
from ..pack import too_small
from ..simd import get, put, zero
from ..spatial import (
    add21,
    add_angular,
    angular,
    cross,
    dot3,
    dot6,
    rigid_as_sym6,
    rigid_mul,
    rot,
    sym6_mul,
    zero6,
)
from ..views import body, listed
from ..workspace import (
    Dinv_u,
    E_entry,
    UDinv,
    acceleration,
    add_composite,
    add_moment,
    articulated,
    axis,
    composite,
    force,
    momentum,
    own_torque,
    rotation,
    set_acceleration,
    set_articulated,
    set_axis,
    set_composite,
    set_Dinv_u,
    set_own_torque,
    set_position,
    set_rotation,
    set_spin,
    set_spin_bias,
    set_UDinv,
    spin,
    spin_bias,
    velocity,
)
from .one_or_two_columns import hand_up_pair, solve_pair
from .single import hand_down


@inline
def advance(index, params, work, q, v, a, result_and_forces, out, C, forced):
    """(A1)-(A3), (S1), (S2); as SINGLE, but armature and spin elements tie the joints.

    Reads: a, acceleration, E, momentum, pose, q, result_and_forces, v, velocity.
    Writes: acceleration, force, out, own_torque, pose, S, velocity.
    """
    for b in range(C.first, C.last):
        B = body(index, b)
        rate, aj = get(v, B.unit), get(a, B.unit)
        R, x, S, vel, acc, f = hinge_motion(index, params, work, q, result_and_forces, b, B, rate, aj, forced)
        t = zero(work)
        for m in range(C.nk):
            t += E_entry(work, C.at_E, C.nk, B.which, m) * get(a, listed(index, C.column, m))
        if C.at_spin >= 0:
            h = rot(rotation(work, C.out), momentum(work, C.at_spin, B.which))
            t += dot3(h, angular(acceleration(work, C.out)))
            if C.out > 0:
                add_moment(work, C.out, spin_moment(work, C.out, h, rate, aj))
        if B.bears == 0:
            hand_down(work, out, B.parent, B.unit, S, f, t)
        else:
            set_body(work, b, R, x, vel, acc, f)
            set_axis(work, b, S)
            set_own_torque(work, b, t)


@inline
def collect(index, work, out, C):
    """(A4).

    Reads: force, own_torque, S.
    Writes: force, out.
    """
    for k in range(C.last - C.first):
        b = C.last - 1 - k
        B = body(index, b)
        if B.bears == 1:
            hand_down(work, out, B.parent, B.unit, axis(work, b), force(work, b), own_torque(work, b))


@inline
def advance_at_rest(index, params, work, q, v, result_and_forces, C, forced):
    """(A1)-(A3), (S3) at a = 0, with the spin elements on the output body.

    Reads: acceleration, momentum, pose, q, result_and_forces, v, velocity.
    Writes: acceleration, articulated, force, pose, S, spin, spin_bias, velocity.
    """
    for b in range(C.first, C.last):
        B = body(index, b)
        rate = get(v, B.unit)
        R, x, S, vel, acc, I, f = hinge_motion_at_rest(index, params, work, q, result_and_forces, b, B, rate, forced)
        set_body(work, b, R, x, vel, acc, f)
        set_axis(work, b, S)
        set_articulated(work, b, rigid_as_sym6(I, zero(work)))
        if C.at_spin >= 0:
            h = rot(rotation(work, C.out), momentum(work, C.at_spin, B.which))
            set_spin(work, b, h)
            set_spin_bias(work, b, dot3(h, angular(acceleration(work, C.out))))
            if C.out > 0:
                add_moment(work, C.out, cross(angular(velocity(work, C.out)), h) * rate)


@inline
def eliminate(index, params, work, out, C):
    """(A6)-(A8); K is the motion axis of the joint, for all bodies behind it. Returns whether D is singular.

    Reads: articulated, E, force, out, S, spin, spin_bias.
    Writes: articulated, Dinv_u, force, UDinv.
    """
    first, o = C.first, zero(work)
    b0 = first + body(index, first).which
    b1 = 2 * first + 1 - b0
    K0, K1 = axis(work, b0), axis(work, b1)
    d00, d01, d11 = E_entry(work, C.at_E, 2, 0, 0), E_entry(work, C.at_E, 2, 0, 1), E_entry(work, C.at_E, 2, 1, 1)
    u0, u1 = get(out, body(index, b0).unit), get(out, body(index, b1).unit)
    U0, U1, f_out = zero6(o), zero6(o), zero6(o)
    if C.at_spin >= 0:
        U0, U1 = add_angular(U0, spin(work, b0)), add_angular(U1, spin(work, b1))
        u0, u1 = u0 - spin_bias(work, b0), u1 - spin_bias(work, b1)
    total = (o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o)
    for b in range(first, first + 2):
        mask, I, f = body(index, b).mask, articulated(work, b), force(work, b)
        total, f_out = add21(total, I), f_out + f
        if mask & 1:
            V = sym6_mul(I, K0)
            U0, d00, u0 = U0 + V, d00 + dot6(K0, V), u0 - dot6(K0, f)
            if mask & 2:
                d01 += dot6(K1, V)
        if mask & 2:
            V = sym6_mul(I, K1)
            U1, d11, u1 = U1 + V, d11 + dot6(K1, V), u1 - dot6(K1, f)
    Y0, Y1, w0, w1, pivot = solve_pair(d00, d01, d11, U0, U1, u0, u1)
    set_UDinv(work, b0, Y0)
    set_UDinv(work, b1, Y1)
    set_Dinv_u(work, b0, w0)
    set_Dinv_u(work, b1, w1)
    hand_up_pair(work, C.out, total, f_out, U0, U1, Y0, Y1, w0, w1)
    smallest = get(params, C.smallest)
    return too_small(d00, smallest) or too_small(pivot, smallest)


@inline
def propagate(index, work, out, C):
    """(A9), (A10).

    Reads: acceleration, Dinv_u, S, UDinv.
    Writes: acceleration, out.
    """
    a_out = acceleration(work, C.out)
    for b in range(C.first, C.last):
        B = body(index, b)
        a = Dinv_u(work, b) - dot6(UDinv(work, b), a_out)
        put(out, B.unit, a)
        # parents come first: the correction of the parent is known
        if B.bears == 1:
            set_acceleration(work, b, acceleration(work, B.parent) + axis(work, b) * a)


@inline
def compose(index, params, work, q, C):
    """Poses, motion axes, inertias and the spin momenta, without K.

    Reads: momentum, pose, q.
    Writes: composite, pose, S, spin.
    """
    for b in range(C.first, C.last):
        B = body(index, b)
        R, x, S = hinge(params, work, q, b, B)
        set_rotation(work, b, R)
        set_position(work, b, x)
        set_axis(work, b, S)
        set_composite(work, b, body_inertia(params, b, R, x))
        if C.at_spin >= 0:
            set_spin(work, b, rot(rotation(work, C.out), momentum(work, C.at_spin, B.which)))


@inline
def couple_all(index, work, nv, C, M):
    """Write what armature and spin elements add inside the cluster; (C1).

    Reads: E.
    Writes: M.
    """
    for k in range(C.nk):
        for m in range(C.nk):
            at = listed(index, C.column, k) * nv + listed(index, C.column, m)
            put(M, at, E_entry(work, C.at_E, C.nk, k, m))


@inline
def couple(index, work, nv, C, b, B, M):
    """(C1), (C2) for the joint of body b; returns the force per unit velocity on the output body.

    The output body carries the spin elements: they tie the joints, and are felt above it alone.

    Reads: composite, M, S, spin.
    Writes: composite, M.
    """
    i_v, I, S = B.unit, composite(work, b), axis(work, b)
    F = rigid_mul(I, S)
    put(M, i_v * nv + i_v, get(M, i_v * nv + i_v) + dot6(F, S))
    above = B.parent
    while above != C.out:
        P = body(index, above)
        x = get(M, i_v * nv + P.unit) + dot6(F, axis(work, above))
        put(M, i_v * nv + P.unit, x)
        put(M, P.unit * nv + i_v, x)
        above = P.parent
    if C.at_spin >= 0:
        F = add_angular(F, spin(work, b))
    if B.parent > 0:
        add_composite(work, B.parent, I)
    return F
