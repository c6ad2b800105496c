"""The articulated inertia of a cluster of two independent velocities, in registers: belts and differentials."""

from __future__ import annotations

from ._jit import inline
from .articulated import at_spin, at_u, at_y
from .layout import AT_D, AT_K, AT_SPIN, AT_WORK, BODY_WORK, COLUMN, FIRST, LAST, MASK, OUT, W_F, W_I
from .simd import entry, get, put, too_small, zero
from .spatial import (
    accumulate6,
    accumulate21,
    add6,
    add21,
    axpy6,
    dot6,
    join,
    load3,
    load6,
    load21,
    scale6,
    store6,
    sym6_minus_outer,
    sym6_mul,
    zero6,
)


@inline
def backward_pair(index, params, work, out, c):
    """What assemble, factor, solve and hand_up do, for two columns and no carrier inside."""
    at, column, d = entry(index, c, AT_WORK), entry(index, c, COLUMN), entry(index, c, AT_D)
    u, o = at + at_u(2), zero(work)
    d00, d01, d11 = o + get(params, d), o + get(params, d + 1), o + get(params, d + 3)
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
    e0 = 1.0 / d00
    ell = d01 * e0
    d11 -= ell * d01
    smallest = get(params, d - 1)
    singular = too_small(d00, smallest) or too_small(d11, smallest)
    e1 = 1.0 / d11
    Y1 = scale6(e1, axpy6(-ell, U0, U1))
    Y0 = axpy6(-ell, Y1, scale6(e0, U0))
    w1 = e1 * (u1 - ell * u0)
    w0 = e0 * u0 - ell * w1
    store6(work, at + at_y(2), Y0)
    store6(work, at + at_y(2) + 6, Y1)
    put(work, u, w0)
    put(work, u + 1, w1)
    p = entry(index, c, OUT)
    if p > 0:
        total = sym6_minus_outer(sym6_minus_outer(total, U0, Y0), U1, Y1)
        accumulate21(work, p * BODY_WORK + W_I, total)
        accumulate6(work, p * BODY_WORK + W_F, axpy6(w0, U0, axpy6(w1, U1, force)))
    return singular
