"""Derivatives of the motion of a joint, frame or point with respect to independent q, v and a.

All motions are expressed in one fixed frame: the present pose of the requested frame (LOCAL), the same origin with
world axes (LOCAL_WORLD_ALIGNED), or the world (WORLD). S is the motion per unit of a tree velocity; v and a are the
velocity and acceleration of a link. Index lam denotes the parent link, and o the requested frame:

    L = v_lam x S      Gam = (v_lam + v - v_o) x S      N = a_lam x S + (v_lam - v_o) x L

In LOCAL, the derivatives of the velocity of o are L (with respect to q) and S (v); the derivatives of the acceleration
are N (q), Gam (v) and S (a). In the other frames, add S x v_o to L and S x a_o to N. With the coupling matrix G:

    v_q = L G + S dv/dq      a_q = N G + Gam dv/dq + S da/dq      a_v = Gam G + S da/dv      a_a = v_v = S G
"""

from ...compiler.numba_jit.jit import inline, paste
from ..bodies.placements import unit_rotation
from ..directions import Out
from ..numbers.memory import get
from ..numbers.spatial import angular, cross, join, linear, matmul3, rot, rot6_t, zero3
from ..numbers.tuples import Vec3, load3, load9
from ..tables import link_workspace as of_link
from ..tables.layout import LOCAL, WORLD, WRONG_SIZE
from ..tables.views import derived_at, dof, entry, link, place_at, tree_header_at
from .independent_columns import clear_rows
from .link_motions import carried, direction

POINT = 3  # number of rows of a result for a point; a frame has six


@inline
def seen(m, x, R, y):
    """Transform a motion from world axes at the point x to the axes R at the point y."""
    m_y = carried(m, y - x)
    return rot6_t(R, m_y)


@inline
def add_to(to: Out, k, x, factor):
    if to.shape[0] == POINT:
        for r in range(3):
            to[r, k] += factor * x[r]
    else:
        for r in range(6):
            to[r, k] += factor * x[r]


@inline
def of_point(dv, da, v):
    """Return the change of the origin's classical acceleration if v changes by dv, and a by da."""
    return join(linear(da) + cross(angular(dv), linear(v)) + cross(angular(v), linear(dv)), angular(da))


@inline
def in_link(params, P, M):
    R, x = load9(params, P.at), load3(params, P.at + 9)
    if M.shape[0] > 0:
        x = x + rot(R, Vec3(M[3], M[7], M[11]))
        R = matmul3(R, (M[0], M[1], M[2], M[4], M[5], M[6], M[8], M[9], M[10]))
    return R, x


@paste
def place_derivatives(index, params, work, out, place, reference, M, v_q: Out, v_v: Out, a_q: Out, a_v: Out):
    """Write the derivatives of the motion of a joint, frame or point.

    ``place`` is as in ``frame_jacobian``. ``M`` is empty or, for a joint, the homogeneous matrix of a frame in the
    joint frame. The outputs are 6 x nv, 3 x nv for a point (not with WORLD), or empty if not requested; a_a equals v_v.
    Return 0, WRONG_SIZE, or a positive code if ``tree`` must first compute velocities or accelerations.
    """
    n = tree_header_at(index, 0)
    E = derived_at(index, n.sections + 2)
    if place < 0 or place >= n.place1 - n.place0 or (reference == WORLD and v_q.shape[0] == POINT):
        return WRONG_SIZE
    P = place_at(index, n.place0 + place)
    clear_rows(v_q, n)
    clear_rows(v_v, n)
    clear_rows(a_q, n)
    clear_rows(a_v, n)
    R_in, x_in = in_link(params, P, M)
    R_link, b = of_link.rotation(work, P.link), P.link
    R, y = matmul3(R_link, R_in), of_link.position(work, b) + rot(R_link, x_in)
    if reference != LOCAL:
        R = unit_rotation()
        if reference == WORLD:
            y = zero3()
    accelerates, is_point = a_q.shape[0] > 0, v_q.shape[0] == POINT
    v_o = seen(of_link.velocity(work, b), of_link.position(work, b), R, y)
    a_o = v_o
    if accelerates:
        a_o = seen(of_link.acceleration(work, b), of_link.position(work, b), R, y)
        if is_point:
            a_o = join(linear(a_o) + cross(angular(v_o), linear(v_o)), angular(a_o))
    v = v_o
    while b > 0:
        L = link(index, b)
        x_up = of_link.position(work, L.parent)
        v_up = seen(of_link.velocity(work, L.parent), x_up, R, y)
        a_up = v_up
        if accelerates:
            a_up = seen(of_link.acceleration(work, L.parent), x_up, R, y)
        for iv in range(L.iv, L.iv + L.ndof):
            D = dof(index, n.dof0 + iv)
            S = seen(direction(params, work, D), of_link.position(work, b), R, y)
            by_q = cross(v_up, S)
            acc_by_q, acc_by_v = by_q, by_q
            if accelerates:
                acc_by_v = cross(v_up + v - v_o, S)
                acc_by_q = cross(a_up, S) + cross(v_up - v_o, by_q)
                if is_point:
                    acc_by_q, acc_by_v = of_point(by_q, acc_by_q, v_o), of_point(S, acc_by_v, v_o)
            if reference != LOCAL:
                if is_point:
                    by_q = join(linear(by_q) + cross(angular(S), linear(v_o)), angular(by_q))
                    acc_by_q = join(linear(acc_by_q) + cross(angular(S), linear(a_o)), angular(acc_by_q))
                else:
                    by_q, acc_by_q = by_q + cross(S, v_o), acc_by_q + cross(S, a_o)
            for t in range(D.term0, D.term1):
                T = entry(index, t)
                g = get(out, E.coupled + T.at)
                add_to(v_q, T.k, by_q, g)
                add_to(v_v, T.k, S, g)
                if accelerates:
                    add_to(a_q, T.k, acc_by_q, g)
                    add_to(a_v, T.k, acc_by_v, g)
                if n.loops == 1:
                    size = n.nv_tree * n.nv
                    i = E.coupled + size + T.at
                    turn = get(out, i)
                    add_to(v_q, T.k, S, turn)
                    if accelerates:
                        add_to(a_q, T.k, acc_by_v, turn)
                        add_to(a_q, T.k, S, get(out, i + size))
                        add_to(a_v, T.k, S, get(out, i + 2 * size))
        v = v_up
        b = L.parent
    required = 1
    if accelerates:
        required = 2
    return max(0, required - int(get(work, E.level)))
