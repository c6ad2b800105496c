"""What is done to GENERAL and LOOP clusters of one or two columns, in registers: geared bodies, differentials."""

from __future__ import annotations

from ..compiling.jit import inline
from ..numbers.choices import too_small
from ..numbers.memory import get, put, put_twice
from ..numbers.spatial import add_angular, dot6, rigid_mul, sym6_minus_outer, sym6_mul, zero6, zero_rigid, zero_sym6
from ..tables import workspace as ws
from ..tables.views import body, listed
from .prescribed import is_prescribed


@inline
def sum_one(index, work, out, C):
    """(A6) of one column: D, U, u, and the sums of articulated inertias and forces; out holds tau."""
    at = C.at_work
    D, U, f_out = ws.E_entry(work, C.at_E, 1, 0, 0), zero6(), zero6()
    u = ws.u_entry(work, at, 1, 0) + get(out, listed(index, C.column, 0))
    if C.at_spin >= 0:
        U = add_angular(U, ws.spin_column(work, at, 1, 0, 0))
    total = zero_sym6()
    for b in range(C.first, C.last):
        I, f, K = ws.articulated(work, b), ws.force(work, b), ws.K_column(work, body(index, b).at_K, 0)
        V = sym6_mul(I, K)
        total, f_out, U = total + I, f_out + f, U + V
        D += dot6(K, V)
        u -= dot6(K, f)
    return D, U, u, total, f_out


@inline
def eliminate_one(index, params, work, prescribed, tau, C):
    """(A6)-(A8), or (H1)-(H3), for one column and no carrier inside; returns whether D is singular."""
    at, singular = C.at_work, False
    D, U, u, total, f_out = sum_one(index, work, tau, C)
    Y, w = U, u
    if not is_prescribed(prescribed, listed(index, C.column, 0)):
        singular, inverse = too_small(D, get(params, C.smallest)), 1.0 / D
        Y, w = U * inverse, inverse * u
        total, f_out = sym6_minus_outer(total, U, Y), U * w + f_out
    ws.set_UDinv_column(work, at, 1, 0, Y)
    ws.set_u_entry(work, at, 1, 0, w)
    if C.out > 0:
        ws.add_articulated(work, C.out, total)
        ws.add_force(work, C.out, f_out)
    return singular


@inline
def E_of_pair(work, C):
    """Inertia of spin elements and armature of two columns."""
    at = C.at_E
    return ws.E_entry(work, at, 2, 0, 0), ws.E_entry(work, at, 2, 0, 1), ws.E_entry(work, at, 2, 1, 1)


@inline
def sum_pair(index, work, tau, C):
    """(A6), (A7) of two columns: D, U, the sum of articulated inertias; u, the sum of forces, or zeros without tau."""
    at, o = C.at_work, 0.0
    d00, d01, d11 = E_of_pair(work, C)
    U0, U1, total, u0, u1, f_out = zero6(), zero6(), zero_sym6(), o, o, zero6()
    if tau is not None:
        u0 = ws.u_entry(work, at, 2, 0) + get(tau, listed(index, C.column, 0))
        u1 = ws.u_entry(work, at, 2, 1) + get(tau, listed(index, C.column, 1))
    if C.at_spin >= 0:
        U0, U1 = add_angular(U0, ws.spin_column(work, at, 2, 0, 0)), add_angular(U1, ws.spin_column(work, at, 2, 0, 1))
    for b in range(C.first, C.last):
        B, I, f = body(index, b), ws.articulated(work, b), zero6()
        total = total + I
        if tau is not None:
            f = ws.force(work, b)
            f_out = f_out + f
        K0, K1 = ws.K_column(work, B.at_K, 0), ws.K_column(work, B.at_K, 1)
        if B.mask & 1:
            V = sym6_mul(I, K0)
            U0, d00, u0 = U0 + V, d00 + dot6(K0, V), u0 - dot6(K0, f)
        if B.mask & 2:
            V = sym6_mul(I, K1)
            U1, d11, u1 = U1 + V, d11 + dot6(K1, V), u1 - dot6(K1, f)
            if B.mask & 1:  # a K that bodies share has columns that do not move this one
                d01 += dot6(K0, V)
    return d00, d01, d11, U0, U1, total, u0, u1, f_out


@inline
def factor_of_pair(d00, d01, d11, U0, U1):
    """(A8): L, the second pivot, the inverses of both, U D^-1."""
    e0 = 1.0 / d00
    ell = d01 * e0
    pivot = d11 - ell * d01
    e1 = 1.0 / pivot
    Y1 = (U1 - U0 * ell) * e1
    return ell, pivot, e0, e1, U0 * e0 - Y1 * ell, Y1


@inline
def eliminate_pair(index, params, work, prescribed, tau, C):
    """(A6)-(A8), or (H1)-(H3), for two columns and no carrier inside; returns whether D is singular."""
    at, smallest = C.at_work, get(params, C.smallest)
    d00, d01, d11, U0, U1, total, u0, u1, f_out = sum_pair(index, work, tau, C)
    if prescribed is None:
        ell, pivot, e0, e1, Y0, Y1 = factor_of_pair(d00, d01, d11, U0, U1)
        w1 = e1 * (u1 - ell * u0)
        w0 = e0 * u0 - ell * w1
        total, f_out = sym6_minus_outer(sym6_minus_outer(total, U0, Y0), U1, Y1), U0 * w0 + (U1 * w1 + f_out)
        singular = too_small(d00, smallest) or too_small(pivot, smallest)
    else:
        Y0, Y1, w0, w1, singular = U0, U1, u0, u1, False
        if not is_prescribed(prescribed, listed(index, C.column, 0)):
            singular, e = too_small(d00, smallest), 1.0 / d00
            Y0, w0, ell = U0 * e, e * u0, d01 * e
            total, f_out = sym6_minus_outer(total, U0, Y0), f_out + U0 * w0
            Y1, w1, d11 = U1 - Y0 * d01, u1 - d01 * w0, d11 - ell * d01
            d01 = ell
        if not is_prescribed(prescribed, listed(index, C.column, 1)):
            singular, e, U, u = singular or too_small(d11, smallest), 1.0 / d11, Y1, w1
            Y1, w1 = U * e, e * u
            total, f_out = sym6_minus_outer(total, U, Y1), f_out + U * w1
            Y0, w0 = Y0 - Y1 * d01, w0 - d01 * w1
    ws.set_UDinv_column(work, at, 2, 0, Y0)
    ws.set_UDinv_column(work, at, 2, 1, Y1)
    ws.set_u_entry(work, at, 2, 0, w0)
    ws.set_u_entry(work, at, 2, 1, w1)
    if C.out > 0:
        ws.add_articulated(work, C.out, total)
        ws.add_force(work, C.out, f_out)
    return singular


@inline
def factor_pair(index, params, work, C):
    """(A6), (A8) for two columns and no carrier inside: factors of D, U D^-1; returns whether D is singular."""
    at, smallest = C.at_work, get(params, C.smallest)
    d00, d01, d11, U0, U1, total, _, _, _ = sum_pair(index, work, None, C)
    ell, pivot, e0, e1, Y0, Y1 = factor_of_pair(d00, d01, d11, U0, U1)
    ws.set_UDinv_column(work, at, 2, 0, Y0)
    ws.set_UDinv_column(work, at, 2, 1, Y1)
    ws.set_D_entry(work, at, 2, 0, 0, e0)
    ws.set_D_entry(work, at, 2, 0, 1, ell)
    ws.set_D_entry(work, at, 2, 1, 1, e1)
    if C.out > 0:
        ws.add_articulated(work, C.out, sym6_minus_outer(sym6_minus_outer(total, U0, Y0), U1, Y1))
    return too_small(d00, smallest) or too_small(pivot, smallest)


@inline
def couple_pair(index, work, nv, C, M):
    """(C1), (C2) for two columns and no carrier inside; leaves the forces per unit velocity in U."""
    at = C.at_work
    d00, d01, d11 = E_of_pair(work, C)
    F0, F1, total = zero6(), zero6(), zero_rigid()
    for b in range(C.first, C.last):
        B, I = body(index, b), ws.composite(work, b)
        K0, K1 = ws.K_column(work, B.at_K, 0), ws.K_column(work, B.at_K, 1)
        total = total + I
        if B.mask & 1:
            F = rigid_mul(I, K0)
            F0, d00 = F0 + F, d00 + dot6(F, K0)
        if B.mask & 2:
            F = rigid_mul(I, K1)
            F1, d11 = F1 + F, d11 + dot6(F, K1)
            if B.mask & 1:
                d01 += dot6(F, K0)
    if C.at_spin >= 0:
        F0, F1 = add_angular(F0, ws.spin_column(work, at, 2, 0, 0)), add_angular(F1, ws.spin_column(work, at, 2, 0, 1))
    i, k = listed(index, C.column, 0), listed(index, C.column, 1)
    put(M, i * nv + i, d00)
    put_twice(M, nv, i, k, d01)
    put(M, k * nv + k, d11)
    ws.set_U_column(work, at, 2, 0, F0)
    ws.set_U_column(work, at, 2, 1, F1)
    if C.out > 0:
        ws.add_composite(work, C.out, total)
