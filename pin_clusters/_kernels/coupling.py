"""G and its bias g, as full matrices of the tree."""

from __future__ import annotations

from ._jit import inline, kernel, paste, signature
from .addresses import tables
from .bodies import start, unit_rotation
from .coupling_of_loops import is_singular, prepare, prepare_bias
from .layout import LOOP, OK, WRONG_SIZE
from .simd import borrowed, get, put, zero
from .spatial import zero3
from .views import cluster, head, header, listed, velocity_row
from .workspace import set_position, set_rotation


@inline
def stand_still(work, C):
    """Put the output body of a cluster at the origin: the motion of loops is relative to it.

    Writes: pose.
    """
    set_rotation(work, C.out, unit_rotation(zero(work)))
    set_position(work, C.out, zero3(zero(work)))


@paste
def coupling(index, params, work, result, q, v):
    """Write G (tree.nv x nv) and g (tree.nv) of clusters with closures to result; the other rows are there already.

    Reads: acceleration, bias, condition, E, G, K, momentum, P, pose, q, rate, room, row, S, spin_bias, v, value,
        velocity, W.
    Writes: acceleration, bias, condition, E, G, K, momentum, P, pose, rate, result, room, row, S, spin_bias, value,
        velocity, W.
    """
    n = header(index)
    if q.shape[0] != n.nq or v.shape[0] != n.nv:
        return WRONG_SIZE
    start(params, work)
    code, bias = OK, n.nv_tree * n.nv
    for c in range(n.cluster0, n.cluster1):
        C = cluster(index, c)
        if C.kind == LOOP:
            stand_still(work, C)
            prepare(index, params, work, q, C)
            prepare_bias(index, params, work, q, v, c, C)
            if is_singular(index, work, C):
                code = -c
            H = head(index, C.head)
            for r in range(H.velocity0, H.velocity1):
                V = velocity_row(index, r)
                for k in range(C.nk):
                    put(result, V.iv * n.nv + listed(index, C.column, k), get(work, V.at_G + k))
                put(result, bias + V.iv, get(work, V.at_bias))
    return code


@kernel(signature(2), "coupling_jacobian (G and its bias)", coupling)
def coupling_at(address, q, v):
    """Call coupling with the tables at an address.

    Reads: acceleration, bias, condition, E, G, K, momentum, P, pose, rate, room, row, S, spin_bias, value, velocity,
        W.
    Writes: acceleration, bias, condition, E, G, K, momentum, P, pose, rate, result, room, row, S, spin_bias, value,
        velocity, W.
    """
    index, params, work, result = tables(address)
    return coupling(index, params, work, result, borrowed(q), borrowed(v))
