"""Computes U, D, the factors of D, and U D^-1 of a cluster with several columns, for aba and minverse."""

from ...compiler.numba_jit.jit import inline
from ..numbers.choices import too_small
from ..numbers.memory import get
from ..numbers.spatial import dot6, sym6_minus_outer, sym6_mul, zero6, zero_sym6
from ..tables import workspace as ws
from ..tables.views import body, carrier_row
from .spin_elements import spin_coupling


@inline
def moves(mask, k):
    return (mask >> min(k, 62)) & 1 == 1  # min() avoids a shift by 64 if all bits of the mask are one


@inline
def sum_up(index, work, C):
    """Compute U and D of the cluster, (A6) and (S4); return the sum of the articulated inertias of its bodies."""
    nk, slot = C.nk, C.at_work
    for k in range(nk):
        ws.set_U_column(work, slot, nk, k, zero6())
        for m in range(k + 1):
            ws.set_D_entry(work, slot, nk, k, m, ws.E_entry(work, C.at_E, nk, k, m))
    total = zero_sym6()
    for b in range(C.first, C.last):
        B, I = body(index, b), ws.articulated(work, b)
        total = total + I
        for k in range(nk):
            if moves(B.mask, k):
                U = sym6_mul(I, ws.K_column(work, B.at_K, k))
                ws.add_U_column(work, slot, nk, k, U)
                for m in range(k + 1):
                    if moves(B.mask, m):
                        d = ws.D_entry(work, slot, nk, k, m) + dot6(ws.K_column(work, B.at_K, m), U)
                        ws.set_D_entry(work, slot, nk, k, m, d)
    if C.at_spin >= 0:
        for k in range(nk):
            ws.add_spin_to_U(work, slot, nk, k, ws.spin_column(work, slot, nk, 0, k))
    for r in range(C.carrier0, C.carrier1):
        i, at_K = 1 + r - C.carrier0, body(index, carrier_row(index, r).body).at_K
        for k in range(nk):
            h = ws.spin_column(work, slot, nk, i, k)
            ws.add_spin_to_U(work, slot, nk, k, h)
            for m in range(k + 1):
                d = ws.D_entry(work, slot, nk, k, m) + spin_coupling(work, slot, nk, i, at_K, k, m)
                ws.set_D_entry(work, slot, nk, k, m, d)
    return total


@inline
def factor_D(params, work, C):
    """Factor D = L diag(e) L' in place (1/e on the diagonal), and compute U D^-1; return whether D is singular."""
    nk, slot, singular = C.nk, C.at_work, False
    smallest = get(params, C.smallest)
    for k in range(nk):
        # L e, which the following rows need, is stored below the diagonal; L is stored above the diagonal.
        for m in range(k):
            t = ws.D_entry(work, slot, nk, k, m)
            for r in range(m):
                t -= ws.D_entry(work, slot, nk, k, r) * ws.D_entry(work, slot, nk, r, m)
            ws.set_D_entry(work, slot, nk, k, m, t)
        t = ws.D_entry(work, slot, nk, k, k)
        for m in range(k):
            le = ws.D_entry(work, slot, nk, k, m)
            ell = le * ws.D_entry(work, slot, nk, m, m)
            t -= le * ell
            ws.set_D_entry(work, slot, nk, m, k, ell)
        if too_small(t, smallest):
            singular = True
        ws.set_D_entry(work, slot, nk, k, k, 1.0 / t)
    for k in range(nk):
        Y = ws.U_column(work, slot, nk, k)
        for m in range(k):
            Y = Y - ws.UDinv_column(work, slot, nk, m) * ws.D_entry(work, slot, nk, m, k)
        ws.set_UDinv_column(work, slot, nk, k, Y)
    for i in range(nk):
        k = nk - 1 - i
        Y = ws.UDinv_column(work, slot, nk, k) * ws.D_entry(work, slot, nk, k, k)
        for m in range(k + 1, nk):
            Y = Y - ws.UDinv_column(work, slot, nk, m) * ws.D_entry(work, slot, nk, k, m)
        ws.set_UDinv_column(work, slot, nk, k, Y)
    return singular


@inline
def solve_D(work, C):
    """Replace u by D^-1 u, using the factors of D from ``factor_D``."""
    nk, slot = C.nk, C.at_work
    for k in range(nk):
        t = ws.u_entry(work, slot, nk, k)
        for m in range(k):
            t -= ws.D_entry(work, slot, nk, m, k) * ws.u_entry(work, slot, nk, m)
        ws.set_u_entry(work, slot, nk, k, t)
    for i in range(nk):
        k = nk - 1 - i
        t = ws.u_entry(work, slot, nk, k) * ws.D_entry(work, slot, nk, k, k)
        for m in range(k + 1, nk):
            t -= ws.D_entry(work, slot, nk, k, m) * ws.u_entry(work, slot, nk, m)
        ws.set_u_entry(work, slot, nk, k, t)


@inline
def hand_inertia(work, C, total):
    """Add sum I_b - U D^-1 U' to the articulated inertia of the output body: (A8)."""
    if C.out > 0:
        for k in range(C.nk):
            U, Y = ws.U_column(work, C.at_work, C.nk, k), ws.UDinv_column(work, C.at_work, C.nk, k)
            total = sym6_minus_outer(total, U, Y)
        ws.add_articulated(work, C.out, total)
