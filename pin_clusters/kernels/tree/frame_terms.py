"""Placements, Jacobians, velocities and accelerations of several frames, and the centre of mass, in one call.

All results are computed from the link motions that ``tree`` has stored.
"""

from ...compiler.numba_jit.jit import inline, paste
from ..bodies.placements import unit_rotation
from ..directions import Out
from ..numbers.memory import borrowed, get, increase, put, put_copy, put_zeros
from ..numbers.spatial import angular, cross, linear, matmul3, rot, zero3
from ..numbers.tuples import Vec3, load3, load9
from ..tables import link_workspace as of_link
from ..tables.layout import LOCAL, OK, WORLD, WRONG_SIZE
from ..tables.tree_layout import FRAME_NUMBERS
from ..tables.views import dof, entry, link, own_at, place_at, sections_at, tree_header_at
from .link_motions import direction
from .place_derivatives import seen


@inline
def put_placement(to: Out, at, R, x):
    for r in range(3):
        put(to, at + 4 * r, Vec3(R[3 * r], R[3 * r + 1], R[3 * r + 2]))
        put(to, at + 4 * r + 3, x[r])
    put_zeros(to, at + 12, 3)
    put(to, at + 15, 1.0)


@inline
def put_columns(index, params, work, out, n, O, b, R, y, to: Out, at):
    while b > 0:
        L, x = link(index, b), of_link.position(work, b)
        for iv in range(L.iv, L.iv + L.ndof):
            D = dof(index, n.dof0 + iv)
            S = seen(direction(params, work, D), x, R, y)
            for t in range(D.term0, D.term1):
                T = entry(index, t)
                g = get(out, O.G + T.at)
                for r in range(6):
                    increase(to, at + r * n.nv + T.k, g * S[r])
        b = L.parent


@paste
def frame_terms(index, params, work, out, places, reference, to: Out):
    """Write the terms below for several joints or frames; call ``tree`` with accelerations first.

    An entry of ``places`` is a joint id, or njoints plus a frame id. ``to`` receives the Jacobians (6 x nv each), the
    Jacobian of the centre of mass (3 x nv), ``FRAME_NUMBERS`` numbers per frame, then position, velocity and
    acceleration of the centre of mass (3 each).
    """
    n = tree_header_at(index, 0)
    A, O, count = sections_at(index, n.sections), own_at(index, n.sections + 1), places.shape[0]
    if to.shape[0] != (6 * n.nv + FRAME_NUMBERS) * count + 3 * n.nv + 9:
        return WRONG_SIZE
    to = borrowed(to)
    put_zeros(to, 0, 6 * n.nv * count)
    offset = 6 * n.nv * count
    put_copy(to, offset, out, O.Jcom, 3 * n.nv)
    offset += 3 * n.nv
    for i in range(count):
        if places[i] < 0 or places[i] >= n.place1 - n.place0:
            return WRONG_SIZE
        P = place_at(index, n.place0 + places[i])
        b, R_link, x_link = P.link, of_link.rotation(work, P.link), of_link.position(work, P.link)
        R, y = matmul3(R_link, load9(params, P.at)), x_link + rot(R_link, load3(params, P.at + 9))
        put_placement(to, offset, R, y)
        if reference != LOCAL:
            R = unit_rotation()
            if reference == WORLD:
                y = zero3()
        v, a = seen(of_link.velocity(work, b), x_link, R, y), seen(of_link.acceleration(work, b), x_link, R, y)
        put(to, offset + 16, v)
        put(to, offset + 22, a)
        put(to, offset + 28, a)
        put(to, offset + 28, linear(a) + cross(angular(v), linear(v)))
        offset += FRAME_NUMBERS
        put_columns(index, params, work, out, n, O, b, R, y, to, 6 * n.nv * i)
    put_copy(to, offset, out, A.com, 3)
    put_copy(to, offset + 3, out, A.vcom, 3)
    put_copy(to, offset + 6, out, A.acom, 3)
    return OK
