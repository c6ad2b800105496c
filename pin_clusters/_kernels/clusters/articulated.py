"""Articulated inertia of a cluster with a list of columns: U, D and its factors, U D^-1. For aba and minverse."""

from __future__ import annotations

from .._jit import inline
from ..pack import too_small
from ..simd import get, zero
from ..spatial import dot6, sym6_minus_outer, sym6_mul, zero6, zero_sym6
from ..views import body, carrier_row
from ..workspace import (
    D_entry,
    E_entry,
    K_column,
    U_column,
    UDinv_column,
    add_articulated,
    add_spin_to_U,
    add_U_column,
    articulated,
    set_D_entry,
    set_U_column,
    set_u_entry,
    set_UDinv_column,
    spin_column,
    u_entry,
)
from .spin_elements import spin_coupling


@inline
def moves(mask, k):
    """Whether column k moves a body; a mask of ones stands for more columns than bits, so never shift by 64."""
    return (mask >> min(k, 62)) & 1 == 1


@inline
def sum_up(index, work, C):
    """U and D of the cluster; returns the sum of its articulated inertias; (A6)."""
    nk, at, o = C.nk, C.at_work, zero(work)
    for k in range(nk):
        set_U_column(work, at, nk, k, zero6(o))
        for m in range(k + 1):
            set_D_entry(work, at, nk, k, m, E_entry(work, C.at_E, nk, k, m))
    total = zero_sym6(o)
    for b in range(C.first, C.last):
        B, I = body(index, b), articulated(work, b)
        total = total + I
        for k in range(nk):
            if moves(B.mask, k):
                U = sym6_mul(I, K_column(work, B.at_K, k))
                add_U_column(work, at, nk, k, U)
                for m in range(k + 1):
                    if moves(B.mask, m):
                        d = D_entry(work, at, nk, k, m) + dot6(K_column(work, B.at_K, m), U)
                        set_D_entry(work, at, nk, k, m, d)
    if C.at_spin >= 0:
        for k in range(nk):
            add_spin_to_U(work, at, nk, k, spin_column(work, at, nk, 0, k))
    for r in range(C.carrier0, C.carrier1):
        i, at_K = 1 + r - C.carrier0, body(index, carrier_row(index, r).body).at_K
        for k in range(nk):
            h = spin_column(work, at, nk, i, k)
            add_spin_to_U(work, at, nk, k, h)
            for m in range(k + 1):
                d = D_entry(work, at, nk, k, m) + spin_coupling(work, at, nk, i, at_K, k, m)
                set_D_entry(work, at, nk, k, m, d)
    return total


@inline
def factor_D(params, work, C):
    """D = L diag(e) L' in place, with 1/e on the diagonal, and U D^-1; (A8). Returns whether D is singular."""
    nk, at, singular = C.nk, C.at_work, False
    smallest = get(params, C.smallest)
    for k in range(nk):
        # L e stands below the diagonal (the rows below need it), L above it
        for m in range(k):
            t = D_entry(work, at, nk, k, m)
            for r in range(m):
                t -= D_entry(work, at, nk, k, r) * D_entry(work, at, nk, r, m)
            set_D_entry(work, at, nk, k, m, t)
        t = D_entry(work, at, nk, k, k)
        for m in range(k):
            le = D_entry(work, at, nk, k, m)
            ell = le * D_entry(work, at, nk, m, m)
            t -= le * ell
            set_D_entry(work, at, nk, m, k, ell)
        if too_small(t, smallest):
            singular = True
        set_D_entry(work, at, nk, k, k, 1.0 / t)
    for k in range(nk):
        Y = U_column(work, at, nk, k)
        for m in range(k):
            Y = Y - UDinv_column(work, at, nk, m) * D_entry(work, at, nk, m, k)
        set_UDinv_column(work, at, nk, k, Y)
    for i in range(nk):
        k = nk - 1 - i
        Y = UDinv_column(work, at, nk, k) * D_entry(work, at, nk, k, k)
        for m in range(k + 1, nk):
            Y = Y - UDinv_column(work, at, nk, m) * D_entry(work, at, nk, k, m)
        set_UDinv_column(work, at, nk, k, Y)
    return singular


@inline
def solve_D(work, C):
    """Replace u by D^-1 u."""
    nk, at = C.nk, C.at_work
    for k in range(nk):
        t = u_entry(work, at, nk, k)
        for m in range(k):
            t -= D_entry(work, at, nk, m, k) * u_entry(work, at, nk, m)
        set_u_entry(work, at, nk, k, t)
    for i in range(nk):
        k = nk - 1 - i
        t = u_entry(work, at, nk, k) * D_entry(work, at, nk, k, k)
        for m in range(k + 1, nk):
            t -= D_entry(work, at, nk, k, m) * u_entry(work, at, nk, m)
        set_u_entry(work, at, nk, k, t)


@inline
def hand_inertia(work, C, total):
    """I_out += sum I_b - U D^-1 U'; (A8)."""
    if C.out > 0:
        for k in range(C.nk):
            U, Y = U_column(work, C.at_work, C.nk, k), UDinv_column(work, C.at_work, C.nk, k)
            total = sym6_minus_outer(total, U, Y)
        add_articulated(work, C.out, total)
