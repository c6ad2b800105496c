"""G, its bias g and its rate of change, as full matrices of the tree."""

from __future__ import annotations

from ..bodies.placements import start, unit_rotation
from ..compiling.jit import inline, paste
from ..loops.coupling_of_loops import bias_of, is_singular, prepare, rates_of
from ..numbers.pack import if_less
from ..numbers.simd import get, put, zero
from ..numbers.spatial import zero3
from ..tables import workspace as ws
from ..tables.layout import LOOP, OK, WRONG_SIZE
from ..tables.views import cluster, head, header, listed, velocity_row


@inline
def stand_still(work, C):
    """Put the output body of a cluster at the origin: the motion of loops is relative to it."""
    ws.set_rotation(work, C.out, unit_rotation(zero(work)))
    ws.set_position(work, C.out, zero3(zero(work)))


@inline
def size_of(index, v, C):
    """Sum of the sizes of the independent velocities of a cluster; 1 if they are zero."""
    size = zero(v)
    for k in range(C.nk):
        x = get(v, listed(index, C.column, k))
        size += if_less(x, 0.0, -x, x)
    return if_less(zero(v), size, size, zero(v) + 1.0)


@inline
def add_rates(index, work, C, H, k, x):
    """Add to the velocities of a cluster what x more of its independent velocity k makes."""
    for r in range(H.velocity0, H.velocity1):
        V = velocity_row(index, r)
        put(work, V.at_rate, get(work, V.at_rate) + x * get(work, V.at_G + k))


@paste
def bias_and_rate(index, params, work, result, q, v, c, C, n):
    """Write g, and dG/dt if the result has room for it: B(v, w), with B(v, v) = g(v), of every unit velocity w.

    The symmetric B, by polarisation; all of it where the velocities of joints commute. Steps are as large as v, so
    that the differences lose nothing.
    """
    H, size, bias = head(index, C.head), size_of(index, v, C), n.nv_tree * n.nv
    behind, last = bias + n.nv_tree + bias, 2 * C.nk
    first = 0 if result.shape[0] > bias + n.nv_tree else last
    for i in range(first, last + 1):
        k, ahead = i // 2, i % 2 == 0
        rates_of(index, work, v, C)
        if i < last:
            add_rates(index, work, C, H, k, size if ahead else -size)
        bias_of(index, params, work, q, c, C)
        for r in range(H.velocity0, H.velocity1):
            V = velocity_row(index, r)
            g = get(work, V.at_bias)
            if i == last:
                put(result, bias + V.iv, g)
            else:
                to, part = behind + V.iv * n.nv + listed(index, C.column, k), g * 0.25 / size
                put(result, to, part if ahead else get(result, to) - part)


@paste
def coupling(index, params, work, result, q, v):
    """Write G (tree.nv x nv) and g (tree.nv) of clusters with closures to result; the other rows are there already.

    If the result goes on, with a place for a G to be kept and one for dG/dt, the latter is written too.
    """
    n = header(index)
    if q.shape[0] != n.nq or v.shape[0] != n.nv:
        return WRONG_SIZE
    start(params, work)
    code = OK
    for c in range(n.cluster0, n.cluster1):
        C = cluster(index, c)
        if C.kind == LOOP:
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
    return code
