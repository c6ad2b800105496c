"""Mass matrix of clusters with spin elements (C-CRBA): (C1) to (C3)."""

from ...compiler.numba_jit.jit import inline, paste
from ..bodies.placements import start, turn_joints
from ..clusters import articulated, free, general, loop, single
from ..directions import Out
from ..numbers.memory import fill_square, put, put_apart, put_twice
from ..numbers.spatial import dot6
from ..tables import workspace as ws
from ..tables.layout import FREE, LOOP, OK, SINGLE, WRONG_SIZE
from ..tables.views import body, cluster, header, listed


def poses_with(compose_loop):
    @inline
    def poses(index, params, work, q):
        """Compute poses, S, inertias and K; return OK, or minus the index of a cluster with singular loops."""
        start(params, work)
        turn_joints(index, work, q)
        code = OK
        for c in range(header(index).cluster0, header(index).cluster1):
            C = cluster(index, c)
            if C.kind == SINGLE:
                single.compose(index, params, work, q, C)
            elif C.kind == FREE:
                free.compose(params, work, C)
            elif C.kind == LOOP:
                if compose_loop(index, params, work, q, c, C):
                    code = -c
            else:
                general.compose(index, params, work, q, C)
        return code

    return poses


@inline
def to_ancestors(index, work, nv, b, F, i_v, M: Out):
    """Write the entries (C3) of M that couple column i_v, whose force on body b is F, with the ancestor clusters."""
    while b > 0:
        B = body(index, b)
        if B.sole >= 0:
            put_twice(M, nv, B.sole, i_v, dot6(F, ws.axis(work, b)))
            b = B.parent
            continue
        C = cluster(index, B.cluster)
        if C.kind == FREE:
            put(M, i_v * nv + C.column, F)
            put_apart(M, C.column * nv + i_v, nv, F)
        else:
            for r in range(C.nk):
                if articulated.moves(B.mask, r):
                    put_twice(M, nv, listed(index, C.column, r), i_v, dot6(F, ws.K_column(work, B.at_K, r)))
        b = C.out


@inline
def inward(index, params, work, nv, M: Out):
    """Compute the blocks of M and the composite inertias: (C1) to (C3)."""
    n = header(index)
    for i in range(n.cluster1 - n.cluster0):
        C = cluster(index, n.cluster1 - 1 - i)
        if C.kind == SINGLE:
            entry, F, above = single.couple(index, params, work, C)
            put(M, C.column * nv + C.column, entry)
            to_ancestors(index, work, nv, above, F, C.column, M)
        elif C.kind == FREE:
            free.couple(ws.composite(work, C.first), nv, C.column, M)
        else:
            general.couple(index, work, nv, C, M)
            for k in range(C.nk):
                F = ws.U_column(work, C.at_work, C.nk, k)
                to_ancestors(index, work, nv, C.out, F, listed(index, C.column, k), M)


def copied(flat):
    """Wrap a pass whose result is a flat square matrix, so that the result is copied to an array of shape (nv, nv)."""

    @paste
    def run(index, params, work, result, q, out: Out):
        code = flat(index, params, work, result, q)
        return code if fill_square(result, header(index).nv, out) else WRONG_SIZE

    return run


def crba_with(compose_loop):
    poses = poses_with(compose_loop)

    @paste
    def crba(index, params, work, M: Out, q):
        """Write the mass matrix to M; its entries between different branches of the tree must already be zero."""
        n = header(index)
        if q.shape[0] != n.nq or M.shape[0] != n.nv * n.nv:
            return WRONG_SIZE
        code = poses(index, params, work, q)
        inward(index, params, work, n.nv, M)
        return code

    return copied(crba)


crba = crba_with(loop.without_loops)
crba_loops = crba_with(loop.compose)
