"""Inverse mass matrix in O(n^2): compute articulated inertias once, then propagate a unit torque for each column."""

from ...compiler.numba_jit.jit import inline, paste
from ..clusters import articulated, free, general, loop, single
from ..directions import Out
from ..numbers.ldl6 import sym6_solve
from ..numbers.memory import get, put, put_apart, put_twice
from ..numbers.spatial import dot6, rigid_as_sym6, zero6
from ..tables import workspace as ws
from ..tables.layout import FREE, SINGLE, WRONG_SIZE
from ..tables.views import body, cluster, header, listed
from .crba import copied, poses_with


@inline
def factor(index, params, work):
    """Compute articulated inertias and factors, (A6) and (A8); return 0, or the index of a cluster with singular D."""
    for b in range(1, header(index).bodies + 1):
        ws.set_articulated(work, b, rigid_as_sym6(ws.composite(work, b)))
    return factor_articulated(index, params, work)


@inline
def factor_articulated(index, params, work):
    n, singular = header(index), 0
    for i in range(n.cluster1 - n.cluster0):
        c = n.cluster1 - 1 - i
        C, bad = cluster(index, c), False
        if C.kind == SINGLE:
            bad = single.factor(index, params, work, C)
        elif C.kind == FREE:
            bad = free.factor(params, work, C)
        else:
            bad = general.factor(index, params, work, C)
        if bad:
            singular = c
    return singular


@inline
def inward(index, work, C, k):
    """Propagate a unit torque on column k to the base (A7); store D^-1 u of all clusters on the path."""
    if C.kind == FREE:
        return
    if C.kind == SINGLE:
        ws.set_Dinv_u(work, C.first, ws.inverse_D(work, C.first))
        F = ws.UDinv(work, C.first)
    else:
        for m in range(C.nk):
            ws.set_u_entry(work, C.at_work, C.nk, m, 0.0)
        ws.set_u_entry(work, C.at_work, C.nk, k, 1.0)
        articulated.solve_D(work, C)
        F = ws.UDinv_column(work, C.at_work, C.nk, k)
    b = C.out
    while b > 0:
        B = body(index, b)
        A = cluster(index, B.cluster)
        if A.kind == SINGLE:
            u = -dot6(ws.axis(work, b), F)
            ws.set_Dinv_u(work, b, u * ws.inverse_D(work, b))
            F = F + ws.UDinv(work, b) * u
        elif A.kind == FREE:
            ws.set_force(work, b, F)
        else:
            for m in range(A.nk):
                u = 0.0
                if articulated.moves(B.mask, m):
                    u -= dot6(ws.K_column(work, B.at_K, m), F)
                ws.set_u_entry(work, A.at_work, A.nk, m, u)
            # U (D^-1 u) is computed as (U D^-1) u, so the factors of D are needed only once, in solve_D.
            for m in range(A.nk):
                F = F + ws.UDinv_column(work, A.at_work, A.nk, m) * ws.u_entry(work, A.at_work, A.nk, m)
            articulated.solve_D(work, A)
        b = A.out


@inline
def outward(index, work, nv, C, i_v, Minv: Out):
    """Compute a cluster's accelerations (A9), (A10) under unit torque i_v; write them to row and column i_v of Minv."""
    if C.kind == SINGLE:
        a_up = ws.acceleration(work, C.out)
        a = ws.Dinv_u(work, C.first) - dot6(ws.UDinv(work, C.first), a_up)
        ws.set_Dinv_u(work, C.first, 0.0)
        ws.set_acceleration(work, C.first, a_up + ws.axis(work, C.first) * a)
        put_twice(Minv, nv, C.column, i_v, a)
    else:
        a_out = ws.acceleration(work, C.out)
        for k in range(C.nk):
            a = ws.u_entry(work, C.at_work, C.nk, k) - dot6(ws.UDinv_column(work, C.at_work, C.nk, k), a_out)
            ws.set_u_entry(work, C.at_work, C.nk, k, 0.0)
            put_twice(Minv, nv, listed(index, C.column, k), i_v, a)
        for b in range(C.first, C.last):
            a, B = a_out, body(index, b)
            for k in range(C.nk):
                if articulated.moves(B.mask, k):
                    a = a + ws.K_column(work, B.at_K, k) * get(Minv, i_v * nv + listed(index, C.column, k))
            ws.set_acceleration(work, b, a)


@inline
def outward_base(work, nv, C, i_v, Minv: Out):
    """Compute (A9) of a free flyer under its own unit force, or the force due to another cluster's unit torque."""
    a = sym6_solve(ws.base_inverse_d(work, C.first), ws.base_L(work, C.first), -ws.force(work, C.first))
    ws.set_force(work, C.first, zero6())
    ws.set_acceleration(work, C.first, a)
    put(Minv, i_v * nv + C.column, a)
    put_apart(Minv, C.column * nv + i_v, nv, a)


@inline
def clear(work, C):
    """Set the torques from the previous call to zero; within a call, ``outward`` resets each torque after use."""
    if C.kind == SINGLE:
        ws.set_Dinv_u(work, C.first, 0.0)
    elif C.kind == FREE:
        ws.set_force(work, C.first, zero6())
    else:
        for k in range(C.nk):
            ws.set_u_entry(work, C.at_work, C.nk, k, 0.0)


def minverse_with(compose_loop):
    poses = poses_with(compose_loop)

    @paste
    def minverse(index, params, work, Minv: Out, q):
        """Write one triangle of the inverse mass matrix cluster by cluster, and the other triangle by symmetry."""
        n = header(index)
        if q.shape[0] != n.nq or Minv.shape[0] != n.nv * n.nv:
            return WRONG_SIZE
        code = poses(index, params, work, q)
        singular = factor(index, params, work)
        ws.set_acceleration(work, 0, zero6())
        for c in range(n.cluster0, n.cluster1):
            clear(work, cluster(index, c))
        for c in range(n.cluster0, n.cluster1):
            C = cluster(index, c)
            for k in range(C.nk):
                i_v = C.column + k
                if C.kind != FREE and C.kind != SINGLE:
                    i_v = listed(index, C.column, k)
                inward(index, work, C, k)
                for r in range(n.cluster0, c + 1):
                    A = cluster(index, r)
                    if A.kind == FREE:
                        if r == c:
                            ws.set_force_entry(work, A.first, k, -1.0)
                        outward_base(work, n.nv, A, i_v, Minv)
                    else:
                        outward(index, work, n.nv, A, i_v, Minv)
        return code if code < 0 else singular

    return copied(minverse)


minverse = minverse_with(loop.without_loops)
minverse_loops = minverse_with(loop.compose)
