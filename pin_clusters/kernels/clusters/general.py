"""GENERAL clusters have several joints and columns; any body, including the output body, can carry spin elements."""

from ...compiler.numba_jit.jit import inline
from ..bodies.motions import along, body_inertia, inertial_force, motion, needed_force, set_motion
from ..bodies.placements import place
from ..directions import Out
from ..numbers.memory import get, increase, put
from ..numbers.spatial import add_angular, dot6, rigid_as_sym6, rigid_mul, zero6
from ..tables import workspace as ws
from ..tables.views import body, carrier_row, listed
from .articulated import factor_D, hand_inertia, moves, solve_D, sum_up
from .prescribed import is_prescribed, sweep
from .spin_elements import gyrations, inertia_torques, spin_columns, spin_coupling, spin_terms


@inline
def columns(index, work, C, B):
    """Compute K_b = K_parent + S_b G_b: (A5)."""
    if B.at_S == B.at_K + 6 * B.which:
        return  # All bodies of the cluster share one K, whose column for this joint, S, is already stored.
    P, above = body(index, B.parent), 0
    if B.parent > 0 and P.cluster == B.cluster:
        above = P.mask
    for k in range(C.nk):
        K = zero6()
        if moves(B.mask, k):
            if moves(above, k):
                K = ws.K_column(work, P.at_K, k)
            for d in range(B.ndof):
                K = K + ws.subspace(work, B.at_S, d) * ws.G_entry(work, B.at_G, C.nk, d, k)
        ws.set_K_column(work, B.at_K, k, K)


@inline
def advance(index, params, work, q, v, a, result_and_forces, out: Out, C, forced):
    """Compute (A1) to (A3), (S1) and (S2); write the torques of spin elements and armature to ``out``."""
    for b in range(C.first, C.last):
        B = body(index, b)
        R, x = place(params, work, q, b, B)
        vj, aj = along(index, work, v, C, B), along(index, work, a, C, B)
        vel, acc = motion(work, B.parent, vj, aj)
        f = needed_force(index, params, result_and_forces, b, B, R, x, vel, acc, forced)
        set_motion(work, b, vel, acc, f)
    inertia_torques(index, work, a, out, C)
    spin_terms(index, work, v, a, out, C, False)


@inline
def collect(index, work, out: Out, C):
    """Compute the torques tau, the sum of G' S' f over all bodies, and add the forces to the parent bodies: (A4)."""
    for i in range(C.last - C.first):
        b = C.last - 1 - i
        B, f = body(index, b), ws.force(work, b)
        if B.unit >= 0:
            increase(out, B.unit, dot6(ws.subspace(work, B.at_S, 0), f))
        else:
            for d in range(B.ndof):
                t = dot6(ws.subspace(work, B.at_S, d), f)
                for k in range(C.nk):
                    increase(out, listed(index, C.column, k), ws.G_entry(work, B.at_G, C.nk, d, k) * t)
        if B.parent > 0:
            ws.add_force(work, B.parent, f)


@inline
def move_with_inertia(index, params, work, result_and_forces, C, b, B, R, x, vj, aj, forced):
    """Compute (A1) to (A3) and (A5) for a body whose pose is known; ``aj`` = None means zero joint acceleration."""
    columns(index, work, C, B)
    vel, acc = motion(work, B.parent, vj, aj)
    I = body_inertia(params, b, R, x)
    set_motion(work, b, vel, acc, inertial_force(index, params, result_and_forces, b, B, R, x, I, vel, acc, forced))
    ws.set_articulated(work, b, rigid_as_sym6(I))


@inline
def advance_with_inertia(index, params, work, q, v, result_and_forces, prescribed, a, C, forced):
    """Compute (A1) to (A3), (A5) and (S3); write the negative torques of armature and spin elements to u."""
    for b in range(C.first, C.last):
        B = body(index, b)
        R, x = place(params, work, q, b, B)
        vj = along(index, work, v, C, B)
        aj = None if prescribed is None else along(index, work, a, C, B)
        move_with_inertia(index, params, work, result_and_forces, C, b, B, R, x, vj, aj, forced)
    for k in range(C.nk):
        u = 0.0
        if prescribed is not None:
            for m in range(C.nk):
                u -= ws.E_entry(work, C.at_E, C.nk, k, m) * get(a, listed(index, C.column, m))
        ws.set_u_entry(work, C.at_work, C.nk, k, u)
    spin_columns(index, work, C)
    gyrations(index, work, v, prescribed, a, C, False)


@inline
def eliminate(index, params, work, prescribed, tau, C):
    """Eliminate the columns by (A6) to (A8), or by (H1) to (H3) for hybrid dynamics; return whether D is singular."""
    nk, slot = C.nk, C.at_work
    total, f_out = sum_up(index, work, C), zero6()
    for k in range(nk):
        ws.set_u_entry(work, slot, nk, k, ws.u_entry(work, slot, nk, k) + get(tau, listed(index, C.column, k)))
    for b in range(C.first, C.last):
        B, f = body(index, b), ws.force(work, b)
        f_out = f_out + f
        for k in range(nk):
            if moves(B.mask, k):
                ws.set_u_entry(work, slot, nk, k, ws.u_entry(work, slot, nk, k) - dot6(ws.K_column(work, B.at_K, k), f))
    if prescribed is not None:
        return sweep(index, params, work, prescribed, C, total, f_out)
    singular = factor_D(params, work, C)
    solve_D(work, C)
    hand_inertia(work, C, total)
    if C.out > 0:
        for k in range(nk):
            f_out = f_out + ws.U_column(work, slot, nk, k) * ws.u_entry(work, slot, nk, k)  # (A7), with D^-1 u
        ws.add_force(work, C.out, f_out)
    return singular


@inline
def propagate(index, work, prescribed, tau: Out, a: Out, C):
    """Compute (A9), (A10) or (H4) to (H6); store the changes in body accelerations since the first outward pass."""
    nk, slot, up = C.nk, C.at_work, ws.acceleration(work, C.out)
    for k in range(nk):
        i_v = listed(index, C.column, k)
        x = ws.u_entry(work, slot, nk, k) - dot6(ws.UDinv_column(work, slot, nk, k), up)
        if is_prescribed(prescribed, i_v):
            put(tau, i_v, -x)
        else:
            put(a, i_v, x)
    for b in range(C.first, C.last):
        B, change = body(index, b), up
        for k in range(nk):
            i_v = listed(index, C.column, k)
            if moves(B.mask, k) and not is_prescribed(prescribed, i_v):
                change = change + ws.K_column(work, B.at_K, k) * get(a, i_v)
        ws.set_acceleration(work, b, change)


@inline
def compose(index, params, work, q, C):
    for b in range(C.first, C.last):
        B = body(index, b)
        R, x = place(params, work, q, b, B)
        columns(index, work, C, B)
        ws.set_composite(work, b, body_inertia(params, b, R, x))
    spin_columns(index, work, C)


@inline
def couple(index, work, nv, C, M: Out):
    """Compute the cluster's block of M (C1) and composite inertias (C2); store the forces F per unit velocity in U."""
    for k in range(C.nk):
        couple_column(index, work, nv, C, k, M)
    if C.out > 0:
        for b in range(C.first, C.last):
            ws.add_composite(work, C.out, ws.composite(work, b))


@inline
def couple_column(index, work, nv, C, k, M: Out):
    nk, slot = C.nk, C.at_work
    i_v, F_out = listed(index, C.column, k), zero6()
    for m in range(k + 1):
        put(M, i_v * nv + listed(index, C.column, m), ws.E_entry(work, C.at_E, nk, k, m))
    if C.at_spin >= 0:
        F_out = add_angular(F_out, ws.spin_column(work, slot, nk, 0, k))
    for b in range(C.first, C.last):
        B = body(index, b)
        if moves(B.mask, k):
            F = rigid_mul(ws.composite(work, b), ws.K_column(work, B.at_K, k))
            F_out = F_out + F
            for m in range(k + 1):
                if moves(B.mask, m):
                    increase(M, i_v * nv + listed(index, C.column, m), dot6(F, ws.K_column(work, B.at_K, m)))
    for r in range(C.carrier0, C.carrier1):
        n, at_K = 1 + r - C.carrier0, body(index, carrier_row(index, r).body).at_K
        F_out = add_angular(F_out, ws.spin_column(work, slot, nk, n, k))
        for m in range(k + 1):
            increase(M, i_v * nv + listed(index, C.column, m), spin_coupling(work, slot, nk, n, at_K, k, m))
    for m in range(k):
        j_v = listed(index, C.column, m)
        put(M, j_v * nv + i_v, get(M, i_v * nv + j_v))
    ws.set_U_column(work, slot, nk, k, F_out)


@inline
def factor(index, params, work, C):
    """Factor D, compute U D^-1 and pass the inertia inward by (A6) and (A8); return whether D is singular."""
    total = sum_up(index, work, C)
    singular = factor_D(params, work, C)
    hand_inertia(work, C, total)
    return singular
