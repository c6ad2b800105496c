"""Matrix entries that couple a column with the columns of ancestor clusters (V5)."""

from ...compiler.numba_jit.jit import inline
from ..clusters.articulated import moves
from ..directions import Out
from ..numbers.memory import put, put_apart, put_twice
from ..numbers.spatial import angular, cross, cross_force, dot3, dot6, force_from, linear
from ..numbers.tuples import load3, load6, load9
from ..tables import workspace as ws
from ..tables.layout import FREE
from ..tables.variations_layout import ACCELERATION, BASE_POSITION, BASE_ROTATION
from ..tables.views import body, cluster, listed
from .forces import motions_of_column


@inline
def enter(dq: Out, dv: Out, M: Out, nv, i, k, F, P, Q, T, J, L, N, Gamma, second):
    put_twice(M, nv, k, i, dot6(F, J))
    put(dv, k * nv + i, dot6(J, Q))
    put(dv, i * nv + k, dot6(F, Gamma) + dot3(T, angular(J)))
    if second:
        put(dq, k * nv + i, dot6(J, P))
        put(dq, i * nv + k, dot6(F, N) + dot3(T, angular(L)))


@inline
def enter_base(work, up, dq: Out, dv: Out, M: Out, nv, i, k, b, F, P, Q, T, second):
    """Write the entries (V6) that couple column i with a free flyer; ``up`` is minus gravity in flyer axes."""
    put(M, i * nv + k, F)
    put_apart(M, k * nv + i, nv, F)
    put_apart(dv, k * nv + i, nv, Q)
    x = cross_force(ws.velocity(work, b), F)
    put(dv, i * nv + k, (-x[0], -x[1], -x[2], T[0] - x[3], T[1] - x[4], T[2] - x[5]))
    if second:
        put_apart(dq, k * nv + i, nv, P)
        t, o = cross(linear(F), up), 0.0
        put(dq, i * nv + k, (o, o, o, t[0], t[1], t[2]))


@inline
def to_ancestors(index, work, rates, nv, b, i, F, P, Q, T, dq: Out, dv: Out, M: Out, second):
    """Write the entries that couple column i with all ancestor clusters; F, P, Q and T (V3) act on body b."""
    while b > 0:
        B = body(index, b)
        C = cluster(index, B.cluster)
        if B.sole >= 0:
            L, N = load6(rates, C.at_rates), load6(rates, C.at_rates + ACCELERATION)
            enter(dq, dv, M, nv, i, B.sole, F, P, Q, T, ws.axis(work, b), L, N, L * 2.0, second)
        elif C.kind == FREE:
            enter_base(work, load3(rates, C.at_rates), dq, dv, M, nv, i, C.column, b, F, P, Q, T, second)
        else:
            for r in range(C.nk):
                if moves(B.mask, r):
                    J, L, N, Gamma = motions_of_column(work, rates, C, B, b, r)
                    enter(dq, dv, M, nv, i, listed(index, C.column, r), F, P, Q, T, J, L, N, Gamma, second)
        b = C.out


@inline
def in_universe(rates, root, kind, x):
    """Transform a force from the world of a root (see ``layout``) to the axes and the origin of the universe."""
    if kind != FREE:
        return x
    return force_from(load9(rates, root + BASE_ROTATION), load3(rates, root + BASE_POSITION), x)


@inline
def enter_sum(index, rates, out: Out, nv, C, i, F, P, Q, H):
    """Write H, P, Q and F of column i to ``out`` in the axes of the universe, six rows each."""
    root = cluster(index, body(index, body(index, C.first).root).cluster)
    put_apart(out, i, nv, in_universe(rates, root.at_rates, root.kind, H))
    put_apart(out, 6 * nv + i, nv, in_universe(rates, root.at_rates, root.kind, P))
    put_apart(out, 12 * nv + i, nv, in_universe(rates, root.at_rates, root.kind, Q))
    put_apart(out, 18 * nv + i, nv, in_universe(rates, root.at_rates, root.kind, F))
