"""Computes the coupling matrix G, its bias g and its time derivative, for all velocities of the tree."""

from ...compiler.numba_jit.jit import inline, paste
from ..bodies.placements import start
from ..directions import Out
from ..loops.coupling_of_loops import bias_of, is_singular, prepare, rates_of, stand_still
from ..numbers.memory import get, put, put_copy
from ..tables import workspace as ws
from ..tables.layout import LOOP, OK, WRONG_SIZE
from ..tables.views import cluster, head, header, listed, velocity_row
from .coupling_rates import derivatives_of_equations, solve_first, true_rates


@inline
def remember(work, q, n):
    put_copy(work, n.prepared, q, 0, n.nq)


@inline
def stands(work, q, n):
    """Return whether ``remember`` stored this q; this function cannot be traced, because it branches on values."""
    for i in range(n.nq):
        if get(work, n.prepared + i) != get(q, i):
            return False
    return True


@paste
def bias_and_rate(index, params, work, result: Out, q, v, c, C, n):
    H, bias = head(index, C.head), n.nv_tree * n.nv
    behind, with_rate = bias + n.nv_tree + bias, result.shape[0] > bias + n.nv_tree
    rates_of(index, work, v, C)
    bias_of(index, params, work, q, c, C)
    if with_rate:
        derivatives_of_equations(index, params, work, q, C, False)
        solve_first(index, params, work, c, C)
        true_rates(index, work, C)
    for r in range(H.velocity0, H.velocity1):
        V = velocity_row(index, r)
        put(result, bias + V.iv, get(work, V.at_bias))
        if with_rate:
            for k in range(C.nk):
                put(result, behind + V.iv * n.nv + listed(index, C.column, k), get(work, V.at_true + k))


@paste
def coupling(index, params, work, result: Out, q, v):
    """Write G (nv_tree x nv) and g (nv_tree) of clusters with closures; ``result`` already contains the constant rows.

    A larger ``result`` also contains a copy of G, which this function does not change, and dG/dt, which it writes.
    """
    n = header(index)
    if q.shape[0] != n.nq or v.shape[0] != n.nv:
        return WRONG_SIZE
    start(params, work)
    code = OK
    for c in range(n.cluster0, n.cluster1):
        C = cluster(index, c)
        if C.kind == LOOP:
            R, x = ws.rotation(work, C.out), ws.position(work, C.out)
            stand_still(work, C)
            prepare(index, params, work, q, C)
            bias_and_rate(index, params, work, result, q, v, c, C, n)
            if is_singular(index, work, C):
                code = -c
            H = head(index, C.head)
            for r in range(H.velocity0, H.velocity1):
                V = velocity_row(index, r)
                for k in range(C.nk):
                    put(result, V.iv * n.nv + listed(index, C.column, k), get(work, V.at_G + k))
            # The output body can belong to another LOOP cluster; the poses of that cluster must not change.
            ws.set_pose(work, C.out, R, x)
    remember(work, q, n)
    return code
