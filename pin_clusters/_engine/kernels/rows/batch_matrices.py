"""Rows of mass matrices and of their inverses, on SIMD packs, LANES rows at a time."""

from __future__ import annotations

from numba import types

from ..compiling.jit import inline, kernel
from ..dynamics.crba import crba_flat, crba_loops_flat
from ..dynamics.minverse import minverse_flat, minverse_loops_flat
from ..numbers.simd import LANES, borrowed, zero
from ..tables.views import header
from .batch import gather, judge_loops, remains, tell


def matrices_signature():
    """Index, params, work, lanes of q, of the matrix and of two numbers; rows of q and out, status, first, last."""
    whole, table = types.int64[:, ::1], types.float64[:, ::1]
    return types.int64(whole, types.float64[::1], *([table] * 6), types.int8[::1], types.int64, types.int64)


@inline
def spread(lanes, first, end, rows):
    """Lanes -> rows first..end-1, all lanes of a number at once: rows are long; what is read twice is not theirs."""
    if first + LANES <= end:
        for k in range(rows.shape[1]):
            for lane in range(LANES):
                rows[first + lane, k] = lanes[k, lane]
    else:
        for k in range(rows.shape[1]):
            for lane in range(end - first):
                rows[first + lane, k] = lanes[k, lane]


@kernel(matrices_signature, "batch.crba (mass matrix, many states)", None, nogil=True)
def crba_rows(index, params, work, q8, M8, room, q, out, status, first, last):
    """Mass matrices of rows first..last-1; M8 must be zero where clusters are on different branches."""
    index, params, work, q8, M8 = borrowed(index), borrowed(params), borrowed(work), borrowed(q8), borrowed(M8)
    for n in range(first, last, LANES):
        found = gather(q, n, 0, q8)
        crba_flat(index, params, work, M8, q8)
        spread(M8, n, last, out)
        tell(found, zero(room), zero(room), room, status, n, last)
    return 0


@kernel(matrices_signature, "batch.crba (mass matrix, many states, closed loops)", None, nogil=True)
def crba_loops_rows(index, params, work, q8, M8, room, q, out, status, first, last):
    """Mass matrices of rows first..last-1; M8 must be zero where clusters are on different branches."""
    index, params, work, q8, M8 = borrowed(index), borrowed(params), borrowed(work), borrowed(q8), borrowed(M8)
    for n in range(first, last, LANES):
        found = gather(q, n, 0, q8)
        crba_loops_flat(index, params, work, M8, q8)
        spread(M8, n, last, out)
        tell(found, zero(room), judge_loops(index, params, work, q8), room, status, n, last)
    return 0


@kernel(matrices_signature, "batch.computeMinverse (inverse mass matrix, many states)", None, nogil=True)
def minverse_rows(index, params, work, q8, M8, room, q, out, status, first, last):
    """Inverse mass matrices of rows first..last-1."""
    index, params, work, q8, M8 = borrowed(index), borrowed(params), borrowed(work), borrowed(q8), borrowed(M8)
    for n in range(first, last, LANES):
        found = gather(q, n, 0, q8)
        minverse_flat(index, params, work, M8, q8)
        spread(M8, n, last, out)
        nv = header(index).nv
        tell(found, remains(M8, 0, nv + 1, nv), zero(room), room, status, n, last)
    return 0


@kernel(matrices_signature, "batch.computeMinverse (inverse mass matrix, many states, loops)", None, nogil=True)
def minverse_loops_rows(index, params, work, q8, M8, room, q, out, status, first, last):
    """Inverse mass matrices of rows first..last-1."""
    index, params, work, q8, M8 = borrowed(index), borrowed(params), borrowed(work), borrowed(q8), borrowed(M8)
    for n in range(first, last, LANES):
        found = gather(q, n, 0, q8)
        minverse_loops_flat(index, params, work, M8, q8)
        spread(M8, n, last, out)
        code, nv = judge_loops(index, params, work, q8), header(index).nv
        tell(found, remains(M8, 0, nv + 1, nv), code, room, status, n, last)
    return 0
