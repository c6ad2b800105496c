"""Derivatives of contact equations with respect to the state (D1): Jacobian, residual, and rotation of the forces.

These derivatives follow from the columns J, L, N and Gamma, which the kernel for derivatives of inverse dynamics
writes. A contact has two sides, body 1 and body 2. All its quantities are in the axes of side 1, at the origin of
side 1; for point contacts, each side uses its own origin. A force f on side 1 acts as -f on side 2.
"""

from ...compiler.numba_jit.jit import inline
from ..bodies.log_rates import coefficients, rate_of_log
from ..clusters.articulated import moves
from ..force_columns.panel import entry
from ..numbers.memory import get, increase, put, put_apart
from ..numbers.tuples import load3, load6, load9
from ..tables import contacts_layout as at
from ..tables import layout
from ..tables import workspace as ws
from ..tables.addresses import seen
from ..tables.contacts_layout import IMPACT
from ..tables.layout import FREE
from ..tables.variations_layout import ACCELERATION, COLUMN
from ..tables.views import body, cluster, listed
from ..variations.forces import motions_of_column
from ..variations.of_free import unit
from .where import local_motion

from ..numbers.spatial import angular, cross, cross_force, dot3, dot6, join, linear  # isort: skip
from ..numbers.spatial import matmul3, rot6, rot6_t, rot_t, transposed, zero3, zero6  # isort: skip
from ..directions import Out


@inline
def keep_column(to: Out, k, J, L, N, Gamma):
    put(to, k, J)
    put(to, k + 6, L)
    put(to, k + 12, N)
    put(to, k + 18, Gamma)


@inline
def columns_of(index, work, rates, b, scratch: Out, first):
    while b > 0:
        B = body(index, b)
        C = cluster(index, B.cluster)
        if B.sole >= 0:
            L, N = load6(rates, C.at_rates), load6(rates, C.at_rates + ACCELERATION)
            keep_column(scratch, first + COLUMN * B.sole, ws.axis(work, b), L, N, L * 2.0)
        elif C.kind == FREE:
            up = join(load3(rates, C.at_rates), zero3())
            for k in range(6):
                e = unit(k)
                to = first + COLUMN * (C.column + k)
                keep_column(scratch, to, e, zero6(), cross(up, e), cross(ws.velocity(work, b), e))
        else:
            for r in range(C.nk):
                if moves(B.mask, r):
                    to = first + COLUMN * listed(index, C.column, r)
                    J, L, N, Gamma = motions_of_column(work, rates, C, B, b, r)
                    keep_column(scratch, to, J, L, N, Gamma)
        b = C.out


@inline
def local_column(scratch, k, R, x, u, up):
    """Return J of a side for the column at scratch[k], and the derivatives dv/dq, da/dq and da/dv of the side's motion.

    R contains the side's axes, x its origin, u its velocity. Accelerations in work include minus gravity, ``up``.
    """
    J, L = local_motion(load6(scratch, k), R, x), local_motion(load6(scratch, k + 6), R, x)
    N, Gamma = local_motion(load6(scratch, k + 12), R, x), local_motion(load6(scratch, k + 18), R, x)
    w = angular(J)
    return J, L, N + cross(L, u) + join(cross(w, up), zero3()), Gamma + cross(J, u)


@inline
def point_rate(change, turn, u):
    """Return how a point's acceleration changes if its side's acceleration changes by ``change``, and u by ``turn``."""
    return linear(change) + cross(angular(turn), linear(u)) + cross(angular(u), linear(turn))


@inline
def put_rows(to: Out, k, stride, rows, x):
    if rows == 6:
        put_apart(to, k, stride, x)
    else:
        put_apart(to, k, stride, linear(x))


@inline
def force_on_side(forces, first, K, R_one):
    f = join(load3(forces, first), zero3())
    if K.rows == 6:
        f = load6(forces, first)
    if K.aligned == 1:
        f = rot6_t(R_one, f)
    return f


@inline
def vary_contact(
    index,
    params,
    work,
    rates,
    asked,
    numbers,
    forces,
    K,
    F,
    A,
    nv,
    jacobian: Out,
    sides: Out,
    turned: Out,
    scratch: Out,
):
    """Write a contact's Jacobian and the negative derivatives of its residual r (D1); add terms to ``turned``.

    ``forces`` contains the forces of all contacts. K is a row ``Contact``, F is the row ``Fields``, and A is the header
    ``Contacts``. ``jacobian`` has shape (contact equations, nv). ``sides`` receives the right-hand sides of (D2),
    contact equations x 3 nv: -dr/dq, -dr/dv, and zeros. The derivative of the joint torques due to the rotation of the
    contact forces is added to ``turned``, nv x nv. ``scratch`` is a workspace for two columns per velocity.
    """
    model, data, o = seen(K.model, at.READ_MODEL), seen(K.data, at.READ_DATA), zero3()
    first, second = entry(asked, K.column0).iv, COLUMN * nv
    for t in range(K.path0, K.path1):
        to = COLUMN * entry(asked, t).iv
        for i in range(COLUMN):
            put(scratch, to + i, 0.0)
            put(scratch, to + second + i, 0.0)
    columns_of(index, work, rates, K.body1, scratch, 0)
    columns_of(index, work, rates, K.body2, scratch, second)
    R_one, R = transposed(load9(data, F.oMc1)), transposed(load9(data, F.c1Mc2))
    p, up = load3(data, F.c1Mc2 + 9), rot_t(R_one, load3(params, layout.MINUS_GRAVITY))
    R1, x1 = load9(numbers, K.at + at.AXES), load3(numbers, K.at + at.POINT)
    R2, x2 = load9(numbers, K.at + at.AXES2), load3(numbers, K.at + at.POINT2)
    if K.aligned == 1:
        R1, R2 = matmul3(R1, R_one), matmul3(R2, R_one)
    u1, u2, a2 = local_motion(ws.velocity(work, K.body1), R1, x1), join(o, o), join(o, o)
    if K.body2 > 0:
        u2 = local_motion(ws.velocity(work, K.body2), R2, x2)
        a2 = local_motion(ws.acceleration(work, K.body2), R2, x2) - join(up, o)
    relative, point2 = u1 - u2, linear(a2) + cross(angular(u2), linear(u2))
    # At the solution of (O6), the residual equals minus the damping times the force.
    f = force_on_side(forces, first, K, R_one)
    missed = f * -get(numbers, at.DAMPING)
    kp, kd, log = 0.0, get(numbers, at.RESTITUTION), join(o, o)
    if A.wanted != IMPACT:
        desired = load6(model, F.desired_acceleration) + load6(data, F.acceleration_desired)
        missed = missed + rot6_t(R_one, desired)
        kp, kd, log = get(model, F.Kp), get(model, F.Kd), -load6(data, F.placement_error)
    a_two, a_four = coefficients(log)
    for t in range(K.path0, K.path1):
        k = entry(asked, t).iv
        J1, L1, N1, G1 = local_column(scratch, COLUMN * k, R1, x1, u1, up)
        J2, L2, N2, G2 = J1 * 0.0, L1 * 0.0, N1 * 0.0, G1 * 0.0
        if K.body2 > 0:
            J2, L2, N2, G2 = local_column(scratch, COLUMN * k + second, R2, x2, u2, up)
        put(scratch, COLUMN * k, J1)
        put(scratch, COLUMN * k + second, J2)
        J = J1 - J2
        if K.rows == 3:
            turn, j = angular(J), linear(J)
            by_q = point_rate(N1, L1, u1) - point_rate(N2, L2, u2) + cross(turn, point2)
            by_v = point_rate(G1, J1, u1) - point_rate(G2, J2, u2)
            by_q = by_q + (j + cross(angular(J1), p)) * kp
            by_q = by_q + (linear(L1) - linear(L2) + cross(turn, linear(u2))) * kd
            J, Q, V = join(j, o), join(by_q, o), join(by_v + j * kd, o)
        else:
            dv2 = L2 - cross(J, u2)
            rate = L1 - dv2
            Q, V = N1 - N2 + cross(J, a2), G1 - G2
            if K.aligned == 0:
                Q = Q + cross(rate, u2) + cross(relative, dv2)
                V = V + cross(J, u2) + cross(relative, J2)
            step = join(rot_t(R, linear(J) - cross(p, angular(J))), rot_t(R, angular(J)))
            Q = Q + rate_of_log(log, a_two, a_four, step) * kp + rate * kd
            V = V + J * kd
        if K.aligned == 1:
            w = angular(J1)
            Q = Q + join(cross(w, linear(missed)), cross(w, angular(missed)))
            J, Q, V = rot6(R_one, J), rot6(R_one, Q), rot6(R_one, V)
        put_rows(jacobian, first * nv + k, nv, K.rows, J)
        put_rows(sides, 3 * first * nv + k, 3 * nv, K.rows, -Q)
        put_rows(sides, (3 * first + 1) * nv + k, 3 * nv, K.rows, -V)
    if K.body2 > 0 or K.aligned == 1:
        turn_forces(asked, K, f, nv, turned, scratch, second)


@inline
def turn_forces(asked, K, f, nv, turned: Out, scratch, second):
    """Add the derivative of the joint torques due to a contact force f whose axes move relative to the sides.

    The term is j_1k . ((j_1 - phi)_m x* f) - j_2k . ((j_2 - phi)_m x* f), see (D1).
    """
    o = zero3()
    for t in range(K.path0, K.path1):
        m = entry(asked, t).iv
        J1, J2 = load6(scratch, COLUMN * m), load6(scratch, COLUMN * m + second)
        frame = J1
        if K.aligned == 1:
            frame = join(linear(J1), o)
        step1, step2 = J1 - frame, J2 - frame
        if K.rows == 3:
            # The point of application moves with its side, so only the rotation changes the torques.
            f1, f2 = cross(angular(step1), linear(f)), cross(angular(step2), linear(f))
            for s in range(K.path0, K.path1):
                k = entry(asked, s).iv
                x = dot3(load3(scratch, COLUMN * k), f1) - dot3(load3(scratch, COLUMN * k + second), f2)
                increase(turned, k * nv + m, x)
        else:
            w1, w2 = cross_force(step1, f), cross_force(step2, f)
            for s in range(K.path0, K.path1):
                k = entry(asked, s).iv
                x = dot6(load6(scratch, COLUMN * k), w1) - dot6(load6(scratch, COLUMN * k + second), w2)
                increase(turned, k * nv + m, x)
