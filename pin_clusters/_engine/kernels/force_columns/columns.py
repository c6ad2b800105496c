"""C-EFPA, many forces at once: what forces and torques, one per lane of a pack, do to the whole robot.

M^-1 = Psi' D^-1 Psi, where Psi tau is what u is in aba, and D = L diag(e) L' cluster by cluster. So with W =
diag(e)^-1/2 L^-1 Psi C, found from the tips inward, C' M^-1 C = W' W, entry by entry a sum over common ancestors, and
one pass outward makes M^-1 C of W. No M^-1 is formed.
"""

from __future__ import annotations

from ..clusters import loop
from ..compiling.jit import inline, paste
from ..dynamics.crba import poses_with
from ..dynamics.minverse import factor
from ..numbers.neighbours import get_lane, put_row
from ..numbers.simd import LANES, get, put, zero
from ..tables.columns_layout import AT_WORK
from ..tables.layout import WRONG_SIZE
from ..tables.views import header
from .panel import asked_header, at_w, entry, touch
from .passes import inward, outward
from .seed import clear, place_frames, seed


@inline
def spill(panel, x, to, i, j, columns):
    """Write a pack, or as much of it as there are columns, to row i of a matrix."""
    if j + LANES <= columns:
        put_row(to, i, j, x)
    else:
        put(panel, 0, x)  # the universe's force, which nobody reads
        for lane in range(columns - j):
            to[i, j + lane] = get_lane(panel, 0, lane)


@inline
def products_of(asked, panel, n, first, last, path0, path1, packs, columns, upper, gram):
    """(O4), rows of W' W: of the columns that the entries from first to last name, with all.

    Sums over the velocities that move what they act on, which the entries of the path name. ``upper``: what stands in
    packs before the diagonal is left out.
    """
    row, end = first, last - 1
    while row <= end:
        # four rows at a time; the last one again, where there are less
        i0, i1 = entry(asked, row).iv, entry(asked, min(row + 1, end)).iv
        i2, i3 = entry(asked, min(row + 2, end)).iv, entry(asked, min(row + 3, end)).iv
        w0, w1, w2, w3 = (
            at_w(n, i0 // LANES, 0),
            at_w(n, i1 // LANES, 0),
            at_w(n, i2 // LANES, 0),
            at_w(n, i3 // LANES, 0),
        )
        for P in range(i0 // LANES if upper else 0, packs):
            w = at_w(n, P, 0)
            s0, s1, s2, s3 = zero(panel), zero(panel), zero(panel), zero(panel)
            for e in range(path0, path1):
                k = entry(asked, e).iv
                x = get(panel, w + k)
                s0 += x * get_lane(panel, w0 + k, i0 % LANES)
                s1 += x * get_lane(panel, w1 + k, i1 % LANES)
                s2 += x * get_lane(panel, w2 + k, i2 % LANES)
                s3 += x * get_lane(panel, w3 + k, i3 % LANES)
            spill(panel, s0, gram, i0, P * LANES, columns)
            spill(panel, s1, gram, i1, P * LANES, columns)
            spill(panel, s2, gram, i2, P * LANES, columns)
            spill(panel, s3, gram, i3, P * LANES, columns)
        row += 4


@inline
def three_products(asked, panel, n, first, path0, path1, packs, columns, upper, gram):
    """The same of three columns, as of a point."""
    i0, i1, i2 = entry(asked, first).iv, entry(asked, first + 1).iv, entry(asked, first + 2).iv
    w0, w1, w2 = at_w(n, i0 // LANES, 0), at_w(n, i1 // LANES, 0), at_w(n, i2 // LANES, 0)
    for P in range(i0 // LANES if upper else 0, packs):
        w = at_w(n, P, 0)
        s0, s1, s2 = zero(panel), zero(panel), zero(panel)
        for e in range(path0, path1):
            k = entry(asked, e).iv
            x = get(panel, w + k)
            s0 += x * get_lane(panel, w0 + k, i0 % LANES)
            s1 += x * get_lane(panel, w1 + k, i1 % LANES)
            s2 += x * get_lane(panel, w2 + k, i2 % LANES)
        spill(panel, s0, gram, i0, P * LANES, columns)
        spill(panel, s1, gram, i1, P * LANES, columns)
        spill(panel, s2, gram, i2, P * LANES, columns)


@inline
def products(asked, panel, n, A, gram):
    """(O4): the rows of all frames."""
    for f in range(A.frame0, A.task1):
        F = touch(asked, f)
        products_of(asked, panel, n, F.column0, F.column1, F.path0, F.path1, A.packs, A.columns, False, gram)


def columns_with(compose_loop):
    """Make columns; ``compose_loop`` is for LOOP clusters."""
    poses = poses_with(compose_loop)

    @paste
    def columns(index, params, work, result, q, asked, numbers, panel, B, gram, response):
        """Write the first rows of C' M^-1 C to gram, and M^-1 C to response, if it is wanted.

        C has what is asked for: forces at frames, and the columns of B; what else B has is zeros, to whole packs.
        """
        n, A = header(index), asked_header(asked, 0)
        if q.shape[0] != n.nq or gram.shape[0] != A.tasks or (A.tasks > 0 and gram.shape[1] != A.columns):
            return WRONG_SIZE
        if response.shape[0] != n.nv or response.shape[1] != A.columns * A.moves:
            return WRONG_SIZE
        if B.shape[0] != n.nv or B.shape[1] < A.torque1 - A.torque0:
            return WRONG_SIZE
        code = poses(index, params, work, q)
        singular = factor(index, params, work)
        place_frames(index, params, work, q, asked, numbers, A)
        for P0 in range(0, A.packs, AT_WORK):
            P1 = min(P0 + AT_WORK, A.packs)
            clear(index, asked, panel, n, A, P0)
            for P in range(P0, P1):
                seed(index, work, asked, numbers, B, panel, n, A, P)
            inward(index, work, asked, panel, n, A, P0)
        if A.tasks > 0:
            products(asked, panel, n, A, gram)
        if A.moves == 1:
            for P0 in range(0, A.packs, AT_WORK):
                P1 = min(P0 + AT_WORK, A.packs)
                outward(index, work, panel, n, P0, P1)
                for P in range(P0, P1):
                    for i in range(n.nv):
                        spill(panel, get(panel, at_w(n, P, i)), response, i, P * LANES, A.columns)
        return code if code < 0 else singular

    return columns


columns = columns_with(loop.without_loops)
columns_loops = columns_with(loop.compose)
