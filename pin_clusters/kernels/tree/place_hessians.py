"""Derivative dJ/dq of the Jacobian of a joint or frame at a configuration (L8).

dJ_k/dq_m = sum over i, j of (dS_i/dq_j) G_ik G_jm + sum over i of S_i dG_ik/dq_m, where i and j are the velocities of
the tree that move the frame. In LOCAL axes, dS_i/dq_j is S_i x S_j if j is the outer joint, else 0. In WORLD axes, it
is S_j x S_i if j is not the outer joint, else 0. For LOCAL_WORLD_ALIGNED, add ang(S_i) x lin(S_j) to the linear part.
"""

from ...compiler.numba_jit.jit import inline, paste
from ..directions import Out
from ..numbers.memory import borrowed, get, increase, put, put_zeros
from ..numbers.spatial import angular, cross, join, linear, zero6
from ..numbers.tuples import load6
from ..tables.layout import LOCAL, LOCAL_WORLD_ALIGNED, WRONG_SIZE
from ..tables.views import derived_at, dof, entry, link, own_at, place_at, tree_header_at
from .frame_jacobians import climb, presented
from .place_derivatives import in_link


@inline
def leave_motions(index, params, work, q, n, O, R, x, b, reference):
    R, x = climb(index, params, work, q, n, O, R, x, b, False)
    while b > 0 and reference != LOCAL:
        L = link(index, b)
        for iv in range(L.iv, L.iv + L.ndof):
            put(work, O.scratch + 6 * iv, presented(load6(work, O.scratch + 6 * iv), R, x, reference))
        b = L.parent


@inline
def change_of(S_i, S_j, later, reference):
    """Return dS_i/dq_j; ``later`` is 1 if j is the outer joint (farther from the base)."""
    if reference == LOCAL:
        if later:
            return cross(S_i, S_j)
        return zero6()
    change = zero6()
    if not later:
        change = cross(S_j, S_i)
    if reference == LOCAL_WORLD_ALIGNED:
        return join(linear(change) + cross(angular(S_i), linear(S_j)), angular(change))
    return change


@paste
def place_hessian(index, params, work, out, place, reference, M, to: Out):
    """Write dJ/dq of a joint or frame, 6 x nv x nv, flat; ``place`` and ``M`` are as in ``place_derivatives``.

    If the model has loops, call ``coupling_derivatives`` with an empty v first.
    """
    n = tree_header_at(index, 0)
    O = own_at(index, n.sections + 1)
    E = derived_at(index, n.sections + 2)
    if place < 0 or place >= n.place1 - n.place0 or to.shape[0] != 6 * n.nv * n.nv:
        return WRONG_SIZE
    P = place_at(index, n.place0 + place)
    put_zeros(to, 0, 6 * n.nv * n.nv)
    R, x = in_link(params, P, M)
    leave_motions(index, params, work, borrowed(out[E.bent_q : E.bent_q + n.nq]), n, O, R, x, P.link, reference)
    size = n.nv * n.nv
    b = P.link
    while b > 0:
        L = link(index, b)
        for iv in range(L.iv, L.iv + L.ndof):
            D, S = dof(index, n.dof0 + iv), load6(work, O.scratch + 6 * iv)
            c, later = P.link, 1
            while c > 0:
                K = link(index, c)
                if c == b:
                    later = 0
                for jv in range(K.iv, K.iv + K.ndof):
                    F = dof(index, n.dof0 + jv)
                    change = change_of(S, load6(work, O.scratch + 6 * jv), later, reference)
                    for t in range(D.term0, D.term1):
                        T = entry(index, t)
                        for u in range(F.term0, F.term1):
                            U = entry(index, u)
                            g = get(out, E.bends + T.at) * get(out, E.bends + U.at)
                            for r in range(6):
                                increase(to, r * size + T.k * n.nv + U.k, g * change[r])
                c = K.parent
            if n.loops == 1:
                for t in range(D.term0, D.term1):
                    T = entry(index, t)
                    change_of_G = E.bends + (1 + t - D.term0) * n.nv_tree * n.nv
                    for u in range(D.term0, D.term1):
                        U = entry(index, u)
                        g = get(out, change_of_G + U.at)
                        for r in range(6):
                            increase(to, r * size + T.k * n.nv + U.k, g * S[r])
        b = L.parent
    return int(get(out, E.bent) == 0.0)
