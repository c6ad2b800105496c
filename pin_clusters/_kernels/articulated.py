"""The articulated inertia of a GENERAL cluster: columns K, U, D and its factors. Shared by aba and minverse."""

from __future__ import annotations

from ._jit import inline
from .layout import (
    AT_CARRIED,
    AT_D,
    AT_G,
    AT_K,
    AT_S,
    AT_SPIN,
    AT_WORK,
    BODY_WORK,
    CARRIER,
    CARRIER0,
    CARRIER1,
    CLUSTER,
    COLUMN,
    FIRST,
    LAST,
    MASK,
    NDOF,
    NK,
    OUT,
    PARENT,
    SMALLEST,
    W_B,
    W_F,
    W_H,
    W_I,
    W_Q,
    W_R,
    W_U,
)
from .memory import accumulate3, accumulate6, accumulate21, load3, load6, load9, load21, store3, store6, zero6
from .pack import too_small
from .simd import entry, get, put, zero
from .spatial import add21, axpy6, dot3, dot6, rot, scale6, sym6_minus_outer, sym6_mul


@inline
def at_y(nk):
    """Offset of Y = D^-1 U' in the work of a cluster."""
    return 6 * nk


@inline
def at_d(nk):
    """Offset of D, later its factors."""
    return 12 * nk


@inline
def at_u(nk):
    """Offset of u."""
    return 12 * nk + nk * nk


@inline
def at_spin(nk):
    """Offset of the spin momenta in the world: the output body's, then those of the carriers inside."""
    return 13 * nk + nk * nk


@inline
def moves(mask, k):
    """Whether column k moves a body; a mask of ones stands for more columns than bits, so never shift by 64."""
    return (mask >> min(k, 62)) & 1 == 1


@inline
def columns(index, params, work, c, b):
    """K_b = K_parent + S_b G_b."""
    nk, g, s, at = entry(index, c, NK), entry(index, b, AT_G), entry(index, b, AT_S), entry(index, b, AT_K)
    p = entry(index, b, PARENT)
    up, above = entry(index, p, AT_K), 0
    if p > 0 and entry(index, p, CLUSTER) == c:
        above = entry(index, p, MASK)
    for k in range(nk):
        if moves(entry(index, b, MASK), k):
            K = zero6(work)
            if moves(above, k):
                K = load6(work, up + 6 * k)
            for d in range(entry(index, b, NDOF)):
                K = axpy6(get(work, g + d * nk + k), load6(work, s + 6 * d), K)
            store6(work, at + 6 * k, K)
        else:
            store6(work, at + 6 * k, zero6(work))


@inline
def spin_columns(index, params, work, c):
    """Turn the spin momenta per unit velocity to the world."""
    nk = entry(index, c, NK)
    to = entry(index, c, AT_WORK) + at_spin(nk)
    if entry(index, c, AT_SPIN) >= 0:
        R = load9(work, entry(index, c, OUT) * BODY_WORK + W_R)
        for k in range(nk):
            store3(work, to + 3 * k, rot(R, load3(work, entry(index, c, AT_SPIN) + 3 * k)))
    for r in range(entry(index, c, CARRIER0), entry(index, c, CARRIER1)):
        to += 3 * nk
        R = load9(work, entry(index, r, CARRIER) * BODY_WORK + W_R)
        for k in range(nk):
            store3(work, to + 3 * k, rot(R, load3(work, entry(index, r, AT_CARRIED) + 3 * k)))


@inline
def assemble(index, params, work, c):
    """Collect U and D of a cluster (bodies, armature, spin elements); returns the sum of its bodies' inertias."""
    nk, at, diagonal = entry(index, c, NK), entry(index, c, AT_WORK), entry(index, c, AT_D)
    d = at + at_d(nk)
    for k in range(6 * nk):
        put(work, at + k, zero(work))
    for k in range(nk * nk):
        put(work, d + k, get(work, diagonal + k))
    o = zero(work)
    total = (o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o, o)
    for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
        I, K, mask = load21(work, b * BODY_WORK + W_I), entry(index, b, AT_K), entry(index, b, MASK)
        total = add21(total, I)
        for k in range(nk):
            if moves(mask, k):
                U = sym6_mul(I, load6(work, K + 6 * k))
                accumulate6(work, at + 6 * k, U)
                for m in range(k + 1):
                    if moves(mask, m):
                        i = d + k * nk + m
                        put(work, i, get(work, i) + dot6(load6(work, K + 6 * m), U))
    h = at + at_spin(nk)
    if entry(index, c, AT_SPIN) >= 0:
        for k in range(nk):
            accumulate3(work, at + 6 * k + 3, load3(work, h + 3 * k))
    for r in range(entry(index, c, CARRIER0), entry(index, c, CARRIER1)):
        h += 3 * nk
        K = entry(index, entry(index, r, CARRIER), AT_K)
        for k in range(nk):
            hk, Kk = load3(work, h + 3 * k), load3(work, K + 6 * k + 3)
            accumulate3(work, at + 6 * k + 3, hk)
            for m in range(k + 1):
                i = d + k * nk + m
                put(work, i, get(work, i) + dot3(Kk, load3(work, h + 3 * m)) + dot3(hk, load3(work, K + 6 * m + 3)))
    return total


@inline
def factor(index, params, work, c):
    """D = L diag(e) L' in place, with 1/e on the diagonal; Y = D^-1 U'. Returns whether D is singular."""
    nk, at = entry(index, c, NK), entry(index, c, AT_WORK)
    d, y, singular = at + at_d(nk), at + at_y(nk), False
    smallest = get(params, entry(index, c, SMALLEST))
    for k in range(nk):
        # L e stands below the diagonal (the rows below need it), L above it
        for m in range(k):
            t = get(work, d + k * nk + m)
            for r in range(m):
                t -= get(work, d + k * nk + r) * get(work, d + r * nk + m)
            put(work, d + k * nk + m, t)
        t = get(work, d + k * nk + k)
        for m in range(k):
            le = get(work, d + k * nk + m)
            ell = le * get(work, d + m * nk + m)
            t -= le * ell
            put(work, d + m * nk + k, ell)
        if too_small(t, smallest):
            singular = True
        put(work, d + k * nk + k, 1.0 / t)
    for k in range(nk):
        Y = load6(work, at + 6 * k)
        for m in range(k):
            Y = axpy6(-get(work, d + m * nk + k), load6(work, y + 6 * m), Y)
        store6(work, y + 6 * k, Y)
    for i in range(nk):
        k = nk - 1 - i
        Y = scale6(get(work, d + k * nk + k), load6(work, y + 6 * k))
        for m in range(k + 1, nk):
            Y = axpy6(-get(work, d + k * nk + m), load6(work, y + 6 * m), Y)
        store6(work, y + 6 * k, Y)
    return singular


@inline
def solve(index, work, c):
    """U <- D^-1 u."""
    nk, at = entry(index, c, NK), entry(index, c, AT_WORK)
    d, u = at + at_d(nk), at + at_u(nk)
    for k in range(nk):
        t = get(work, u + k)
        for m in range(k):
            t -= get(work, d + m * nk + k) * get(work, u + m)
        put(work, u + k, t)
    for i in range(nk):
        k = nk - 1 - i
        t = get(work, u + k) * get(work, d + k * nk + k)
        for m in range(k + 1, nk):
            t -= get(work, d + k * nk + m) * get(work, u + m)
        put(work, u + k, t)


@inline
def hand_up(index, work, c, total):
    """I_out += sum I_b - U D^-1 U'."""
    nk, at, p = entry(index, c, NK), entry(index, c, AT_WORK), entry(index, c, OUT)
    if p > 0:
        for k in range(nk):
            total = sym6_minus_outer(total, load6(work, at + 6 * k), load6(work, at + at_y(nk) + 6 * k))
        accumulate21(work, p * BODY_WORK + W_I, total)


@inline
def eliminate(index, params, work, out, c, I, S, f, U):
    """Hand what a SINGLE cluster has to its parent (U = I S); returns whether D is singular."""
    b, at = entry(index, c, FIRST), entry(index, c, AT_D)
    w, p = b * BODY_WORK, entry(index, b, PARENT)
    d = dot6(S, U) + get(params, at)
    singular = too_small(d, get(params, at - 1))
    d = 1.0 / d
    u = get(out, entry(index, c, COLUMN)) - dot6(S, f)
    if entry(index, c, AT_SPIN) >= 0:
        h = load3(work, w + W_H)
        u -= get(work, w + W_B)
        U = (U[0], U[1], U[2], U[3] + h[0], U[4] + h[1], U[5] + h[2])
    Y = scale6(d, U)
    if p > 0:
        accumulate21(work, p * BODY_WORK + W_I, sym6_minus_outer(I, U, Y))
        accumulate6(work, p * BODY_WORK + W_F, axpy6(u, Y, f))
    store6(work, w + W_U, Y)
    put(work, w + W_Q, d * u)
    return singular
