"""SINGLE in hybrid dynamics: a joint whose acceleration is prescribed is rigid; what is left over is its torque."""

from __future__ import annotations

from ..bodies.motions import body_inertia, external_force, motion, newton_euler, set_body, spin_moment
from ..bodies.placements import hinge
from ..compiling.jit import inline
from ..numbers.pack import too_small
from ..numbers.simd import get, put, zero
from ..numbers.spatial import (
    add_angular,
    angular,
    dot3,
    dot6,
    rigid_as_sym6,
    rigid_mul,
    rot,
    sym6_minus_outer,
    sym6_mul,
)
from ..numbers.tuples import load3
from ..tables import workspace as ws
from ..tables.views import body


@inline
def advance(index, params, work, q, v, prescribed, result_and_forces, tau, a, C, forced):
    """(A1)-(A3), (S1), (H1) at the prescribed accelerations; returns whether a leaf has a singular D.

    A leaf is eliminated at once, without a way through memory.
    """
    b, o = C.first, zero(work)
    B = body(index, b)
    rate, aj = get(v, C.column), get(a, C.column)
    R, x, S = hinge(params, work, q, b, B)
    vel, acc = motion(work, B.parent, S * rate, S * aj)
    I = body_inertia(params, b, R, x)
    f = newton_euler(I, vel, acc)
    if forced:
        f = f - external_force(index, params, result_and_forces, b, B, R, x)
    if C.at_spin >= 0:
        h = rot(ws.rotation(work, B.parent), load3(params, C.at_spin))
        ws.set_spin(work, b, h)
        ws.set_spin_bias(work, b, dot3(h, angular(ws.acceleration(work, B.parent))))
        if B.parent > 0:
            ws.add_moment(work, B.parent, spin_moment(work, B.parent, h, rate, aj))
    if B.bears == 0 and not forced:
        I6 = rigid_as_sym6(I, o)
        return _eliminate(params, work, prescribed, tau, a, C, b, B.parent, I6, S, f, rigid_mul(I, S))
    set_body(work, b, R, x, vel, acc, f)
    ws.set_axis(work, b, S)
    ws.set_articulated(work, b, rigid_as_sym6(I, o))
    return False


@inline
def eliminate(index, params, work, prescribed, tau, a, C, forced):
    """(H1)-(H3); returns whether D is singular."""
    b = C.first
    B = body(index, b)
    if B.bears == 1 or forced:
        I, S = ws.articulated(work, b), ws.axis(work, b)
        IS = sym6_mul(I, S)
        return _eliminate(params, work, prescribed, tau, a, C, b, B.parent, I, S, ws.force(work, b), IS)
    return False


@inline
def _eliminate(params, work, prescribed, tau, a, C, b, parent, I, S, f, IS):
    """Hand articulated inertia and force to the parent; keeps U and u of a prescribed joint, else both over D."""
    E, u, U = get(params, C.at_E), get(tau, C.column) - dot6(S, f), IS
    if C.at_spin >= 0:
        u -= ws.spin_bias(work, b)
        U = add_angular(U, ws.spin(work, b))
    if prescribed[C.column] != 0:
        if parent > 0:
            ws.add_articulated(work, parent, I)
            ws.add_force(work, parent, f)
        ws.set_UDinv(work, b, U)
        ws.set_Dinv_u(work, b, u - E * get(a, C.column))
        return False
    d = dot6(S, IS) + E
    inverse = 1.0 / d
    Y = U * inverse
    if parent > 0:
        ws.add_articulated(work, parent, sym6_minus_outer(I, U, Y))
        ws.add_force(work, parent, Y * u + f)
    ws.set_UDinv(work, b, Y)
    ws.set_Dinv_u(work, b, inverse * u)
    return too_small(d, get(params, C.smallest))


@inline
def propagate(index, work, prescribed, tau, a, C):
    """(H4)-(H6)."""
    b = C.first
    B = body(index, b)
    up = ws.acceleration(work, B.parent)
    x = ws.Dinv_u(work, b) - dot6(ws.UDinv(work, b), up)
    if prescribed[C.column] != 0:
        put(tau, C.column, -x)
        if B.bears == 1:
            ws.set_acceleration(work, b, up)
    else:
        put(a, C.column, x)
        if B.bears == 1:
            ws.set_acceleration(work, b, up + ws.axis(work, b) * x)
