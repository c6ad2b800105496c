"""Where things are in the panel, and rows of what is asked: see ``columns_layout``."""

from __future__ import annotations

from ..compiling.jit import inline
from ..tables.columns_layout import AT_WORK, Asked, Column, Reach, Touch
from ..tables.layout import Entry
from ..tables.views import view_of

asked_header = view_of(Asked)
touch = view_of(Touch)
column_row = view_of(Column)
entry = view_of(Entry)
_reach = view_of(Reach)


@inline
def reached(asked, n, A, j0, c):
    """Where the columns stand that reach a cluster, of those at work from j0 on: row, and how many.

    Nothing moves a cluster inward that no force and no torque reaches, and nothing is done there.
    """
    row = A.reach0 + j0 // AT_WORK * (n.cluster1 - n.cluster0) + c - n.cluster0
    return row, _reach(asked, row).columns


@inline
def at_body(b, j):
    """Where in the panel six numbers of a body are; columns take turns in the room."""
    return 6 * (b * AT_WORK + j % AT_WORK)


@inline
def at_w(n, A, i, j):
    """Where what belongs to a velocity is: its torque, its entry of W, its acceleration."""
    return 6 * AT_WORK * (n.bodies + 1) + i * A.width + j
