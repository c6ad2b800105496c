"""Derivatives of many states, on SIMD packs, LANES rows at a time."""

from __future__ import annotations

from ..compiling.jit import inline
from ..numbers.simd import LANES, borrowed, zero
from ..tables.tree_layout import IV, WIDTH
from ..tree.solve import factor, right_sides, solve
from ..variations.rnea_derivatives import derivatives
from .batch import gather, remains, tell
from .batch_matrices import spread


@inline
def spread_part(plan, n, sides8, part, first, end, rows):
    """One of the three results -> rows first..end-1."""
    for i in range(n):
        to, at = plan[WIDTH * i + IV] * n, (3 * i + part) * n
        for j in range(n):
            for lane in range(min(LANES, end - first)):
                rows[first + lane, to + j] = sides8[at + j, lane]


def derivatives_rows(
    index, params, plan, work, rates8, q8, v8, a8, forces8, tau8, dq8, dv8, M8, nothing8, factors8, sides8, q, v, a,
    fext, first_out, second_out, third_out, status, first, last,
):  # fmt: skip
    """Derivatives of rows first..last-1: of inverse dynamics; with room for right sides, of forward dynamics."""
    index, params, work, rates8 = borrowed(index), borrowed(params), borrowed(work), borrowed(rates8)
    nv = v.shape[1]
    for n in range(first, last, LANES):
        found = gather(q, n, 0, q8) + gather(v, n, 0, v8) + gather(a, n, 0, a8)
        found = found + gather(fext, n, nv, forces8)
        derivatives(index, params, work, rates8, q8, v8, a8, forces8, tau8, dq8, dv8, M8, nothing8)
        if sides8.shape[0] > 0:
            # -M^-1 dq, -M^-1 dv and M^-1, side by side in rows of the kernels' order
            factor(plan, M8, nv, factors8[nv * nv :], factors8)
            right_sides(plan, nv, sides8, 3 * nv, dq8, None, dv8)
            solve(plan, nv, factors8[nv * nv :], factors8, sides8, 3 * nv)
            spread_part(plan, nv, sides8, 0, n, last, first_out)
            spread_part(plan, nv, sides8, 1, n, last, second_out)
            spread_part(plan, nv, sides8, 2, n, last, third_out)
            remain = remains(sides8, 0, 1, 3 * nv)
        else:
            spread(dq8, n, last, first_out)
            spread(dv8, n, last, second_out)
            spread(M8, n, last, third_out)
            remain = remains(tau8, 0, 1, nv)
        tell(found, remain, zero(tau8), tau8, status, n, last)
    return 0
