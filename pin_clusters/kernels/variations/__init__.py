"""Derivatives of the motion and the forces of clusters along independent coordinates and velocities.

The equation numbers are those of docs/algorithms.md. A "variation" is such a derivative.
"""

from ...compiler.numba_jit.jit import inline
from ..tables.variations_layout import RECORD
from ..tables.views import body


@inline
def record(C, b, k):
    """Return the offset in ``rates`` of the record of body b and column k of its cluster."""
    return C.at_rates + ((b - C.first) * C.nk + k) * RECORD


@inline
def has_hinges(index, C):
    """Return whether all joints of a GENERAL cluster are independent and have one degree of freedom.

    Column k is then S of joint k for each body that it moves, and the cluster uses short records.
    """
    B = body(index, C.first)
    return B.at_S == B.at_K + 6 * B.which


@inline
def sums(C, k):
    """Return the offset in ``rates`` of the sums of column k that are added to the output body of a cluster."""
    return record(C, C.last, k)
