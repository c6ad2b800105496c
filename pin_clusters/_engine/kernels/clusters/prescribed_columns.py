"""Elimination of the free columns of a cluster, in hybrid dynamics; what is prescribed is rigid.

Gauss and Jordan on the rows [D, U', u] of all columns, with the free ones as pivots. Then u - U' delta_out is, row by
row, the acceleration of a free column and minus the torque of a prescribed one; (H4), (H5).
"""

from __future__ import annotations

from ..compiling.jit import inline
from ..numbers.pack import too_small
from ..numbers.simd import get
from ..numbers.spatial import sym6_minus_outer
from ..tables import workspace as ws
from ..tables.views import listed
from .one_or_two_columns import sum_one, sum_pair


@inline
def eliminate_one(index, params, work, prescribed, tau, C):
    """One column and no carrier inside, in registers; returns whether D is singular."""
    at = C.at_work
    D, U, u, total, f_out = sum_one(index, work, tau, C)
    singular = False
    if prescribed[listed(index, C.column, 0)] == 0:
        singular = too_small(D, get(params, C.smallest))
        inverse = 1.0 / D
        Y, u = U * inverse, inverse * u
        total, f_out, U = sym6_minus_outer(total, U, Y), U * u + f_out, Y
    ws.set_U_column(work, at, 1, 0, U)
    ws.set_u_entry(work, at, 1, 0, u)
    if C.out > 0:
        ws.add_articulated(work, C.out, total)
        ws.add_force(work, C.out, f_out)
    return singular


@inline
def eliminate_pair(index, params, work, prescribed, tau, C):
    """Two columns and no carrier inside, in registers; returns whether D of the free ones is singular."""
    at, smallest, singular = C.at_work, get(params, C.smallest), False
    d00, d01, d11, U0, U1, u0, u1, total, f_out = sum_pair(index, work, tau, C)
    if prescribed[listed(index, C.column, 0)] == 0:
        singular = too_small(d00, smallest)
        e = 1.0 / d00
        Y, w, ell = U0 * e, e * u0, d01 * e
        total, f_out = sym6_minus_outer(total, U0, Y), f_out + U0 * w
        U1, u1, d11 = U1 - Y * d01, u1 - d01 * w, d11 - ell * d01
        U0, u0, d01 = Y, w, ell
    if prescribed[listed(index, C.column, 1)] == 0:
        singular = singular or too_small(d11, smallest)
        e = 1.0 / d11
        Y, w = U1 * e, e * u1
        total, f_out = sym6_minus_outer(total, U1, Y), f_out + U1 * w
        U0, u0 = U0 - Y * d01, u0 - d01 * w
        U1, u1 = Y, w
    ws.set_U_column(work, at, 2, 0, U0)
    ws.set_U_column(work, at, 2, 1, U1)
    ws.set_u_entry(work, at, 2, 0, u0)
    ws.set_u_entry(work, at, 2, 1, u1)
    if C.out > 0:
        ws.add_articulated(work, C.out, total)
        ws.add_force(work, C.out, f_out)
    return singular


@inline
def sweep(index, params, work, prescribed, C, total, f_out):
    """Any number of columns; returns what is left of inertia and force, and whether D of the free ones is singular."""
    nk, at, smallest, singular = C.nk, C.at_work, get(params, C.smallest), False
    for k in range(nk):
        for m in range(k):
            ws.set_D_entry(work, at, nk, m, k, ws.D_entry(work, at, nk, k, m))
    for j in range(nk):
        if prescribed[listed(index, C.column, j)] == 0:
            d, U, u = ws.D_entry(work, at, nk, j, j), ws.U_column(work, at, nk, j), ws.u_entry(work, at, nk, j)
            if too_small(d, smallest):
                singular = True
            e = 1.0 / d
            Y, w = U * e, e * u
            total, f_out = sym6_minus_outer(total, U, Y), f_out + U * w
            ws.set_U_column(work, at, nk, j, Y)
            ws.set_u_entry(work, at, nk, j, w)
            for m in range(j + 1, nk):
                ws.set_D_entry(work, at, nk, j, m, ws.D_entry(work, at, nk, j, m) * e)
            for k in range(nk):
                if k != j:
                    reduce_row(work, at, nk, j, k)
    return total, f_out, singular


@inline
def reduce_row(work, at, nk, j, k):
    """Take column j, whose row is divided by its pivot, out of row k."""
    d = ws.D_entry(work, at, nk, k, j)
    for m in range(j + 1, nk):
        ws.set_D_entry(work, at, nk, k, m, ws.D_entry(work, at, nk, k, m) - d * ws.D_entry(work, at, nk, j, m))
    ws.set_U_column(work, at, nk, k, ws.U_column(work, at, nk, k) - ws.U_column(work, at, nk, j) * d)
    ws.set_u_entry(work, at, nk, k, ws.u_entry(work, at, nk, k) - d * ws.u_entry(work, at, nk, j))
