"""Passes over force columns: ``inward`` computes W, (O2) and (O3); ``outward`` computes the accelerations (O5)."""

import math

from ...compiler.numba_jit.jit import inline
from ..clusters import articulated
from ..directions import Out
from ..numbers.ldl6 import entrywise, sym6_lower, sym6_upper
from ..numbers.memory import get, put, put_apart, put_zeros
from ..numbers.spatial import dot6, zero6
from ..numbers.tuples import Vec6, load6
from ..tables import workspace as ws
from ..tables.layout import FREE, SINGLE
from ..tables.views import body, cluster, listed
from .panel import at_body, at_w, reached


@inline
def inward_single(index, work, panel: Out, n, A, C, R):
    b = C.first
    up, S, U, root = body(index, b).parent, ws.axis(work, b), ws.UDinv(work, b), math.sqrt(ws.inverse_D(work, b))
    for j in range(R.first, R.last):
        k, p = at_w(n, A, C.column, j), load6(panel, at_body(A, b, j))
        u = get(panel, k) - dot6(S, p)
        put(panel, k, u * root)
        if up > 0:
            to = at_body(A, up, j)
            put(panel, to, load6(panel, to) + p + U * u)


@inline
def base_roots(work, C):
    """Return diag(e)^-1/2 of a free flyer."""
    i0, i1, i2, i3, i4, i5 = ws.base_inverse_d(work, C.first)
    return Vec6(math.sqrt(i0), math.sqrt(i1), math.sqrt(i2), math.sqrt(i3), math.sqrt(i4), math.sqrt(i5))


@inline
def base_entries(panel, n, A, C, j):
    k, w = at_w(n, A, C.column, j), A.width
    return Vec6(
        get(panel, k),
        get(panel, k + w),
        get(panel, k + 2 * w),
        get(panel, k + 3 * w),
        get(panel, k + 4 * w),
        get(panel, k + 5 * w),
    )


@inline
def inward_general(index, work, panel: Out, n, A, C, j):
    nk, at, total = C.nk, C.at_work, zero6()
    for b in range(C.first, C.last):
        total = total + load6(panel, at_body(A, b, j))
    for k in range(nk):
        to = at_w(n, A, listed(index, C.column, k), j)
        u = get(panel, to)
        for b in range(C.first, C.last):
            B = body(index, b)
            if articulated.moves(B.mask, k):
                u -= dot6(ws.K_column(work, B.at_K, k), load6(panel, at_body(A, b, j)))
        total = total + ws.UDinv_column(work, at, nk, k) * u
        for m in range(k):
            u -= get(panel, at_w(n, A, listed(index, C.column, m), j)) * ws.D_entry(work, at, nk, m, k)
        put(panel, to, u)
    for k in range(nk):
        to = at_w(n, A, listed(index, C.column, k), j)
        put(panel, to, get(panel, to) * math.sqrt(ws.D_entry(work, at, nk, k, k)))
    if C.out > 0:
        put(panel, at_body(A, C.out, j), load6(panel, at_body(A, C.out, j)) + total)


@inline
def inward(index, work, asked, panel: Out, n, A):
    for i in range(n.cluster1 - n.cluster0):
        c = n.cluster1 - 1 - i
        C, R = cluster(index, c), reached(asked, n, A, c)
        if C.kind == SINGLE:
            inward_single(index, work, panel, n, A, C, R)
        elif C.kind == FREE:
            for j in range(R.first, R.last):
                u = base_entries(panel, n, A, C, j) - load6(panel, at_body(A, C.first, j))
                w = entrywise(sym6_lower(ws.base_L(work, C.first), u), base_roots(work, C))
                put_apart(panel, at_w(n, A, C.column, j), A.width, w)
        else:
            for j in range(R.first, R.last):
                inward_general(index, work, panel, n, A, C, j)


@inline
def outward_single(index, work, panel: Out, n, A, C, columns):
    b = C.first
    S, U, root = ws.axis(work, b), ws.UDinv(work, b), math.sqrt(ws.inverse_D(work, b))
    for j in range(columns):
        to, a_up = at_w(n, A, C.column, j), load6(panel, at_body(A, C.out, j))
        a = get(panel, to) * root - dot6(U, a_up)
        put(panel, to, a)
        put(panel, at_body(A, b, j), a_up + S * a)


@inline
def outward_general(index, work, panel: Out, n, A, C, j):
    nk, at, a_out = C.nk, C.at_work, load6(panel, at_body(A, C.out, j))
    for i in range(nk):
        k = nk - 1 - i
        to = at_w(n, A, listed(index, C.column, k), j)
        a = get(panel, to) * math.sqrt(ws.D_entry(work, at, nk, k, k))
        for m in range(k + 1, nk):
            a -= get(panel, at_w(n, A, listed(index, C.column, m), j)) * ws.D_entry(work, at, nk, k, m)
        put(panel, to, a)
    for k in range(nk):
        to = at_w(n, A, listed(index, C.column, k), j)
        put(panel, to, get(panel, to) - dot6(ws.UDinv_column(work, at, nk, k), a_out))
    for b in range(C.first, C.last):
        B, a = body(index, b), a_out
        for k in range(nk):
            if articulated.moves(B.mask, k):
                a = a + ws.K_column(work, B.at_K, k) * get(panel, at_w(n, A, listed(index, C.column, k), j))
        put(panel, at_body(A, b, j), a)


@inline
def outward(index, work, panel: Out, n, A, columns):
    """Replace W by accelerations in the first ``columns`` columns."""
    put_zeros(panel, 0, 6 * columns)
    for c in range(n.cluster0, n.cluster1):
        C = cluster(index, c)
        if C.kind == SINGLE:
            outward_single(index, work, panel, n, A, C, columns)
        elif C.kind == FREE:
            for j in range(columns):
                w = entrywise(base_entries(panel, n, A, C, j), base_roots(work, C))
                a = sym6_upper(ws.base_L(work, C.first), w)
                put_apart(panel, at_w(n, A, C.column, j), A.width, a)
                put(panel, at_body(A, C.first, j), a)
        else:
            for j in range(columns):
                outward_general(index, work, panel, n, A, C, j)
