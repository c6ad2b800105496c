"""Computes offsets in request tables and in the panel, the workspace for force columns; see ``columns_layout``."""

from ...compiler.numba_jit.jit import inline
from ..tables.columns_layout import Asked, Column, Reach, Touch
from ..tables.layout import Entry
from ..tables.views import view_of

asked_header = view_of(Asked)
touch = view_of(Touch)
column_row = view_of(Column)
entry = view_of(Entry)
_reach = view_of(Reach)


@inline
def reached(asked, n, A, c):
    return _reach(asked, A.reach0 + c - n.cluster0)


@inline
def at_body(A, b, j):
    return 6 * (b * A.width + j)


@inline
def at_w(n, A, i, j):
    """Return the offset of velocity i's entry in column j: a torque, later an element of W, later an acceleration."""
    return (6 * (n.bodies + 1) + i) * A.width + j
