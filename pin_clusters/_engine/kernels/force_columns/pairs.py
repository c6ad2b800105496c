"""The passes of columns for clusters of two independent velocities, with what belongs to them in registers."""

from __future__ import annotations

import math

from ..clusters import articulated
from ..compiling.jit import inline
from ..numbers.simd import get, put, zero
from ..numbers.spatial import dot6, zero6
from ..numbers.tuples import load6
from ..tables import workspace as ws
from ..tables.views import body, listed
from .panel import at_body, at_w


@inline
def inward_pair(index, work, asked, panel, n, C, row, packs):
    """(O2), (O3), for the packs that reach it."""
    i0, i1, at = listed(index, C.column, 0), listed(index, C.column, 1), C.at_work
    ell, root0, root1 = ws.D_entry(work, at, 2, 0, 1), ws.D_entry(work, at, 2, 0, 0), ws.D_entry(work, at, 2, 1, 1)
    root0, root1 = math.sqrt(root0), math.sqrt(root1)
    for i in range(packs):
        P = asked[row, 1 + i]
        k0, k1, total = at_w(n, P, i0), at_w(n, P, i1), zero6(zero(panel))
        u0, u1 = get(panel, k0), get(panel, k1)
        for b in range(C.first, C.last):
            B, p = body(index, b), load6(panel, at_body(n, P, b))
            total = total + p
            if articulated.moves(B.mask, 0):
                u0 -= dot6(ws.K_column(work, B.at_K, 0), p)
            if articulated.moves(B.mask, 1):
                u1 -= dot6(ws.K_column(work, B.at_K, 1), p)
        put(panel, k0, u0 * root0)
        put(panel, k1, (u1 - u0 * ell) * root1)
        if C.out > 0:
            to, Y0, Y1 = at_body(n, P, C.out), ws.UDinv_column(work, at, 2, 0), ws.UDinv_column(work, at, 2, 1)
            put(panel, to, load6(panel, to) + total + Y0 * u0 + Y1 * u1)


@inline
def outward_pair(index, work, panel, n, C, P0, P1):
    """(O5), for some packs."""
    i0, i1, at = listed(index, C.column, 0), listed(index, C.column, 1), C.at_work
    ell, root0, root1 = ws.D_entry(work, at, 2, 0, 1), ws.D_entry(work, at, 2, 0, 0), ws.D_entry(work, at, 2, 1, 1)
    root0, root1 = math.sqrt(root0), math.sqrt(root1)
    Y0, Y1 = ws.UDinv_column(work, at, 2, 0), ws.UDinv_column(work, at, 2, 1)
    for P in range(P0, P1):
        k0, k1, a_out = at_w(n, P, i0), at_w(n, P, i1), load6(panel, at_body(n, P, C.out))
        a1 = get(panel, k1) * root1
        a0 = get(panel, k0) * root0 - a1 * ell - dot6(Y0, a_out)
        a1 = a1 - dot6(Y1, a_out)
        put(panel, k0, a0)
        put(panel, k1, a1)
        for b in range(C.first, C.last):
            B, a = body(index, b), a_out
            if B.bears == 1:
                if articulated.moves(B.mask, 0):
                    a = a + ws.K_column(work, B.at_K, 0) * a0
                if articulated.moves(B.mask, 1):
                    a = a + ws.K_column(work, B.at_K, 1) * a1
                put(panel, at_body(n, P, b), a)
