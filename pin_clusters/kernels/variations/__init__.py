"""Derivatives of the motion and forces of clusters with respect to independent coordinates and velocities.

A "variation" is such a derivative. Equation numbers refer to docs/algorithms.md.
"""

from ...compiler.numba_jit.jit import inline
from ..tables.variations_layout import RECORD
from ..tables.views import body


@inline
def record(C, b, k):
    """Return the offset in ``rates`` of the record that belongs to body b and column k of its cluster."""
    return C.at_rates + ((b - C.first) * C.nk + k) * RECORD


@inline
def has_hinges(index, C):
    """Return whether each column of a GENERAL cluster is the axis of one independent joint; records are then short."""
    B = body(index, C.first)
    return B.at_S == B.at_K + 6 * B.which


@inline
def sums(C, k):
    """Return the offset in ``rates`` of the sums for column k, which belong to the cluster's output body."""
    return record(C, C.last, k)
