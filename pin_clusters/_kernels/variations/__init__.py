"""Variations of the motion and of the forces of clusters, for derivatives of their dynamics: see docs/algorithms.md."""

from __future__ import annotations

from .._jit import inline
from ..variations_layout import RECORD


@inline
def record(C, b, k):
    """Where in ``rates`` the record of body b and column k of its cluster is."""
    return C.at_rates + ((b - C.first) * C.nk + k) * RECORD


@inline
def sums(C, k):
    """Where the record of what the output body of a cluster takes over is, for column k."""
    return record(C, C.last, k)
