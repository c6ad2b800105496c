"""The passes of columns: from the tips inward to W, and outward to accelerations; some packs at a time."""

from __future__ import annotations

import math

from ..clusters import articulated
from ..compiling.jit import inline
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
def inward_free(work, panel, n, C, P):
    """The same of a free flyer."""
    i0, i1, i2, i3, i4, i5 = ws.base_inverse_d(work, C.first)
    l10, l20, l21, l30, l31, l32, l40, l41, l42, l43, l50, l51, l52, l53, l54 = ws.base_L(work, C.first)
    k = at_w(n, P, C.column)
    u = load6(panel, k) - load6(panel, at_body(n, P, C.first))
    y0 = u[0]
    y1 = u[1] - y0 * l10
    y2 = u[2] - y0 * l20 - y1 * l21
    y3 = u[3] - y0 * l30 - y1 * l31 - y2 * l32
    y4 = u[4] - y0 * l40 - y1 * l41 - y2 * l42 - y3 * l43
    y5 = u[5] - y0 * l50 - y1 * l51 - y2 * l52 - y3 * l53 - y4 * l54
    w012 = y0 * math.sqrt(i0), y1 * math.sqrt(i1), y2 * math.sqrt(i2)
    put(panel, k, Vec6(*w012, y3 * math.sqrt(i3), y4 * math.sqrt(i4), y5 * math.sqrt(i5)))


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
    i0, i1, i2, i3, i4, i5 = ws.base_inverse_d(work, C.first)
    l10, l20, l21, l30, l31, l32, l40, l41, l42, l43, l50, l51, l52, l53, l54 = ws.base_L(work, C.first)
    w = load6(panel, at_w(n, P, C.column))
    a5 = w[5] * math.sqrt(i5)
    a4 = w[4] * math.sqrt(i4) - a5 * l54
    a3 = w[3] * math.sqrt(i3) - a4 * l43 - a5 * l53
    a2 = w[2] * math.sqrt(i2) - a3 * l32 - a4 * l42 - a5 * l52
    a1 = w[1] * math.sqrt(i1) - a2 * l21 - a3 * l31 - a4 * l41 - a5 * l51
    a0 = w[0] * math.sqrt(i0) - a1 * l10 - a2 * l20 - a3 * l30 - a4 * l40 - a5 * l50
    a = Vec6(a0, a1, a2, a3, a4, a5)
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
