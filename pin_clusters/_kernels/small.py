"""Forward dynamics of clusters of one or two independent velocities, in registers: gears, belts, differentials."""

from __future__ import annotations

from ._jit import inline
from .articulated import at_spin, at_u, at_y
from .kinematics import body_inertia, external_force, hinge, newton_euler
from .layout import (
    AT_D,
    AT_K,
    AT_SPIN,
    AT_WORK,
    BEARS,
    BODY_WORK,
    COLUMN,
    FIRST,
    LAST,
    MASK,
    OUT,
    PARENT,
    SMALLEST,
    UNIT,
    W_A,
    W_B,
    W_F,
    W_H,
    W_I,
    W_Q,
    W_R,
    W_S,
    W_U,
    W_V,
    WHICH,
)
from .memory import accumulate3, accumulate6, accumulate21, load3, load6, load9, load21, store3, store6, store21, zero6
from .pack import too_small
from .rnea import set_body
from .simd import entry, get, put, zero
from .spatial import (
    add6,
    add21,
    angular,
    axpy6,
    crm,
    cross,
    dot3,
    dot6,
    join,
    rigid_as_sym6,
    rot,
    scale3,
    scale6,
    sub6,
    sym6_minus_outer,
    sym6_mul,
)


@inline
def backward_one(index, params, work, out, c):
    """What assemble, factor, solve and hand_up do, for one column and no carrier inside: a gear with a body."""
    at, d, p, o = entry(index, c, AT_WORK), entry(index, c, AT_D), entry(index, c, OUT), zero(work)
    D, U, force = get(work, d), zero6(work), zero6(work)
    u = get(work, at + at_u(1)) + get(out, entry(index, entry(index, c, COLUMN), 0))
    if entry(index, c, AT_SPIN) >= 0:
        U = join((o, o, o), load3(work, at + at_spin(1)))
    total = (o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o)
    for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
        w = b * BODY_WORK
        I, f, K = load21(work, w + W_I), load6(work, w + W_F), load6(work, entry(index, b, AT_K))
        V = sym6_mul(I, K)
        total, force, U = add21(total, I), add6(force, f), add6(U, V)
        D += dot6(K, V)
        u -= dot6(K, f)
    inverse = 1.0 / D
    Y, a = scale6(inverse, U), inverse * u
    store6(work, at + at_y(1), Y)
    put(work, at + at_u(1), a)
    if p > 0:
        accumulate21(work, p * BODY_WORK + W_I, sym6_minus_outer(total, U, Y))
        accumulate6(work, p * BODY_WORK + W_F, axpy6(a, U, force))
    return too_small(D, get(params, entry(index, c, SMALLEST)))


@inline
def solve_pair(d00, d01, d11, U0, U1, u0, u1):
    """D^-1 U' and D^-1 u of two columns, and the second pivot of D."""
    e0 = 1.0 / d00
    ell = d01 * e0
    pivot = d11 - ell * d01
    e1 = 1.0 / pivot
    Y1 = scale6(e1, axpy6(-ell, U0, U1))
    Y0 = axpy6(-ell, Y1, scale6(e0, U0))
    w1 = e1 * (u1 - ell * u0)
    return Y0, Y1, e0 * u0 - ell * w1, w1, pivot


@inline
def hand_up_pair(work, p, total, force, U0, U1, Y0, Y1, w0, w1):
    """I_out += sum I_b - U D^-1 U'; p_out += sum p_b + U D^-1 u."""
    if p > 0:
        total = sym6_minus_outer(sym6_minus_outer(total, U0, Y0), U1, Y1)
        accumulate21(work, p * BODY_WORK + W_I, total)
        accumulate6(work, p * BODY_WORK + W_F, axpy6(w0, U0, axpy6(w1, U1, force)))


@inline
def backward_pair(index, params, work, out, c):
    """What assemble, factor, solve and hand_up do, for two columns and no carrier inside."""
    at, column, d = entry(index, c, AT_WORK), entry(index, c, COLUMN), entry(index, c, AT_D)
    u, o = at + at_u(2), zero(work)
    d00, d01, d11 = get(work, d), get(work, d + 1), get(work, d + 3)
    u0 = get(work, u) + get(out, entry(index, column, 0))
    u1 = get(work, u + 1) + get(out, entry(index, column + 1, 0))
    U0, U1, force = zero6(work), zero6(work), zero6(work)
    if entry(index, c, AT_SPIN) >= 0:
        h = at + at_spin(2)
        U0, U1 = join((o, o, o), load3(work, h)), join((o, o, o), load3(work, h + 3))
    total = (o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o)
    for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
        w, K, mask = b * BODY_WORK, entry(index, b, AT_K), entry(index, b, MASK)
        I, f = load21(work, w + W_I), load6(work, w + W_F)
        total, force = add21(total, I), add6(force, f)
        K0, K1 = load6(work, K), load6(work, K + 6)
        if mask & 1:
            V = sym6_mul(I, K0)
            U0, d00, u0 = add6(U0, V), d00 + dot6(K0, V), u0 - dot6(K0, f)
        if mask & 2:
            V = sym6_mul(I, K1)
            U1, d01, d11, u1 = add6(U1, V), d01 + dot6(K0, V), d11 + dot6(K1, V), u1 - dot6(K1, f)
    Y0, Y1, w0, w1, pivot = solve_pair(d00, d01, d11, U0, U1, u0, u1)
    store6(work, at + at_y(2), Y0)
    store6(work, at + at_y(2) + 6, Y1)
    put(work, u, w0)
    put(work, u + 1, w1)
    hand_up_pair(work, entry(index, c, OUT), total, force, U0, U1, Y0, Y1, w0, w1)
    smallest = get(params, entry(index, c, SMALLEST))
    return too_small(d00, smallest) or too_small(pivot, smallest)


@inline
def forward_hinges(index, params, work, q, v, keep, c, forced):
    """Forward pass at a = 0 over a HINGES cluster of two: as SINGLE, with the spin elements on the output body."""
    carrier, spin = entry(index, c, OUT) * BODY_WORK, entry(index, c, AT_SPIN)
    for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
        up, w, o = entry(index, b, PARENT) * BODY_WORK, b * BODY_WORK, zero(work)
        R, x, S = hinge(index, params, work, q, b)
        vp, ap, rate = load6(work, up + W_V), load6(work, up + W_A), get(v, entry(index, b, UNIT))
        vj = scale6(rate, S)
        vel, acc = add6(vp, vj), add6(ap, crm(vp, vj))
        I = body_inertia(params, b, R, x)
        f = newton_euler(I, vel, acc)
        if forced:
            f = sub6(f, external_force(index, params, keep, b, R, x))
        set_body(work, b, R, x, vel, acc, f)
        store6(work, w + W_S, S)
        store21(work, w + W_I, rigid_as_sym6(I, o))
        if spin >= 0:
            h = rot(load9(work, carrier + W_R), load3(work, spin + 3 * entry(index, b, WHICH)))
            store3(work, w + W_H, h)
            put(work, w + W_B, dot3(h, angular(load6(work, carrier + W_A))))
            if carrier > 0:
                accumulate3(work, carrier + W_F + 3, scale3(rate, cross(angular(load6(work, carrier + W_V)), h)))


@inline
def backward_hinges(index, params, work, out, c):
    """Backward pass over a HINGES cluster of two; K is the motion axis of the joint, for all bodies behind it."""
    first, d, o = entry(index, c, FIRST), entry(index, c, AT_D), zero(work)
    b0 = first + entry(index, first, WHICH)
    b1 = 2 * first + 1 - b0
    x0, x1 = b0 * BODY_WORK, b1 * BODY_WORK
    K0, K1 = load6(work, x0 + W_S), load6(work, x1 + W_S)
    d00, d01, d11 = get(work, d), get(work, d + 1), get(work, d + 3)
    u0, u1 = get(out, entry(index, b0, UNIT)), get(out, entry(index, b1, UNIT))
    U0, U1, force = zero6(work), zero6(work), zero6(work)
    if entry(index, c, AT_SPIN) >= 0:
        U0, U1 = join((o, o, o), load3(work, x0 + W_H)), join((o, o, o), load3(work, x1 + W_H))
        u0, u1 = u0 - get(work, x0 + W_B), u1 - get(work, x1 + W_B)
    total = (o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o)
    for b in range(first, first + 2):
        w, mask = b * BODY_WORK, entry(index, b, MASK)
        I, f = load21(work, w + W_I), load6(work, w + W_F)
        total, force = add21(total, I), add6(force, f)
        if mask & 1:
            V = sym6_mul(I, K0)
            U0, d00, u0 = add6(U0, V), d00 + dot6(K0, V), u0 - dot6(K0, f)
            if mask & 2:
                d01 += dot6(K1, V)
        if mask & 2:
            V = sym6_mul(I, K1)
            U1, d11, u1 = add6(U1, V), d11 + dot6(K1, V), u1 - dot6(K1, f)
    Y0, Y1, w0, w1, pivot = solve_pair(d00, d01, d11, U0, U1, u0, u1)
    store6(work, x0 + W_U, Y0)
    store6(work, x1 + W_U, Y1)
    put(work, x0 + W_Q, w0)
    put(work, x1 + W_Q, w1)
    hand_up_pair(work, entry(index, c, OUT), total, force, U0, U1, Y0, Y1, w0, w1)
    smallest = get(params, entry(index, c, SMALLEST))
    return too_small(d00, smallest) or too_small(pivot, smallest)


@inline
def outward_hinges(index, work, out, c):
    """Accelerations of a HINGES cluster of two."""
    a_out = load6(work, entry(index, c, OUT) * BODY_WORK + W_A)
    for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
        w = b * BODY_WORK
        a = get(work, w + W_Q) - dot6(load6(work, w + W_U), a_out)
        put(out, entry(index, b, UNIT), a)
        # parents come first: the correction of the parent is known
        if entry(index, b, BEARS) == 1:
            a_up = load6(work, entry(index, b, PARENT) * BODY_WORK + W_A)
            store6(work, w + W_A, axpy6(a, load6(work, w + W_S), a_up))
