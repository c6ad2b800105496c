"""Jacobian of one joint or frame and its time derivative, at a configuration or from the contents of ``pin.Data``."""

from ...compiler.numba_jit.jit import inline, paste
from ..bodies.placements import moved, turned
from ..numbers.memory import get, put
from ..numbers.tuples import Vec3, load3, load6, load9
from ..tables import layout as at
from ..tables import link_workspace as of_link
from ..tables.addresses import seen
from ..tables.layout import BODY_PARAMS, LOCAL, WORLD, WRONG_SIZE
from ..tables.views import derived_at, dof, entry, field, link, own_at, place_at, tree_header_at
from .independent_columns import clear_rows
from .link_motions import at_point, carried

from ..numbers.spatial import angular, axis_of, cross, join, linear, matmul3  # isort: skip
from ..numbers.spatial import rot, rot6, rot6_t, rot_t, transposed, zero3, zero6  # isort: skip
from ..directions import Out


@inline
def seen_from(params, D, R, p):
    """Return a frame's motion per unit of tree velocity D, in frame axes; the frame has the pose R, p in D's link."""
    e = axis_of(transposed(R), D.axis)
    if D.turns == 0:
        return join(e, zero3())
    turn = cross(e, p)
    if D.screw >= 0:
        turn = turn + e * get(params, D.screw)
    return join(turn, e)


@inline
def add_column(index, out, to: Out, D, at_G, S):
    for t in range(D.term0, D.term1):
        T = entry(index, t)
        g = get(out, at_G + T.at)
        for r in range(6):
            to[r, T.k] += g * S[r]


@inline
def presented(S, R, x, reference):
    """Transform a motion S from the axes and origin of the frame at R, x to the requested reference frame."""
    if reference == LOCAL:
        return S
    turned = rot6(R, S)
    if reference == WORLD:
        return at_point(turned, x)
    return turned


@inline
def leave_placement(index, params, work, n, R, x, b, L):
    """Write a joint's placement to ``pin.Data``, from a frame's poses in the world (R, x) and in the joint's link."""
    placed = seen(field(index, n.field1).address, 12 * n.njoints)
    R_link = matmul3(R, transposed(of_link.rotation(work, b)))
    put(placed, 12 * L.joint, transposed(turned(R_link, L.align, params, b * BODY_PARAMS + at.ALIGN)))
    put(placed, 12 * L.joint + 9, x - rot(R_link, of_link.position(work, b)))


@inline
def climb(index, params, work, q, n, O, R, x, b, leave):
    """Write the Jacobian, in frame axes, of a frame with pose R, x in link b; return the frame's pose in the world."""
    while b > 0:
        L = link(index, b)
        p = rot_t(R, x)
        for iv in range(L.iv, L.iv + L.ndof):
            put(work, O.scratch + 6 * iv, seen_from(params, dof(index, n.dof0 + iv), R, p))
        if leave:
            of_link.set_rotation(work, b, R)
            of_link.set_position(work, b, x)
        k = b * BODY_PARAMS
        R_link, at_link = moved(params, q, L, k, load9(params, k + at.ROTATION), load3(params, k + at.POSITION))
        x = at_link + rot(R_link, x)
        R = matmul3(R_link, R)
        b = L.parent
    return R, x


@inline
def from_configuration(index, params, work, out, q, n, O, P, reference, frame, to: Out):
    """Write the Jacobian at q; compute it in the frame's axes first, then transform it to the reference frame."""
    b = P.link
    R, x = climb(index, params, work, q, n, O, load9(params, P.at), load3(params, P.at + 9), b, True)
    while b > 0:
        L = link(index, b)
        for d in range(L.ndof):
            S = presented(load6(work, O.scratch + 6 * (L.iv + d)), R, x, reference)
            add_column(index, out, to, dof(index, n.dof0 + L.iv + d), O.G, S)
        if reference != LOCAL and L.joint > 0:
            leave_placement(index, params, work, n, R, x, b, L)
        b = L.parent
    if reference != LOCAL and frame >= 0:
        placed = seen(field(index, n.field1 + 4).address, 12 * (frame + 1))
        put(placed, 12 * frame, transposed(R))
        put(placed, 12 * frame + 9, x)


@inline
def of_frame(S, R, x, reference):
    """Transform S from world axes at the world origin to the ``reference`` frame of a frame with pose R, x."""
    if reference == WORLD:
        return S
    moved_there = carried(S, x)
    if reference == LOCAL:
        return rot6_t(R, moved_there)
    return moved_there


@inline
def of_frame_rate(S, dS, v, R, x, reference):
    if reference == LOCAL:
        return of_frame(dS - cross(v, S), R, x, reference)
    rate = of_frame(dS, R, x, reference)
    if reference == WORLD:
        return rate
    return join(linear(rate) + cross(angular(S), linear(v) + cross(angular(v), x)), angular(rate))


@inline
def from_data(index, params, out, n, O, P, reference, rate, M, to: Out):
    """Write the Jacobian, or its rate if ``rate``, from J and dJ in ``pin.Data``; M is as in ``frame_jacobian``."""
    placed = seen(field(index, n.field1).address, 12 * n.njoints)
    J = seen(field(index, n.field1 + 1).address, 6 * n.nv_tree)
    dJ = seen(field(index, n.field1 + 2).address, 6 * n.nv_tree)
    R_joint, x_joint = transposed(load9(placed, 12 * P.joint)), load3(placed, 12 * P.joint + 9)
    R, x = matmul3(R_joint, load9(params, P.at + 12)), x_joint + rot(R_joint, load3(params, P.at + 21))
    if M.shape[0] > 0:
        x = x + rot(R, Vec3(M[3], M[7], M[11]))
        R = matmul3(R, (M[0], M[1], M[2], M[4], M[5], M[6], M[8], M[9], M[10]))
    # As in Pinocchio, LOCAL uses the current data.v; the other frames use the velocity at which dJ was computed.
    v = load6(seen(field(index, n.field1 + (3 if reference == LOCAL else 5)).address, 6 * n.njoints), 6 * P.joint)
    if reference == LOCAL:
        v = at_point(rot6(R_joint, v), x_joint)
    b = P.link
    while b > 0:
        L = link(index, b)
        for iv in range(L.iv, L.iv + L.ndof):
            D, S = dof(index, n.dof0 + iv), load6(J, 6 * iv)
            if rate == 0:
                add_column(index, out, to, D, O.kept, of_frame(S, R, x, reference))
            else:
                dS = load6(dJ, 6 * iv)
                add_column(index, out, to, D, O.kept, of_frame_rate(S, dS, v, R, x, reference))
                if n.loops == 1:
                    add_column(index, out, to, D, O.kept_rate, of_frame(S, R, x, reference))
        b = L.parent


@paste
def frame_jacobian(index, params, work, out: Out, q, place, reference, rate, M, to: Out):
    """Write the Jacobian of a joint or frame, 6 x nv, at q or, if q is empty, from the contents of ``pin.Data``.

    ``place`` is a joint id, or njoints plus a frame id. If q is empty, ``M`` can be the homogeneous matrix of a frame
    in the joint frame; otherwise, ``M`` is empty. If q is given, the kernel also writes the placements of the frame and
    of the joints that move the frame to ``pin.Data`` (except for LOCAL), as Pinocchio does. Return 0 or WRONG_SIZE. If
    q is empty, return 1 if G is invalid because the last pose was singular.
    """
    n = tree_header_at(index, 0)
    O = own_at(index, n.sections + 1)
    if place < 0 or place >= n.place1 - n.place0 or to.shape[0] != 6 or to.shape[1] != n.nv:
        return WRONG_SIZE
    P = place_at(index, n.place0 + place)
    clear_rows(to, n)
    if q.shape[0] > 0:
        if q.shape[0] != n.nq:
            return WRONG_SIZE
        put(out, derived_at(index, n.sections + 2).standing, 0.0)
        from_configuration(index, params, work, out, q, n, O, P, reference, place - n.njoints, to)
        return 0
    if n.loops == 1:
        # A NaN in G must reach all rows, as in a matrix product.
        for iv in range(n.nv_tree):
            add_column(index, out, to, dof(index, n.dof0 + iv), O.kept, zero6())
    from_data(index, params, out, n, O, P, reference, rate, M, to)
    return int(get(out, O.lost))
