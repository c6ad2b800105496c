"""C-CRBA: the mass matrix of clusters, with spin elements."""

from __future__ import annotations

from ._jit import inline, kernel, paste, signature
from .articulated import at_spin, columns, moves, spin_columns
from .implicit import forward_crba, nothing
from .kinematics import body_inertia, hinge, place, start, unit_rotation
from .layout import (
    AT_D,
    AT_K,
    AT_SPIN,
    AT_WORK,
    BODY_WORK,
    CARRIER,
    CARRIER0,
    CARRIER1,
    CLUSTER,
    CLUSTER0,
    CLUSTER1,
    COLUMN,
    FIRST,
    FREE,
    HINGES,
    IMPLICIT,
    LAST,
    MASK,
    NK,
    NQ,
    NV,
    OK,
    OUT,
    PARENT,
    SINGLE,
    SOLE,
    TYPE,
    UNIT,
    W_H,
    W_I,
    W_P,
    W_R,
    W_S,
    WHICH,
    WRONG_SIZE,
)
from .memory import accumulate10, fill_square, load3, load6, load9, load10, store3, store6, store9, store10, zero6
from .simd import entry, get, put, tables, zero
from .spatial import add3, add6, angular, dot3, dot6, join, linear, rigid_mul, rot


def poses_with(implicit):
    """Make poses; ``implicit`` is its pass over LOOP clusters."""

    @inline
    def poses(index, params, work, q, apart):
        """Poses, motion subspaces, inertias, columns K; ``apart`` (a literal): joints of HINGES one by one, without K.

        Returns minus the row of a cluster whose closures are singular, or OK.
        """
        start(params, work)
        code = OK
        for c in range(entry(index, 0, CLUSTER0), entry(index, 0, CLUSTER1)):
            kind, o = entry(index, c, TYPE), zero(work)
            if kind == SINGLE:
                b = entry(index, c, FIRST)
                w = b * BODY_WORK
                R, x, S = hinge(index, params, work, q, b)
                store9(work, w + W_R, R)
                store3(work, w + W_P, x)
                store6(work, w + W_S, S)
                store10(work, w + W_I, body_inertia(params, b, R, x))
                if entry(index, c, AT_SPIN) >= 0:
                    R_up = load9(work, entry(index, b, PARENT) * BODY_WORK + W_R)
                    store3(work, w + W_H, rot(R_up, load3(params, entry(index, c, AT_SPIN))))
            elif kind == FREE:
                b = entry(index, c, FIRST)
                w = b * BODY_WORK
                R = unit_rotation(o)
                store9(work, w + W_R, R)
                store3(work, w + W_P, (o, o, o))
                store10(work, w + W_I, body_inertia(params, b, R, (o, o, o)))
            elif apart and kind == HINGES:
                for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
                    w, at = b * BODY_WORK, entry(index, c, AT_SPIN)
                    R, x, S = hinge(index, params, work, q, b)
                    store9(work, w + W_R, R)
                    store3(work, w + W_P, x)
                    store6(work, w + W_S, S)
                    store10(work, w + W_I, body_inertia(params, b, R, x))
                    if at >= 0:
                        R_out = load9(work, entry(index, c, OUT) * BODY_WORK + W_R)
                        store3(work, w + W_H, rot(R_out, load3(work, at + 3 * entry(index, b, WHICH))))
            elif kind == IMPLICIT:
                if implicit(index, params, work, q, c):
                    code = -c
            else:
                for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
                    w = b * BODY_WORK
                    place(index, params, work, q, b)
                    columns(index, params, work, c, b)
                    store10(work, w + W_I, body_inertia(params, b, load9(work, w + W_R), load3(work, w + W_P)))
                spin_columns(index, params, work, c)
        return code

    return poses


@inline
def to_ancestors(index, work, nv, body, F, i_v, M):
    """Entries of M between column i_v, whose force on ``body`` is F, and all clusters above."""
    while body > 0:
        k = entry(index, body, SOLE)
        if k >= 0:
            x = dot6(F, load6(work, body * BODY_WORK + W_S))
            put(M, k * nv + i_v, x)
            put(M, i_v * nv + k, x)
            body = entry(index, body, PARENT)
            continue
        c = entry(index, body, CLUSTER)
        if entry(index, c, TYPE) == FREE:
            k = entry(index, c, COLUMN)
            store6(M, i_v * nv + k, F)
            at = k * nv + i_v
            put(M, at, F[0])
            put(M, at + nv, F[1])
            put(M, at + 2 * nv, F[2])
            put(M, at + 3 * nv, F[3])
            put(M, at + 4 * nv, F[4])
            put(M, at + 5 * nv, F[5])
        else:
            K = entry(index, body, AT_K)
            for r in range(entry(index, c, NK)):
                k = entry(index, entry(index, c, COLUMN) + r, 0)
                x = dot6(F, load6(work, K + 6 * r))
                put(M, k * nv + i_v, x)
                put(M, i_v * nv + k, x)
        body = entry(index, c, OUT)


@inline
def base_block(I, o, nv, k, M):
    """Inertia of the whole robot in the axes of its free-flying base: [m, -[h]; [h], J]."""
    m, h = I[0], (I[1], I[2], I[3])
    J = (I[4], I[5], I[6], I[7], I[8], I[9])
    store6(M, k * nv + k, (m, o, o, o, h[2], -h[1]))
    store6(M, (k + 1) * nv + k, (o, m, o, -h[2], o, h[0]))
    store6(M, (k + 2) * nv + k, (o, o, m, h[1], -h[0], o))
    store6(M, (k + 3) * nv + k, (o, -h[2], h[1], J[0], J[1], J[2]))
    store6(M, (k + 4) * nv + k, (h[2], o, -h[0], J[1], J[3], J[4]))
    store6(M, (k + 5) * nv + k, (-h[1], h[0], o, J[2], J[4], J[5]))


@inline
def general(index, params, work, nv, c, M):
    """Block of a GENERAL cluster, and its entries with the clusters above."""
    nk, at, column, out = entry(index, c, NK), entry(index, c, AT_WORK), entry(index, c, COLUMN), entry(index, c, OUT)
    h, d = at + at_spin(nk), entry(index, c, AT_D)
    for k in range(nk):
        i_v, U = entry(index, column + k, 0), zero6(work)
        for m in range(k + 1):
            put(M, i_v * nv + entry(index, column + m, 0), get(work, d + k * nk + m))
        if entry(index, c, AT_SPIN) >= 0:
            U = join(linear(U), load3(work, h + 3 * k))
        for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
            mask, K = entry(index, b, MASK), entry(index, b, AT_K)
            if moves(mask, k):
                F = rigid_mul(load10(work, b * BODY_WORK + W_I), load6(work, K + 6 * k))
                U = add6(U, F)
                for m in range(k + 1):
                    if moves(mask, m):
                        i = i_v * nv + entry(index, column + m, 0)
                        put(M, i, get(M, i) + dot6(F, load6(work, K + 6 * m)))
        hc = h
        for r in range(entry(index, c, CARRIER0), entry(index, c, CARRIER1)):
            hc += 3 * nk
            K = entry(index, entry(index, r, CARRIER), AT_K)
            hk, Kk = load3(work, hc + 3 * k), load3(work, K + 6 * k + 3)
            U = join(linear(U), add3(angular(U), hk))
            for m in range(k + 1):
                i = i_v * nv + entry(index, column + m, 0)
                put(M, i, get(M, i) + dot3(hk, load3(work, K + 6 * m + 3)) + dot3(Kk, load3(work, hc + 3 * m)))
        for m in range(k):
            j_v = entry(index, column + m, 0)
            put(M, j_v * nv + i_v, get(M, i_v * nv + j_v))
        to_ancestors(index, work, nv, out, U, i_v, M)
    if out > 0:
        for b in range(entry(index, c, FIRST), entry(index, c, LAST)):
            accumulate10(work, out * BODY_WORK + W_I, load10(work, b * BODY_WORK + W_I))


@inline
def hinges(index, params, work, nv, c, M):
    """Block of a HINGES cluster, joint by joint, and its entries with the clusters above.

    The output body carries the spin elements: they tie the joints through D, and are felt above it alone.
    """
    nk, column, d, out = entry(index, c, NK), entry(index, c, COLUMN), entry(index, c, AT_D), entry(index, c, OUT)
    for k in range(nk):
        for m in range(nk):
            at = entry(index, column + k, 0) * nv + entry(index, column + m, 0)
            put(M, at, get(work, d + k * nk + m))
    for i in range(entry(index, c, LAST) - entry(index, c, FIRST)):
        b = entry(index, c, LAST) - 1 - i
        w, i_v, p = b * BODY_WORK, entry(index, b, UNIT), entry(index, b, PARENT)
        I, S = load10(work, w + W_I), load6(work, w + W_S)
        F = rigid_mul(I, S)
        put(M, i_v * nv + i_v, get(M, i_v * nv + i_v) + dot6(F, S))
        above = p
        while above != out:
            j_v = entry(index, above, UNIT)
            x = get(M, i_v * nv + j_v) + dot6(F, load6(work, above * BODY_WORK + W_S))
            put(M, i_v * nv + j_v, x)
            put(M, j_v * nv + i_v, x)
            above = entry(index, above, PARENT)
        if entry(index, c, AT_SPIN) >= 0:
            h = load3(work, w + W_H)
            F = (F[0], F[1], F[2], F[3] + h[0], F[4] + h[1], F[5] + h[2])
        to_ancestors(index, work, nv, out, F, i_v, M)
        if p > 0:
            accumulate10(work, p * BODY_WORK + W_I, I)


def crba_with(implicit):
    """Make crba with its result copied; ``implicit`` is its pass over LOOP clusters."""
    place_all = poses_with(implicit)

    @paste
    def crba(index, params, work, M, q):
        """Write the mass matrix to M, which must be zero where clusters are on different branches."""
        nv, first, last = entry(index, 0, NV), entry(index, 0, CLUSTER0), entry(index, 0, CLUSTER1)
        if q.shape[0] != entry(index, 0, NQ) or M.shape[0] != nv * nv:
            return WRONG_SIZE
        code = place_all(index, params, work, q, True)
        for i in range(last - first):
            c = last - 1 - i
            kind = entry(index, c, TYPE)
            if kind == SINGLE:
                b, i_v = entry(index, c, FIRST), entry(index, c, COLUMN)
                w, p = b * BODY_WORK, entry(index, b, PARENT)
                I, S = load10(work, w + W_I), load6(work, w + W_S)
                F = rigid_mul(I, S)
                put(M, i_v * nv + i_v, dot6(F, S) + get(params, entry(index, c, AT_D)))
                if entry(index, c, AT_SPIN) >= 0:
                    h = load3(work, w + W_H)
                    F = (F[0], F[1], F[2], F[3] + h[0], F[4] + h[1], F[5] + h[2])
                to_ancestors(index, work, nv, p, F, i_v, M)
                if p > 0:
                    accumulate10(work, p * BODY_WORK + W_I, I)
            elif kind == FREE:
                b, k = entry(index, c, FIRST), entry(index, c, COLUMN)
                base_block(load10(work, b * BODY_WORK + W_I), zero(work), nv, k, M)
            elif kind == HINGES:
                hinges(index, params, work, nv, c, M)
            else:
                general(index, params, work, nv, c, M)
        return code

    @paste
    def crba_copied(index, params, work, keep, q, out):
        """Run crba, and copy its result to out, shape (nv, nv)."""
        code = crba(index, params, work, keep, q)
        return code if fill_square(keep, entry(index, 0, NV), out) else WRONG_SIZE

    return crba_copied


crba = crba_with(nothing)
crba_loops = crba_with(forward_crba)


@kernel(signature(1, 1), "crba (mass matrix)", crba)
def crba_at(address, q, out):
    """Call crba with the tables at an address."""
    index, params, work, keep = tables(address)
    return crba(index, params, work, keep, q, out)


@kernel(signature(1, 1), "crba (mass matrix, closed loops)", crba_loops)
def crba_loops_at(address, q, out):
    """Call crba with the tables at an address."""
    index, params, work, keep = tables(address)
    return crba_loops(index, params, work, keep, q, out)
