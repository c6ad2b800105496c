"""Derivatives of the tree's velocity G v and acceleration G a + g with respect to q and v (L6)."""

from ...compiler.numba_jit.jit import inline, paste
from ..bodies.placements import start
from ..clusters.general import columns
from ..directions import Out
from ..loops.coupling_of_loops import bias_of, is_singular, prepare, rates_of, stand_still
from ..numbers.memory import get, put
from ..tables import workspace as ws
from ..tables.layout import LOOP, MIDDLE, OK, WRONG_SIZE
from ..tables.views import body, cluster, head, header, listed, velocity_row
from .coupling import remember, stands
from .coupling_rates import derivatives_of_equations, differentiate_coupling, relative_motions, solve_first


@inline
def along_column(index, work, C, i):
    H = head(index, C.head)
    for r in range(H.velocity0, H.velocity1):
        V = velocity_row(index, r)
        put(work, V.at_rate, get(work, V.at_G + i))


@inline
def differentiate_twice(index, params, work, rates: Out, q, v, a, c, C):
    rates_of(index, work, v, C)
    bias_of(index, params, work, q, c, C)
    for b in range(C.first, C.last):
        if body(index, b).kind != MIDDLE:
            columns(index, work, C, body(index, b))
    differentiate_coupling(index, params, work, rates, q, a, c, C, True)


@inline
def hand_out(index, work, found: Out, C, n, i, second):
    """Write G to matrix 0 and dG to matrix i; if ``second``, also ddG to matrix 2 and d(G a + g)/dv to matrix 3."""
    H, size = head(index, C.head), n.nv_tree * n.nv
    for r in range(H.velocity0, H.velocity1):
        V = velocity_row(index, r)
        for k in range(C.nk):
            to, dG = V.iv * n.nv + listed(index, C.column, k), get(work, V.at_dG + k)
            put(found, to, get(work, V.at_G + k))
            put(found, to + i * size, dG)
            if second:
                put(found, to + 2 * size, get(work, V.at_ddG + k))
                put(found, to + 3 * size, dG + get(work, V.at_true + k))


@paste
def coupling_derivatives(index, params, work, rates: Out, q, v, a, found: Out):
    """Write G and its derivatives in the rows of clusters with closures; all other rows remain unchanged.

    This function reuses the results of ``coupling``, or of an earlier call, at the same q. ``found`` contains nv_tree x
    nv matrices: G and dv_tree/dq; if a is not empty, also da_tree/dq and da_tree/dv. If v is empty, matrix 1 + i is
    dv_tree/dq for the motion with velocity 1 in column i of each cluster and 0 in all other columns.
    """
    n = header(index)
    if q.shape[0] != n.nq or found.shape[0] < 2 * n.nv_tree * n.nv:
        return WRONG_SIZE
    if (v.shape[0] != n.nv and v.shape[0] > 0) or (a.shape[0] != v.shape[0] and a.shape[0] > 0):
        return WRONG_SIZE
    start(params, work)
    code, solved = OK, stands(work, q, n)
    for c in range(n.cluster0, n.cluster1):
        C = cluster(index, c)
        if C.kind == LOOP:
            R, x = ws.rotation(work, C.out), ws.position(work, C.out)
            stand_still(work, C)
            if not solved:
                prepare(index, params, work, q, C)
            if is_singular(index, work, C):
                code = -c
            if a.shape[0] > 0:
                differentiate_twice(index, params, work, rates, q, v, a, c, C)
                hand_out(index, work, found, C, n, 1, True)
            else:
                for i in range(1 if v.shape[0] > 0 else C.nk):
                    if v.shape[0] > 0:
                        rates_of(index, work, v, C)
                    else:
                        along_column(index, work, C, i)
                    if head(index, C.head).on_bodies == 1:
                        relative_motions(index, work, c, C, False)
                    derivatives_of_equations(index, params, work, q, C, False)
                    solve_first(index, params, work, c, C)
                    hand_out(index, work, found, C, n, 1 + i, False)
            ws.set_pose(work, C.out, R, x)
    remember(work, q, n)
    return code
