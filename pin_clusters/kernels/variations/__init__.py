"""Variations of the motion and of the forces of clusters, for derivatives of their dynamics: see docs/algorithms.md."""

from ...compiler.numba_jit.jit import inline
from ..tables.variations_layout import RECORD
from ..tables.views import body


@inline
def record(C, b, k):
    """Where in ``rates`` the record of body b and column k of its cluster is."""
    return C.at_rates + ((b - C.first) * C.nk + k) * RECORD


@inline
def has_hinges(index, C):
    """Whether a GENERAL cluster has the short form: a column is the same for all bodies, S of its joint."""
    B = body(index, C.first)
    return B.at_S == B.at_K + 6 * B.which


@inline
def sums(C, k):
    """Where the record of what the output body of a cluster takes over is, for column k."""
    return record(C, C.last, k)
