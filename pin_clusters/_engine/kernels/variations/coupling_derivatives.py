"""Derivatives of the rates and accelerations of all joints, G v and G a + g, as full matrices of the tree; (L6)."""

from __future__ import annotations

from ..bodies.placements import start
from ..clusters.general import columns
from ..compiling.jit import paste
from ..dynamics.coupling import stand_still
from ..loops.coupling_of_loops import bias_of, is_singular, prepare, rates_of
from ..numbers.simd import get, put
from ..tables.layout import LOOP, MIDDLE, OK, WRONG_SIZE
from ..tables.views import body, cluster, head, header, listed, velocity_row
from .coupling_rates import differentiate_coupling


@paste
def coupling_derivatives(index, params, work, rates, q, v, a, v_q, a_q, a_v):
    """Write what changes with each independent coordinate and velocity, in clusters with closures; the rest stays.

    Args:
        index: Table.
        params: Table.
        work: Workspace.
        rates: Records, see ``variations_layout``.
        q: Configuration of the tree.
        v: Independent velocities.
        a: Independent accelerations.
        v_q: tree.nv x nv: the tree's velocity by q.
        a_q: The same size: its acceleration by q.
        a_v: The same size: its acceleration by v.
    """
    n = header(index)
    if q.shape[0] != n.nq or v.shape[0] != n.nv or a.shape[0] != n.nv or v_q.shape[0] != n.nv_tree * n.nv:
        return WRONG_SIZE
    start(params, work)
    code = OK
    for c in range(n.cluster0, n.cluster1):
        C = cluster(index, c)
        if C.kind == LOOP:
            stand_still(work, C)
            prepare(index, params, work, q, C)
            rates_of(index, work, v, C)
            bias_of(index, params, work, q, c, C)
            if is_singular(index, work, C):
                code = -c
            for b in range(C.first, C.last):
                if body(index, b).kind != MIDDLE:
                    columns(index, work, C, body(index, b))
            differentiate_coupling(index, params, work, rates, q, a, c, C, True)
            H = head(index, C.head)
            for r in range(H.velocity0, H.velocity1):
                V = velocity_row(index, r)
                for k in range(C.nk):
                    to, dG = V.iv * n.nv + listed(index, C.column, k), get(work, V.at_dG + k)
                    put(v_q, to, dG)
                    put(a_q, to, get(work, V.at_ddG + k))
                    put(a_v, to, dG + get(work, V.at_true + k))
    return code
