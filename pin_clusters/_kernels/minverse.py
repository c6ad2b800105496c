"""The inverse mass matrix in O(n^2): the articulated inertias once, then one unit torque after the other."""

from __future__ import annotations

from ._jit import inline, kernel, paste, signature
from .articulated import assemble, at_u, at_y, factor, hand_up, solve
from .crba import poses_with
from .implicit import forward_crba, nothing
from .layout import (
    AT_D,
    AT_K,
    AT_SPIN,
    AT_WORK,
    BODY_WORK,
    CLUSTER,
    CLUSTER0,
    CLUSTER1,
    COLUMN,
    FIRST,
    FREE,
    LAST,
    NB,
    NK,
    NQ,
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
    W_Q,
    W_S,
    W_U,
    WRONG_SIZE,
)
from .memory import accumulate21, fill_square, load3, load6, load10, load15, load21, store6, store15, store21, zero6
from .pack import too_small
from .simd import entry, get, put, tables, zero
from .solve import sym6_factor, sym6_solve
from .spatial import axpy6, dot6, rigid_as_sym6, scale6, sym6_minus_outer, sym6_mul


@inline
def eliminate(index, params, work):
    """Articulated inertias and factors of all clusters; returns the row of a singular one, or 0."""
    first, last, singular = entry(index, 0, CLUSTER0), entry(index, 0, CLUSTER1), 0
    for b in range(1, entry(index, 0, NB) + 1):
        w = b * BODY_WORK
        store21(work, w + W_I, rigid_as_sym6(load10(work, w + W_I), zero(work)))
    for i in range(last - first):
        c = last - 1 - i
        if entry(index, c, TYPE) == SINGLE:
            b = entry(index, c, FIRST)
            w, p = b * BODY_WORK, entry(index, b, PARENT)
            I, S = load21(work, w + W_I), load6(work, w + W_S)
            U = sym6_mul(I, S)
            d = dot6(S, U) + get(params, entry(index, c, AT_D))
            if too_small(d, get(params, entry(index, c, AT_D) - 1)):
                singular = c
            d = 1.0 / d
            if entry(index, c, AT_SPIN) >= 0:
                h = load3(work, w + W_H)
                U = (U[0], U[1], U[2], U[3] + h[0], U[4] + h[1], U[5] + h[2])
            Y = scale6(d, U)
            if p > 0:
                accumulate21(work, p * BODY_WORK + W_I, sym6_minus_outer(I, U, Y))
            store6(work, w + W_U, Y)
            put(work, w + W_B, d)
        elif entry(index, c, TYPE) == FREE:
            at = entry(index, c, FIRST) * BODY_WORK + W_I
            inverse_d, d, L = sym6_factor(load21(work, at))
            for k in range(6):
                if too_small(d[k], get(params, entry(index, c, AT_D) - 1)):
                    singular = c
            # the factors take the inertia's place, for all columns
            store6(work, at, inverse_d)
            store15(work, at + 6, L)
        else:
            total = assemble(index, params, work, c)
            if factor(index, params, work, c):
                singular = c
            hand_up(index, work, c, total)
    return singular


@inline
def inward(index, work, c, k):
    """Carry a unit torque on column k of cluster c to the base: the solutions u of all clusters on the way."""
    kind = entry(index, c, TYPE)
    if kind == FREE:
        return
    if kind == SINGLE:
        w = entry(index, c, FIRST) * BODY_WORK
        put(work, w + W_Q, get(work, w + W_B))
        F = load6(work, w + W_U)
    else:
        nk, at = entry(index, c, NK), entry(index, c, AT_WORK)
        u = at + at_u(nk)
        for m in range(nk):
            put(work, u + m, zero(work))
        put(work, u + k, zero(work) + 1.0)
        solve(index, work, c)
        F = load6(work, at + at_y(nk) + 6 * k)
    b = entry(index, c, OUT)
    while b > 0:
        c = entry(index, b, CLUSTER)
        kind = entry(index, c, TYPE)
        if kind == SINGLE:
            w = b * BODY_WORK
            u = -dot6(load6(work, w + W_S), F)
            put(work, w + W_Q, u * get(work, w + W_B))
            F = axpy6(u, load6(work, w + W_U), F)
        elif kind == FREE:
            store6(work, b * BODY_WORK + W_F, F)
        else:
            nk, at, K = entry(index, c, NK), entry(index, c, AT_WORK), entry(index, b, AT_K)
            u = at + at_u(nk)
            for m in range(nk):
                t = -dot6(load6(work, K + 6 * m), F)
                put(work, u + m, t)
            # Y' u and U D^-1 u are the same; the factors are used once, in solve
            for m in range(nk):
                F = axpy6(get(work, u + m), load6(work, at + at_y(nk) + 6 * m), F)
            solve(index, work, c)
        b = entry(index, c, OUT)


@inline
def outward(index, work, nv, c, i_v, Minv):
    """Accelerations of cluster c under the unit torque i_v; written to row and column."""
    kind = entry(index, c, TYPE)
    if kind == SINGLE:
        b = entry(index, c, FIRST)
        w = b * BODY_WORK
        a_up = load6(work, entry(index, b, PARENT) * BODY_WORK + W_A)
        a = get(work, w + W_Q) - dot6(load6(work, w + W_U), a_up)
        store6(work, w + W_A, axpy6(a, load6(work, w + W_S), a_up))
        put(Minv, entry(index, c, COLUMN) * nv + i_v, a)
        put(Minv, i_v * nv + entry(index, c, COLUMN), a)
    else:
        nk, at, column = entry(index, c, NK), entry(index, c, AT_WORK), entry(index, c, COLUMN)
        a_out = load6(work, entry(index, c, OUT) * BODY_WORK + W_A)
        u, y = at + at_u(nk), at + at_y(nk)
        for k in range(nk):
            a = get(work, u + k) - dot6(load6(work, y + 6 * k), a_out)
            put(Minv, entry(index, column + k, 0) * nv + i_v, a)
            put(Minv, i_v * nv + entry(index, column + k, 0), a)
        for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
            a, K = a_out, entry(index, b, AT_K)
            for k in range(nk):
                a = axpy6(get(Minv, i_v * nv + entry(index, column + k, 0)), load6(work, K + 6 * k), a)
            store6(work, b * BODY_WORK + W_A, a)


@inline
def clear(index, work, c):
    """Forget the torques of the column before."""
    kind = entry(index, c, TYPE)
    if kind == SINGLE:
        put(work, entry(index, c, FIRST) * BODY_WORK + W_Q, zero(work))
    elif kind == FREE:
        store6(work, entry(index, c, FIRST) * BODY_WORK + W_F, zero6(work))
    else:
        nk = entry(index, c, NK)
        for k in range(nk):
            put(work, entry(index, c, AT_WORK) + at_u(nk) + k, zero(work))


def minverse_with(implicit):
    """Make minverse with its result copied; ``implicit`` is its pass over LOOP clusters."""
    place_all = poses_with(implicit)

    @paste
    def minverse(index, params, work, Minv, q):
        """Write the inverse mass matrix; cluster by cluster, the rows of earlier clusters follow from symmetry."""
        nv, first, last = entry(index, 0, NV), entry(index, 0, CLUSTER0), entry(index, 0, CLUSTER1)
        if q.shape[0] != entry(index, 0, NQ) or Minv.shape[0] != nv * nv:
            return WRONG_SIZE
        code = place_all(index, params, work, q, False)
        singular = eliminate(index, params, work)
        store6(work, W_A, zero6(work))
        o = zero(work)
        for c in range(first, last):
            kind = entry(index, c, TYPE)
            for k in range(entry(index, c, NK)):
                i_v = entry(index, c, COLUMN) + k
                if kind != FREE and kind != SINGLE:
                    i_v = entry(index, entry(index, c, COLUMN) + k, 0)
                for r in range(first, c + 1):
                    clear(index, work, r)
                inward(index, work, c, k)
                for r in range(first, c + 1):
                    if entry(index, r, TYPE) == FREE:
                        b = entry(index, r, FIRST)
                        w, j_v = b * BODY_WORK, entry(index, r, COLUMN)
                        if r == c:
                            put(work, w + W_F + k, o - 1.0)
                        f = load6(work, w + W_F)
                        t = (-f[0], -f[1], -f[2], -f[3], -f[4], -f[5])
                        a = sym6_solve(load6(work, w + W_I), load15(work, w + W_I + 6), t)
                        store6(work, w + W_A, a)
                        store6(Minv, i_v * nv + j_v, a)
                        for m in range(6):
                            put(Minv, (j_v + m) * nv + i_v, get(Minv, i_v * nv + j_v + m))
                    else:
                        outward(index, work, nv, r, i_v, Minv)
        return code if code < 0 else singular

    @paste
    def minverse_copied(index, params, work, keep, q, out):
        """Run minverse, and copy its result to out, shape (nv, nv)."""
        code = minverse(index, params, work, keep, q)
        return code if fill_square(keep, entry(index, 0, NV), out) else WRONG_SIZE

    return minverse_copied


minverse = minverse_with(nothing)
minverse_loops = minverse_with(forward_crba)


@kernel(signature(1, 1), "computeMinverse (inverse mass matrix)", minverse)
def minverse_at(address, q, out):
    """Call minverse with the tables at an address."""
    index, params, work, keep = tables(address)
    return minverse(index, params, work, keep, q, out)


@kernel(signature(1, 1), "computeMinverse (inverse mass matrix, closed loops)", minverse_loops)
def minverse_loops_at(address, q, out):
    """Call minverse with the tables at an address."""
    index, params, work, keep = tables(address)
    return minverse_loops(index, params, work, keep, q, out)
