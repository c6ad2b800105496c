"""C-ABA: forward dynamics of clusters, with spin elements.

With a = 0 the forward pass is that of C-RNEA, so I_A c never has to be formed; the backward pass eliminates one cluster
after the other, and the last pass adds the corrections to the accelerations.
"""

from __future__ import annotations

from ._jit import inline, kernel, paste, signature
from .articulated import assemble, at_spin, at_u, at_y, columns, eliminate, factor, hand_up, moves, solve, spin_columns
from .implicit import forward_aba, nothing
from .kinematics import (
    along,
    base_gravity,
    body_inertia,
    external_force,
    hinge,
    newton_euler,
    place,
    rates,
    start,
    unit_rotation,
)
from .layout import (
    AT_D,
    AT_K,
    AT_S,
    AT_SPIN,
    AT_WORK,
    BEARS,
    BODY_WORK,
    CARRIER,
    CARRIER0,
    CARRIER1,
    CLUSTER0,
    CLUSTER1,
    COLUMN,
    FIRST,
    FREE,
    HINGES,
    IMPLICIT,
    LAST,
    MASK,
    NDOF,
    NK,
    NV,
    OUT,
    PARENT,
    SINGLE,
    TYPE,
    W_A,
    W_B,
    W_F,
    W_H,
    W_I,
    W_P,
    W_Q,
    W_R,
    W_S,
    W_U,
    W_V,
    WRONG_SIZE,
)
from .memory import accumulate3, accumulate6, load3, load6, load9, load21, store3, store6, store21, zero6
from .pack import too_small
from .rnea import rotor_forces, set_body, wrong_size
from .simd import entry, get, put, tables, zero
from .small import backward_hinges, backward_one, backward_pair, forward_hinges, outward_hinges
from .solve import sym6_factor, sym6_solve
from .spatial import (
    add6,
    angular,
    axpy3,
    axpy6,
    crm,
    cross,
    dot3,
    dot6,
    rigid_as_sym6,
    rigid_mul,
    rot,
    scale3,
    scale6,
    sub6,
    sym6_mul,
)


@inline
def gyration(index, work, v, c, carrier, h, u):
    """Spin elements of one carrier at a = 0: the moment w x h v on it, and u -= h . alpha."""
    nk, column, w = entry(index, c, NK), entry(index, c, COLUMN), carrier * BODY_WORK
    omega, alpha = angular(load6(work, w + W_V)), angular(load6(work, w + W_A))
    o = zero(work)
    momentum = (o, o, o)
    for k in range(nk):
        hk = load3(work, h + 3 * k)
        momentum = axpy3(get(v, entry(index, column + k, 0)), hk, momentum)
        put(work, u + k, get(work, u + k) - dot3(hk, alpha))
    if carrier > 0:
        accumulate3(work, w + W_F + 3, cross(omega, momentum))


@inline
def forward(index, params, work, q, v, keep, c, forced):
    """Forward pass over a GENERAL cluster at a = 0; leaves minus the spin elements' bias in u."""
    o = zero(work)
    for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
        w, up = b * BODY_WORK, entry(index, b, PARENT) * BODY_WORK
        vp = load6(work, up + W_V)
        if entry(index, b, NDOF) == 1:
            R, x, S = hinge(index, params, work, q, b)
            store6(work, entry(index, b, AT_S), S)
            vj = scale6(rates(index, params, work, v, c, b), S)
        else:
            place(index, params, work, q, b)
            R, x = load9(work, w + W_R), load3(work, w + W_P)
            vj = along(index, params, work, v, c, b)
        columns(index, params, work, c, b)
        vel, acc = add6(vp, vj), add6(load6(work, up + W_A), crm(vp, vj))
        I = body_inertia(params, b, R, x)
        f = newton_euler(I, vel, acc)
        if forced:
            f = sub6(f, external_force(index, params, keep, b, R, x))
        set_body(work, b, R, x, vel, acc, f)
        store21(work, w + W_I, rigid_as_sym6(I, o))
    nk, at = entry(index, c, NK), entry(index, c, AT_WORK)
    u, h = at + at_u(nk), at + at_spin(nk)
    for k in range(nk):
        put(work, u + k, o)
    spin_columns(index, params, work, c)
    if entry(index, c, AT_SPIN) >= 0:
        gyration(index, work, v, c, entry(index, c, OUT), h, u)
    for r in range(entry(index, c, CARRIER0), entry(index, c, CARRIER1)):
        h += 3 * nk
        gyration(index, work, v, c, entry(index, r, CARRIER), h, u)


@inline
def backward(index, params, work, out, c):
    """Backward pass over a GENERAL cluster; out holds tau. Returns whether D is singular."""
    nk, at, column = entry(index, c, NK), entry(index, c, AT_WORK), entry(index, c, COLUMN)
    if entry(index, c, CARRIER0) == entry(index, c, CARRIER1):
        if nk == 1:
            return backward_one(index, params, work, out, c)
        if nk == 2:
            return backward_pair(index, params, work, out, c)
    total = assemble(index, params, work, c)
    singular = factor(index, params, work, c)
    u, force = at + at_u(nk), zero6(work)
    for k in range(nk):
        put(work, u + k, get(work, u + k) + get(out, entry(index, column + k, 0)))
    for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
        f, K = load6(work, b * BODY_WORK + W_F), entry(index, b, AT_K)
        force, mask = add6(force, f), entry(index, b, MASK)
        for k in range(nk):
            if moves(mask, k):
                put(work, u + k, get(work, u + k) - dot6(load6(work, K + 6 * k), f))
    solve(index, work, c)
    hand_up(index, work, c, total)
    if entry(index, c, OUT) > 0:
        for k in range(nk):
            force = axpy6(get(work, u + k), load6(work, at + 6 * k), force)
        accumulate6(work, entry(index, c, OUT) * BODY_WORK + W_F, force)
    return singular


@inline
def outward(index, work, out, c):
    """Accelerations of a GENERAL cluster; those of its bodies are corrections to the a = 0 pass."""
    nk, at, column = entry(index, c, NK), entry(index, c, AT_WORK), entry(index, c, COLUMN)
    a_out = load6(work, entry(index, c, OUT) * BODY_WORK + W_A)
    y, u = at + at_y(nk), at + at_u(nk)
    for k in range(nk):
        put(out, entry(index, column + k, 0), get(work, u + k) - dot6(load6(work, y + 6 * k), a_out))
    for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
        if entry(index, b, BEARS) == 1:
            a, K = a_out, entry(index, b, AT_K)
            for k in range(nk):
                if moves(entry(index, b, MASK), k):
                    a = axpy6(get(out, entry(index, column + k, 0)), load6(work, K + 6 * k), a)
            store6(work, b * BODY_WORK + W_A, a)


def aba_with(implicit):
    """Make aba; ``implicit`` is its pass over LOOP clusters."""

    @paste
    def aba(index, params, work, keep, q, v, tau, out):
        """Write the acceleration to out and to the head of keep; external forces, if any, stand behind it in keep."""
        nv, first, last = entry(index, 0, NV), entry(index, 0, CLUSTER0), entry(index, 0, CLUSTER1)
        if wrong_size(index, q, v, tau, keep):
            return WRONG_SIZE
        forced = keep.shape[0] > nv
        start(params, work)
        singular, code, o = 0, 0, zero(work)
        for i in range(nv):
            put(out, i, get(tau, i))
        for c in range(first, last):
            kind = entry(index, c, TYPE)
            if kind == SINGLE:
                b, i_v = entry(index, c, FIRST), entry(index, c, COLUMN)
                up, w = entry(index, b, PARENT) * BODY_WORK, b * BODY_WORK
                R, x, S = hinge(index, params, work, q, b)
                vp, ap, rate = load6(work, up + W_V), load6(work, up + W_A), get(v, i_v)
                vj = scale6(rate, S)
                vel, acc = add6(vp, vj), add6(ap, crm(vp, vj))
                I = body_inertia(params, b, R, x)
                f = newton_euler(I, vel, acc)
                if forced:
                    f = sub6(f, external_force(index, params, keep, b, R, x))
                at = entry(index, c, AT_SPIN)
                if at >= 0:
                    h = rot(load9(work, up + W_R), load3(params, at))
                    store3(work, w + W_H, h)
                    put(work, w + W_B, dot3(h, angular(ap)))
                    if up > 0:
                        accumulate3(work, up + W_F + 3, scale3(rate, cross(angular(vp), h)))
                if entry(index, b, BEARS) == 0 and not forced:
                    # a leaf is eliminated at once, without a way through memory
                    if eliminate(index, params, work, out, c, rigid_as_sym6(I, o), S, f, rigid_mul(I, S)):
                        singular = c
                else:
                    set_body(work, b, R, x, vel, acc, f)
                    store6(work, w + W_S, S)
                    store21(work, w + W_I, rigid_as_sym6(I, o))
            elif kind == FREE:
                b, i_v = entry(index, c, FIRST), entry(index, c, COLUMN)
                R, vel = unit_rotation(o), load6(v, i_v)
                acc = base_gravity(index, params, work, q, b)
                I = body_inertia(params, b, R, (o, o, o))
                f = newton_euler(I, vel, acc)
                if forced:
                    f = sub6(f, external_force(index, params, keep, b, R, (o, o, o)))
                set_body(work, b, R, (o, o, o), vel, acc, f)
                store21(work, b * BODY_WORK + W_I, rigid_as_sym6(I, o))
            elif kind == HINGES and entry(index, c, NK) == 2:
                forward_hinges(index, params, work, q, v, keep, c, forced)
            elif kind == IMPLICIT:
                if implicit(index, params, work, q, v, keep, c, forced):
                    code = -c
            else:
                forward(index, params, work, q, v, keep, c, forced)
        if forced:
            rotor_forces(index, params, work, q, keep, out, 1.0)
        for i in range(last - first):
            c = last - 1 - i
            kind = entry(index, c, TYPE)
            if kind == SINGLE:
                b = entry(index, c, FIRST)
                if entry(index, b, BEARS) == 1 or forced:
                    w = b * BODY_WORK
                    I, S = load21(work, w + W_I), load6(work, w + W_S)
                    if eliminate(index, params, work, out, c, I, S, load6(work, w + W_F), sym6_mul(I, S)):
                        singular = c
            elif kind == FREE:
                b, i_v = entry(index, c, FIRST), entry(index, c, COLUMN)
                w = b * BODY_WORK
                inverse_d, d, L = sym6_factor(load21(work, w + W_I))
                for k in range(6):
                    if too_small(d[k], get(params, entry(index, c, AT_D) - 1)):
                        singular = c
                a = sym6_solve(inverse_d, L, sub6(load6(out, i_v), load6(work, w + W_F)))
                store6(work, w + W_A, a)
                store6(out, i_v, a)
            elif kind == HINGES and entry(index, c, NK) == 2:
                if backward_hinges(index, params, work, out, c):
                    singular = c
            elif backward(index, params, work, out, c):
                singular = c
        # from here on W_A is the correction to the a = 0 pass: none at the universe
        store6(work, W_A, (o, o, o, o, o, o))
        for c in range(first, last):
            kind = entry(index, c, TYPE)
            if kind == SINGLE:
                b = entry(index, c, FIRST)
                w = b * BODY_WORK
                a_up = load6(work, entry(index, b, PARENT) * BODY_WORK + W_A)
                a = get(work, w + W_Q) - dot6(load6(work, w + W_U), a_up)
                put(out, entry(index, c, COLUMN), a)
                if entry(index, b, BEARS) == 1:
                    store6(work, w + W_A, axpy6(a, load6(work, w + W_S), a_up))
            elif kind == HINGES and entry(index, c, NK) == 2:
                outward_hinges(index, work, out, c)
            elif kind != FREE:
                outward(index, work, out, c)
        for i in range(nv):
            put(keep, i, get(out, i))
        return code if code < 0 else singular

    return aba


aba = aba_with(nothing)
aba_loops = aba_with(forward_aba)


@kernel(signature(4), "aba (forward dynamics)", aba)
def aba_at(address, q, v, tau, out):
    """Call aba with the tables at an address."""
    index, params, work, keep = tables(address)
    return aba(index, params, work, keep, q, v, tau, out)


@kernel(signature(4), "aba (forward dynamics, closed loops)", aba_loops)
def aba_loops_at(address, q, v, tau, out):
    """Call aba with the tables at an address."""
    index, params, work, keep = tables(address)
    return aba_loops(index, params, work, keep, q, v, tau, out)
