"""G and its bias g, as full matrices of the tree."""

from __future__ import annotations

from ._jit import inline, kernel, paste, signature
from .kinematics import start, unit_rotation
from .layout import (
    BODY_WORK,
    CLUSTER0,
    CLUSTER1,
    COLUMN,
    DOF0,
    DOF1,
    DOF_BIAS,
    DOF_G,
    DOF_IV,
    IMPLICIT,
    LOOP,
    NK,
    NQ,
    NV,
    NVT,
    OK,
    OUT,
    TYPE,
    W_P,
    W_R,
    WRONG_SIZE,
)
from .loops import is_singular, prepare, prepare_bias
from .memory import store3, store9
from .simd import entry, get, put, tables, zero


@inline
def stand_still(index, work, c):
    """Put the output body of cluster c at the origin: the motion of loops is relative to it."""
    out, o = entry(index, c, OUT) * BODY_WORK, zero(work)
    store9(work, out + W_R, unit_rotation(o))
    store3(work, out + W_P, (o, o, o))


@paste
def coupling(index, params, work, keep, q, v):
    """Write G (tree.nv x nv) and g (tree.nv) of clusters with closures to keep; the other rows are there already."""
    nv = entry(index, 0, NV)
    if q.shape[0] != entry(index, 0, NQ) or v.shape[0] != nv:
        return WRONG_SIZE
    start(params, work)
    code, bias = OK, entry(index, 0, NVT) * nv
    for c in range(entry(index, 0, CLUSTER0), entry(index, 0, CLUSTER1)):
        if entry(index, c, TYPE) == IMPLICIT:
            stand_still(index, work, c)
            prepare(index, params, work, q, c)
            prepare_bias(index, params, work, q, v, c)
            if is_singular(index, work, c):
                code = -c
            head, column = entry(index, c, LOOP), entry(index, c, COLUMN)
            for dof in range(entry(index, head, DOF0), entry(index, head, DOF1)):
                iv, row = entry(index, dof, DOF_IV), entry(index, dof, DOF_G)
                for k in range(entry(index, c, NK)):
                    put(keep, iv * nv + entry(index, column + k, 0), get(work, row + k))
                put(keep, bias + iv, get(work, entry(index, dof, DOF_BIAS)))
    return code


@kernel(signature(2), "coupling_jacobian (G and its bias)", coupling)
def coupling_at(address, q, v):
    """Call coupling with the tables at an address."""
    index, params, work, keep = tables(address)
    return coupling(index, params, work, keep, q, v)
