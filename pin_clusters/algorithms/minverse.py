"""The inverse of the mass matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model import ClusterData, ClusterModel
from . import _check

_empty = np.empty


@_check.documented()
def computeMinverse(model: ClusterModel, data: ClusterData, q: Any) -> np.ndarray:
    """Compute the inverse of the mass matrix in O(n^2), from articulated inertias and without the mass matrix.

    Args:
        data: Its workspace; ``data.Minv`` keeps the result.
        q: Configuration of the whole tree, shape (nq,), on the couplings (not checked unless ``data.check``).

    Returns:
        Inverse mass matrix of the independent joints, shape (nv, nv), symmetric; a fresh array.

    Raises:
        SingularClusterError: A joint moves no inertia, or loops cannot be solved for their dependent joints.

    References:
        Chignoli et al., arXiv 2311.13732 (C-ABA), applied to unit torques.
    """
    try:
        if data._unchecked is model:
            out = _empty(data._square)
            if data._fast_minverse(data._at_Minv, q, out) == 0:
                return out
    except _check.NOT_FAST:
        pass  # something to convert, to compile or to complain about
    q = _check.pose(model, data, q)
    out = np.empty(data._square)
    _check.status(model, data._minverse.call(data._pointers["Minv"], q, out), q)
    return out
