"""Placement and motion axes of a link, and functions that shift motions between points; see ``tree_layout``."""

from ...compiler.numba_jit.jit import inline
from ..bodies.placements import moved, turned, unit_rotation
from ..numbers.memory import get
from ..numbers.spatial import angular, cross, join, linear, rot, zero3, zero6
from ..numbers.tuples import Vec3, load3
from ..tables import layout as at
from ..tables import link_workspace as of_link
from ..tables.layout import BODY_PARAMS
from ..tables.tree_layout import LINK_ROTATION, LINK_WORK


@inline
def start_links(work):
    of_link.set_rotation(work, 0, unit_rotation())
    of_link.set_position(work, 0, zero3())
    of_link.set_turn(work, 0, unit_rotation())
    of_link.set_offset(work, 0, zero3())
    of_link.set_velocity(work, 0, zero6())
    of_link.set_acceleration(work, 0, zero6())


@inline
def put_in_place(params, work, b, L, R, d):
    of_link.set_rotation(work, b, R)
    of_link.set_position(work, b, of_link.position(work, L.parent) + d)
    of_link.set_turn(work, b, turned(R, L.align, params, b * BODY_PARAMS + at.ALIGN))


@inline
def place_link(params, work, q, b, L):
    k, R_up = b * BODY_PARAMS, of_link.rotation(work, L.parent)
    R, d = moved(
        params, q, L, k, turned(R_up, L.shuffle, params, k + at.ROTATION), rot(R_up, load3(params, k + at.POSITION))
    )
    put_in_place(params, work, b, L, R, d)
    if L.first == 1:
        of_link.set_offset(work, b, d)
    else:
        of_link.set_offset(work, b, of_link.offset(work, L.parent) + d)
    return d


@inline
def direction(params, work, D):
    """Return the motion S per unit of tree velocity D, in world axes at the link's origin."""
    k = D.link * LINK_WORK + LINK_ROTATION + D.axis
    e = Vec3(get(work, k), get(work, k + 3), get(work, k + 6))
    if D.turns == 0:
        return join(e, zero3())
    if D.screw >= 0:
        return join(e * get(params, D.screw), e)
    return join(zero3(), e)


@inline
def carried(m, d):
    """Shift a motion by the vector d to another point, in the same axes."""
    return join(linear(m) + cross(angular(m), d), angular(m))


@inline
def at_point(m, x):
    """Shift a motion m from the point x to the world origin, in world axes."""
    return join(linear(m) + cross(x, angular(m)), angular(m))
