"""GENERAL and LOOP in hybrid dynamics: a cluster may be split between prescribed and free joints."""

from __future__ import annotations

from ..bodies.motions import along, body_inertia, external_force, motion, newton_euler, set_motion
from ..bodies.placements import place
from ..compiling.jit import inline, paste
from ..loops.coupling_of_loops import bias_of, prepare, rates_of, spin_biases
from ..numbers.simd import get, put, zero
from ..numbers.spatial import dot6, rigid_as_sym6, zero3, zero6
from ..tables import workspace as ws
from ..tables.loop_block import block
from ..tables.views import body, carrier_row, head, listed, velocity_row
from .articulated import moves, sum_up
from .general import columns
from .loop import bodies_at_bias
from .prescribed_columns import eliminate_one, eliminate_pair, sweep
from .spin_elements import gyration, spin_columns


@inline
def advance(index, params, work, q, v, result_and_forces, a, C, forced):
    """(A1)-(A3), (A5), (S1), (S2) at the prescribed accelerations; leaves minus torques of armature and spin in u."""
    for b in range(C.first, C.last):
        B = body(index, b)
        R, x = place(params, work, q, b, B)
        vj, aj = along(index, work, v, C, B), along(index, work, a, C, B)
        columns(index, work, C, B)
        vel, acc = motion(work, B.parent, vj, aj)
        I = body_inertia(params, b, R, x)
        f = newton_euler(I, vel, acc)
        if forced:
            f = f - external_force(index, params, result_and_forces, b, B, R, x)
        set_motion(work, b, vel, acc, f)
        ws.set_articulated(work, b, rigid_as_sym6(I, zero(work)))
    for k in range(C.nk):
        u = zero(work)
        for m in range(C.nk):
            u -= ws.E_entry(work, C.at_E, C.nk, k, m) * get(a, listed(index, C.column, m))
        ws.set_u_entry(work, C.at_work, C.nk, k, u)
    spin_columns(index, work, C)
    if C.at_spin >= 0:
        gyration(index, work, v, C, C.out, 0, momentum_rate(index, work, a, C, 0))
    for r in range(C.carrier0, C.carrier1):
        i = 1 + r - C.carrier0
        gyration(index, work, v, C, carrier_row(index, r).body, i, momentum_rate(index, work, a, C, i))


@inline
def momentum_rate(index, work, a, C, i):
    """What the spin momentum on carrier i changes by; (S1)."""
    rate = zero3(zero(work))
    for k in range(C.nk):
        rate = rate + ws.spin_column(work, C.at_work, C.nk, i, k) * get(a, listed(index, C.column, k))
    return rate


@paste
def advance_loop(index, params, work, q, v, result_and_forces, a, c, C, forced):
    """The same for a LOOP cluster: aba's pass, with G a + g in the place of g; returns whether it is singular."""
    prepare(index, params, work, q, C)
    rates_of(index, work, v, C)
    bias_of(index, params, work, q, c, C)
    add_to_bias(index, work, a, C)
    H = head(index, C.head)
    spin_biases(index, params, work, C, H, block(H, C.nk))
    singular = bodies_at_bias(index, params, work, v, result_and_forces, c, C, forced)
    forget_bias(index, work, C)
    return singular


@inline
def add_to_bias(index, work, a, C):
    """Accelerations G a + g of all velocities of a LOOP cluster, in the place of g."""
    H = head(index, C.head)
    for n in range(H.velocity0, H.velocity1):
        V = velocity_row(index, n)
        x = get(work, V.at_bias)
        for k in range(C.nk):
            x += get(work, V.at_G + k) * get(a, listed(index, C.column, k))
        put(work, V.at_bias, x)


@inline
def forget_bias(index, work, C):
    """The bias of independent velocities is zero, and nobody writes it anew."""
    H = head(index, C.head)
    for n in range(H.velocity0, H.velocity1):
        V = velocity_row(index, n)
        if V.column >= 0:
            put(work, V.at_bias, zero(work))


@inline
def eliminate(index, params, work, prescribed, tau, C):
    """(H1)-(H3); returns whether D of the free columns is singular."""
    if C.carrier0 == C.carrier1:
        if C.nk == 1:
            return eliminate_one(index, params, work, prescribed, tau, C)
        if C.nk == 2:
            return eliminate_pair(index, params, work, prescribed, tau, C)
    nk, at = C.nk, C.at_work
    total, f_out = sum_up(index, work, C), zero6(zero(work))
    for k in range(nk):
        ws.set_u_entry(work, at, nk, k, ws.u_entry(work, at, nk, k) + get(tau, listed(index, C.column, k)))
    for b in range(C.first, C.last):
        B, f = body(index, b), ws.force(work, b)
        f_out = f_out + f
        for k in range(nk):
            if moves(B.mask, k):
                ws.set_u_entry(work, at, nk, k, ws.u_entry(work, at, nk, k) - dot6(ws.K_column(work, B.at_K, k), f))
    total, f_out, singular = sweep(index, params, work, prescribed, C, total, f_out)
    if C.out > 0:
        ws.add_articulated(work, C.out, total)
        ws.add_force(work, C.out, f_out)
    return singular


@inline
def propagate(index, work, prescribed, tau, a, C):
    """(H4)-(H6)."""
    nk, at, up = C.nk, C.at_work, ws.acceleration(work, C.out)
    for k in range(nk):
        i_v, x = listed(index, C.column, k), ws.u_entry(work, at, nk, k) - dot6(ws.U_column(work, at, nk, k), up)
        if prescribed[i_v] != 0:
            put(tau, i_v, -x)
        else:
            put(a, i_v, x)
    for b in range(C.first, C.last):
        B, change = body(index, b), up
        if B.bears == 1:
            for k in range(nk):
                i_v = listed(index, C.column, k)
                if moves(B.mask, k) and prescribed[i_v] == 0:
                    change = change + ws.K_column(work, B.at_K, k) * get(a, i_v)
            ws.set_acceleration(work, b, change)
