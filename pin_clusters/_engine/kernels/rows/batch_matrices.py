"""Rows of mass matrices and of their inverses, on SIMD packs, LANES rows at a time."""

from __future__ import annotations

from ..compiling.jit import inline
from ..numbers.simd import LANES, borrowed, zero
from ..tables.views import header
from .batch import gather, remains, tell


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


def _with(remaining):
    """Make what makes kernels of matrices; ``remaining`` looks whether a result is one."""

    def made(passes, judge):
        """Make the kernel of packs; ``judge`` looks at loops."""

        def rows(index, params, work, q8, M8, room, q, out, status, first, last):
            """Matrices of rows first..last-1; M8 must be zero where clusters are on different branches."""
            index, params, work, q8, M8 = borrowed(index), borrowed(params), borrowed(work), borrowed(q8), borrowed(M8)
            for n in range(first, last, LANES):
                found = gather(q, n, 0, q8)
                passes(index, params, work, M8, q8)
                spread(M8, n, last, out)
                tell(found, remaining(index, M8), judge(index, params, work, q8), room, status, n, last)
            return 0

        return rows

    return made


@inline
def _all(index, M8):
    """A mass matrix of what is finite always is."""
    return zero(M8)


@inline
def _diagonal(index, M8):
    """An inverse is none where its diagonal is not finite."""
    nv = header(index).nv
    return remains(M8, 0, nv + 1, nv)


matrix, inverse = _with(_all), _with(_diagonal)
