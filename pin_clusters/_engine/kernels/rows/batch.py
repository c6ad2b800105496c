"""Rows of states: the same kernels on SIMD packs, LANES rows at a time."""

from __future__ import annotations

from ..compiling.jit import inline
from ..loops.closure_values import largest_value
from ..loops.coupling_of_loops import condition_of
from ..numbers.pack import if_less
from ..numbers.simd import LANES, borrowed, column_of_rows, get, put, zero
from ..tables.layout import CONDITION_LIMIT, LOOP, OPEN, ROW_NOT_FINITE, ROW_OPEN, ROW_SINGULAR
from ..tables.views import cluster, header


@inline
def gather(rows, first, at, lanes):
    """Rows first.. -> lanes[at..]; lanes past the end repeat the last row. Returns 0 per lane whose row is finite."""
    found = zero(lanes)
    for k in range(rows.shape[1]):
        x = column_of_rows(lanes, rows, first, k)
        put(lanes, at + k, x)
        found = found + x * 0.0  # NaN stays
    return found


@inline
def scatter(lanes, first, end, rows):
    """Lanes -> rows first..end-1."""
    for lane in range(min(LANES, end - first)):
        for k in range(rows.shape[1]):
            rows[first + lane, k] = lanes[k, lane]


@inline
def judge_loops(index, params, work, q):
    """Say of each lane whether its loops are open, or singular, or neither."""
    o = zero(work)
    is_open, is_singular = o, o
    for c in range(header(index).cluster0, header(index).cluster1):
        C = cluster(index, c)
        if C.kind == LOOP:
            is_open = if_less(largest_value(index, params, work, q, C), OPEN * OPEN, is_open, o + 1.0)
            is_singular = if_less(condition_of(index, work, C), CONDITION_LIMIT * CONDITION_LIMIT, is_singular, o + 1.0)
    return if_less(o, is_open, o + ROW_OPEN, is_singular * ROW_SINGULAR)


@inline
def judge_nothing(index, params, work, q):
    """There are no loops."""
    return zero(work)


@inline
def remains(lanes, first, step, n):
    """Return 0 per lane in which n numbers are finite: first, first + step, ..."""
    found = zero(lanes)
    for k in range(n):
        found = found + get(lanes, first + k * step) * 0.0  # NaN stays
    return found


@inline
def tell(given, result, code, room, status, first, end):
    """Write what became of rows first..end-1; ``given`` and ``result`` are 0 in lanes where they are finite."""
    o = zero(room)
    of_result = if_less(result, 1.0, o, o + ROW_SINGULAR)
    put(room, 0, if_less(given, 1.0, if_less(o, code, code, of_result), o + ROW_NOT_FINITE))
    for lane in range(min(LANES, end - first)):
        status[first + lane] = int(room[0, lane])


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


def dynamics(passes, judge):
    """Make the kernel of inverse or forward dynamics of packs; ``judge`` looks at loops."""

    def rows(index, params, work, q8, v8, x8, keep8, out8, q, v, x, fext, out, status, first, last):
        """Rows first..last-1 of torques or accelerations."""
        index, params, work, q8, v8, x8, keep8, out8 = borrowed_all(index, params, work, q8, v8, x8, keep8, out8)
        for n in range(first, last, LANES):
            found = gather(q, n, 0, q8) + gather(v, n, 0, v8)
            found = found + gather(x, n, 0, x8) + gather(fext, n, v.shape[1], keep8)
            passes(index, params, work, keep8, q8, v8, x8, out8)
            scatter(out8, n, last, out)
            tell(found, remains(out8, 0, 1, v.shape[1]), judge(index, params, work, q8), out8, status, n, last)
        return 0

    return rows
