"""Where things are in the panel, and rows of what is asked: see ``columns_layout``."""

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
    """Between which columns those are that reach a cluster."""
    return _reach(asked, A.reach0 + c - n.cluster0)


@inline
def at_body(A, b, j):
    """Where in the panel six numbers of a body are."""
    return 6 * (b * A.width + j)


@inline
def at_w(n, A, i, j):
    """Where what belongs to a velocity is: its torque, its entry of W, its acceleration."""
    return (6 * (n.bodies + 1) + i) * A.width + j
