"""SINGLE clusters have one joint with one degree of freedom; the parent body carries their spin elements."""

from ...compiler.numba_jit.jit import inline
from ..bodies.motions import body_inertia, inertial_force, motion, needed_force, set_hinge, spin_moment
from ..bodies.placements import hinge
from ..numbers.choices import too_small
from ..numbers.memory import get, put
from ..numbers.tuples import load3
from ..tables import workspace as ws
from ..tables.views import body
from .prescribed import is_prescribed

from ..numbers.spatial import add_angular, angular, dot3, dot6, rigid_as_sym6  # isort: skip
from ..numbers.spatial import rigid_mul, rot, sym6_minus_outer, sym6_mul  # isort: skip
from ..directions import Out


@inline
def advance(index, params, work, q, v, a, result_and_forces, C, forced):
    """Compute (A1) to (A3), the moment (S1) on the parent, and the torque of armature and spin elements (S2)."""
    b = C.first
    B = body(index, b)
    rate, aj = get(v, C.column), get(a, C.column)
    R, x, S = hinge(params, work, q, b, B)
    vel, acc = motion(work, B.parent, S * rate, S * aj)
    set_hinge(work, b, R, x, S, vel, acc)
    f = needed_force(index, params, result_and_forces, b, B, R, x, vel, acc, forced)
    t = get(params, C.at_E) * aj
    if C.at_spin >= 0:
        h = rot(ws.rotation(work, B.parent), load3(params, C.at_spin))
        t += dot3(h, angular(ws.acceleration(work, B.parent)))
        if B.parent > 0:
            ws.add_moment(work, B.parent, spin_moment(work, B.parent, h, rate, aj))
    ws.set_force(work, b, f)
    ws.set_own_torque(work, b, t)


@inline
def collect(index, work, out: Out, C):
    """Compute the joint torque and pass the force of the body to its parent: (A4)."""
    b = C.first
    f, parent = ws.force(work, b), body(index, b).parent
    put(out, C.column, dot6(ws.axis(work, b), f) + ws.own_torque(work, b))
    if parent > 0:
        ws.add_force(work, parent, f)


@inline
def advance_with_inertia(index, params, work, q, v, result_and_forces, prescribed, a, C, forced):
    """Compute (A1) to (A3) and (S3) at zero or prescribed acceleration, and the inertia of the body."""
    b = C.first
    B = body(index, b)
    rate = get(v, C.column)
    aj = None if prescribed is None else get(a, C.column)
    R, x, S = hinge(params, work, q, b, B)
    vel, acc = motion(work, B.parent, S * rate, None if aj is None else S * aj)
    set_hinge(work, b, R, x, S, vel, acc)
    I = body_inertia(params, b, R, x)
    f = inertial_force(index, params, result_and_forces, b, B, R, x, I, vel, acc, forced)
    if C.at_spin >= 0:
        h = rot(ws.rotation(work, B.parent), load3(params, C.at_spin))
        ws.set_spin(work, b, h)
        ws.set_spin_bias(work, b, dot3(h, angular(ws.acceleration(work, B.parent))))
        if B.parent > 0:
            ws.add_moment(work, B.parent, spin_moment(work, B.parent, h, rate, aj))
    ws.set_force(work, b, f)
    ws.set_articulated(work, b, rigid_as_sym6(I))


@inline
def eliminate(index, params, work, prescribed, tau, a, C):
    """Compute (A6) to (A8); store U D^-1 and D^-1 u (U and u if a is prescribed). Return whether D is singular."""
    b = C.first
    I, S, f, parent = ws.articulated(work, b), ws.axis(work, b), ws.force(work, b), body(index, b).parent
    IS = sym6_mul(I, S)
    E, u, U = get(params, C.at_E), get(tau, C.column) - dot6(S, f), IS
    if C.at_spin >= 0:
        u -= ws.spin_bias(work, b)
        U = add_angular(U, ws.spin(work, b))
    if is_prescribed(prescribed, C.column):
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
        ws.add_force(work, parent, Y * u + f)  # (A7)
    ws.set_UDinv(work, b, Y)
    ws.set_Dinv_u(work, b, inverse * u)
    return too_small(d, get(params, C.smallest))


@inline
def propagate(index, work, prescribed, tau: Out, a: Out, C):
    """Compute (A9), (A10), or (H4) to (H6) if the acceleration is prescribed."""
    b = C.first
    up = ws.acceleration(work, body(index, b).parent)
    x = ws.Dinv_u(work, b) - dot6(ws.UDinv(work, b), up)
    if is_prescribed(prescribed, C.column):
        put(tau, C.column, -x)
        ws.set_acceleration(work, b, up)
    else:
        put(a, C.column, x)
        ws.set_acceleration(work, b, up + ws.axis(work, b) * x)


@inline
def compose(index, params, work, q, C):
    b = C.first
    B = body(index, b)
    R, x, S = hinge(params, work, q, b, B)
    ws.set_pose(work, b, R, x)
    ws.set_axis(work, b, S)
    ws.set_composite(work, b, body_inertia(params, b, R, x))
    if C.at_spin >= 0:
        ws.set_spin(work, b, rot(ws.rotation(work, B.parent), load3(params, C.at_spin)))


@inline
def couple(index, params, work, C):
    """Return the diagonal entry of M, the force F per unit velocity and the parent; add inertia to it: (C1), (C2)."""
    b = C.first
    B = body(index, b)
    I, S = ws.composite(work, b), ws.axis(work, b)
    F = rigid_mul(I, S)
    entry = dot6(F, S) + get(params, C.at_E)
    if C.at_spin >= 0:
        F = add_angular(F, ws.spin(work, b))
    if B.parent > 0:
        ws.add_composite(work, B.parent, I)
    return entry, F, B.parent


@inline
def factor(index, params, work, C):
    """Compute U D^-1 and 1 / D, and add the inertia to the parent: (A6), (A8). Return whether D is singular."""
    b = C.first
    B = body(index, b)
    I, S = ws.articulated(work, b), ws.axis(work, b)
    U = sym6_mul(I, S)
    d = dot6(S, U) + get(params, C.at_E)
    inverse = 1.0 / d
    if C.at_spin >= 0:
        U = add_angular(U, ws.spin(work, b))
    Y = U * inverse
    if B.parent > 0:
        ws.add_articulated(work, B.parent, sym6_minus_outer(I, U, Y))
    ws.set_UDinv(work, b, Y)
    ws.set_inverse_D(work, b, inverse)
    return too_small(d, get(params, C.smallest))
