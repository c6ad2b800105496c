"""Rows of states: the same kernels on SIMD packs, LANES rows at a time."""

from __future__ import annotations

from numba import types

from ._jit import inline, kernel
from .aba import aba, aba_loops
from .closure_values import largest_value
from .coupling_of_loops import CONDITION_LIMIT, condition_of
from .layout import LOOP, OPEN
from .rnea import rnea, rnea_loops
from .simd import LANES, borrowed, put
from .views import cluster, header


def rows_signature():
    """Rows: index, params, work, lanes of q v x keep out, then q v x fext out by rows, status, first and last row."""
    whole, table = types.int64[:, ::1], types.float64[:, ::1]
    return types.int64(whole, types.float64[::1], *([table] * 11), types.int8[::1], types.int64, types.int64)


@inline
def gather(rows, first, at, lanes):
    """Rows first.. -> lanes[at..]; lanes past the end repeat the last row.

    Reads: rows.
    Writes: lanes.
    """
    last = rows.shape[0] - 1
    for lane in range(LANES):
        n = min(first + lane, last)
        for k in range(rows.shape[1]):
            lanes[at + k, lane] = rows[n, k]


@inline
def scatter(lanes, first, end, rows):
    """Lanes -> rows first..end-1.

    Reads: lanes.
    Writes: rows.
    """
    for lane in range(min(LANES, end - first)):
        for k in range(rows.shape[1]):
            rows[first + lane, k] = lanes[k, lane]


@inline
def judge(index, params, work, q, room, status, first, end):
    """Say of each lane whether its loops are open (1) or singular (2); lanes after the end are no rows.

    Reads: condition, pose, q, room, status, value.
    Writes: room, status, value.
    """
    for c in range(header(index).cluster0, header(index).cluster1):
        C = cluster(index, c)
        if C.kind == LOOP:
            condition = condition_of(index, work, C)
            value = largest_value(index, params, work, q, C)
            put(room, 0, value)
            for lane in range(min(LANES, end - first)):
                if not room[0, lane] < OPEN * OPEN and status[first + lane] == 0:
                    status[first + lane] = 1
            put(room, 0, condition)
            for lane in range(min(LANES, end - first)):
                if not room[0, lane] < CONDITION_LIMIT * CONDITION_LIMIT and status[first + lane] == 0:
                    status[first + lane] = 2


@inline
def borrowed_all(index, params, work, q8, v8, x8, keep8, out8):
    """Count no references to the tables and to the lanes."""
    return (
        borrowed(index),
        borrowed(params),
        borrowed(work),
        borrowed(q8),
        borrowed(v8),
        borrowed(x8),
        borrowed(keep8),
        borrowed(out8),
    )


@kernel(rows_signature, "batch.rnea (inverse dynamics, many states)", None, nogil=True)
def rnea_rows(index, params, work, q8, v8, a8, keep8, out8, q, v, a, fext, out, status, first, last):
    """Inverse dynamics of rows first..last-1.

    Reads: a, a8, acceleration, E, fext, force, G, keep8, momentum, out8, own_torque, pose, q, q8, S, v, v8, velocity.
    Writes: a8, acceleration, force, keep8, out, out8, own_torque, pose, q8, S, v8, velocity.
    """
    index, params, work, q8, v8, a8, keep8, out8 = borrowed_all(index, params, work, q8, v8, a8, keep8, out8)
    for n in range(first, last, LANES):
        gather(q, n, 0, q8)
        gather(v, n, 0, v8)
        gather(a, n, 0, a8)
        gather(fext, n, v.shape[1], keep8)
        rnea(index, params, work, keep8, q8, v8, a8, out8)
        scatter(out8, n, last, out)
    return 0


@kernel(rows_signature, "batch.aba (forward dynamics, many states)", None, nogil=True)
def aba_rows(index, params, work, q8, v8, tau8, keep8, out8, q, v, tau, fext, out, status, first, last):
    """Forward dynamics of rows first..last-1.

    Reads: acceleration, articulated, D, Dinv_u, E, fext, force, G, K, keep8, momentum, out8, pose, q, q8, S, spin,
        spin_bias, tau, tau8, U, u, UDinv, v, v8, velocity.
    Writes: acceleration, articulated, D, Dinv_u, force, K, keep8, out, out8, pose, q8, S, spin, spin_bias, tau8, U,
        u, UDinv, v8, velocity.
    """
    index, params, work, q8, v8, tau8, keep8, out8 = borrowed_all(index, params, work, q8, v8, tau8, keep8, out8)
    for n in range(first, last, LANES):
        gather(q, n, 0, q8)
        gather(v, n, 0, v8)
        gather(tau, n, 0, tau8)
        gather(fext, n, v.shape[1], keep8)
        aba(index, params, work, keep8, q8, v8, tau8, out8)
        scatter(out8, n, last, out)
    return 0


@kernel(rows_signature, "batch.rnea (inverse dynamics, many states, closed loops)", None, nogil=True)
def rnea_loops_rows(index, params, work, q8, v8, a8, keep8, out8, q, v, a, fext, out, status, first, last):
    """Inverse dynamics of rows first..last-1.

    Reads: a, condition, fext, out8, pose, q, q8, status, v, value.
    Writes: a8, keep8, out, out8, q8, status, v8, value.
    """
    index, params, work, q8, v8, a8, keep8, out8 = borrowed_all(index, params, work, q8, v8, a8, keep8, out8)
    for n in range(first, last, LANES):
        gather(q, n, 0, q8)
        gather(v, n, 0, v8)
        gather(a, n, 0, a8)
        gather(fext, n, v.shape[1], keep8)
        rnea_loops(index, params, work, keep8, q8, v8, a8, out8)
        scatter(out8, n, last, out)
        judge(index, params, work, q8, out8, status, n, last)
    return 0


@kernel(rows_signature, "batch.aba (forward dynamics, many states, closed loops)", None, nogil=True)
def aba_loops_rows(index, params, work, q8, v8, tau8, keep8, out8, q, v, tau, fext, out, status, first, last):
    """Forward dynamics of rows first..last-1.

    Reads: condition, fext, out8, pose, q, q8, status, tau, v, value.
    Writes: keep8, out, out8, q8, status, tau8, v8, value.
    """
    index, params, work, q8, v8, tau8, keep8, out8 = borrowed_all(index, params, work, q8, v8, tau8, keep8, out8)
    for n in range(first, last, LANES):
        gather(q, n, 0, q8)
        gather(v, n, 0, v8)
        gather(tau, n, 0, tau8)
        gather(fext, n, v.shape[1], keep8)
        aba_loops(index, params, work, keep8, q8, v8, tau8, out8)
        scatter(out8, n, last, out)
        judge(index, params, work, q8, out8, status, n, last)
    return 0
