"""The passes of columns: from the tips inward to W, and outward to accelerations; some packs at a time."""

from __future__ import annotations

import math

from ..clusters import articulated
from ..compiling.jit import inline
from ..numbers.ldl6 import entrywise, sym6_lower, sym6_upper
from ..numbers.simd import get, put, zero
from ..numbers.spatial import dot6, zero6
from ..numbers.tuples import Vec6, load6
from ..tables import workspace as ws
from ..tables.layout import FREE, SINGLE
from ..tables.views import body, cluster, listed
from .pairs import inward_pair, outward_pair
from .panel import at_body, at_w, reached


@inline
def inward_single(index, work, asked, panel, n, C, row, packs):
    """(O2), (O3) of a cluster of one joint, for the packs that reach it."""
    b = C.first
    up, S, U, root = body(index, b).parent, ws.axis(work, b), ws.UDinv(work, b), math.sqrt(ws.inverse_D(work, b))
    for i in range(packs):
        P = asked[row, 1 + i]
        k, p = at_w(n, P, C.column), load6(panel, at_body(n, P, b))
        u = get(panel, k) - dot6(S, p)
        put(panel, k, u * root)
        if up > 0:
            to = at_body(n, P, up)
            put(panel, to, load6(panel, to) + p + U * u)


@inline
def base_roots(work, C):
    """diag(e)^-1/2 of a free flyer."""
    i0, i1, i2, i3, i4, i5 = ws.base_inverse_d(work, C.first)
    return Vec6(math.sqrt(i0), math.sqrt(i1), math.sqrt(i2), math.sqrt(i3), math.sqrt(i4), math.sqrt(i5))


@inline
def inward_free(work, panel, n, C, P):
    """The same of a free flyer."""
    k = at_w(n, P, C.column)
    u = load6(panel, k) - load6(panel, at_body(n, P, C.first))
    put(panel, k, entrywise(sym6_lower(ws.base_L(work, C.first), u), base_roots(work, C)))


@inline
def inward_general(index, work, panel, n, C, P):
    """The same of any other cluster."""
    nk, at, total = C.nk, C.at_work, zero6(zero(panel))
    for b in range(C.first, C.last):
        total = total + load6(panel, at_body(n, P, b))
    for k in range(nk):
        to = at_w(n, P, listed(index, C.column, k))
        u = get(panel, to)
        for b in range(C.first, C.last):
            B = body(index, b)
            if articulated.moves(B.mask, k):
                u -= dot6(ws.K_column(work, B.at_K, k), load6(panel, at_body(n, P, b)))
        total = total + ws.UDinv_column(work, at, nk, k) * u
        for m in range(k):
            u -= get(panel, at_w(n, P, listed(index, C.column, m))) * ws.D_entry(work, at, nk, m, k)
        put(panel, to, u)
    for k in range(nk):
        to = at_w(n, P, listed(index, C.column, k))
        put(panel, to, get(panel, to) * math.sqrt(ws.D_entry(work, at, nk, k, k)))
    if C.out > 0:
        put(panel, at_body(n, P, C.out), load6(panel, at_body(n, P, C.out)) + total)


@inline
def inward(index, work, asked, panel, n, A, P0):
    """(O2), (O3): the rows of W of the packs at work from P0 on."""
    for i in range(n.cluster1 - n.cluster0):
        c = n.cluster1 - 1 - i
        C = cluster(index, c)
        row, packs = reached(asked, n, A, P0, c)
        if C.kind == SINGLE:
            inward_single(index, work, asked, panel, n, C, row, packs)
        elif C.kind != FREE and C.nk == 2:
            inward_pair(index, work, asked, panel, n, C, row, packs)
        else:
            for k in range(packs):
                P = asked[row, 1 + k]
                if C.kind == FREE:
                    inward_free(work, panel, n, C, P)
                else:
                    inward_general(index, work, panel, n, C, P)


@inline
def outward_free(work, panel, n, C, P):
    """(O5) of a free flyer: its acceleration, from its rows of W."""
    w = entrywise(load6(panel, at_w(n, P, C.column)), base_roots(work, C))
    a = sym6_upper(ws.base_L(work, C.first), w)
    put(panel, at_w(n, P, C.column), a)
    put(panel, at_body(n, P, C.first), a)


@inline
def outward_single(index, work, panel, n, C, P0, P1):
    """(O5) of a cluster of one joint."""
    b = C.first
    B, S, U, root = body(index, b), ws.axis(work, b), ws.UDinv(work, b), math.sqrt(ws.inverse_D(work, b))
    for P in range(P0, P1):
        to, a_up = at_w(n, P, C.column), load6(panel, at_body(n, P, C.out))
        a = get(panel, to) * root - dot6(U, a_up)
        put(panel, to, a)
        if B.bears == 1:
            put(panel, at_body(n, P, b), a_up + S * a)


@inline
def outward_general(index, work, panel, n, C, P):
    """(O5) of a cluster with a list of columns."""
    nk, at, a_out = C.nk, C.at_work, load6(panel, at_body(n, P, C.out))
    for i in range(nk):
        k = nk - 1 - i
        to = at_w(n, P, listed(index, C.column, k))
        a = get(panel, to) * math.sqrt(ws.D_entry(work, at, nk, k, k))
        for m in range(k + 1, nk):
            a -= get(panel, at_w(n, P, listed(index, C.column, m))) * ws.D_entry(work, at, nk, k, m)
        put(panel, to, a)
    for k in range(nk):
        to = at_w(n, P, listed(index, C.column, k))
        put(panel, to, get(panel, to) - dot6(ws.UDinv_column(work, at, nk, k), a_out))
    for b in range(C.first, C.last):
        B, a = body(index, b), a_out
        if B.bears == 1:
            for k in range(nk):
                if articulated.moves(B.mask, k):
                    a = a + ws.K_column(work, B.at_K, k) * get(panel, at_w(n, P, listed(index, C.column, k)))
            put(panel, at_body(n, P, b), a)


@inline
def outward(index, work, panel, n, P0, P1):
    """(O5): accelerations of some packs, in the place of W."""
    for P in range(P0, P1):
        put(panel, at_body(n, P, 0), zero6(zero(panel)))
    for c in range(n.cluster0, n.cluster1):
        C = cluster(index, c)
        if C.kind == SINGLE:
            outward_single(index, work, panel, n, C, P0, P1)
        elif C.kind != FREE and C.nk == 2:
            outward_pair(index, work, panel, n, C, P0, P1)
        else:
            for P in range(P0, P1):
                if C.kind == FREE:
                    outward_free(work, panel, n, C, P)
                else:
                    outward_general(index, work, panel, n, C, P)
