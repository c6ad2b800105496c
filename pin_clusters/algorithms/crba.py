"""The mass matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model import ClusterData, ClusterModel
from . import _check

_empty = np.empty


@_check.documented()
def crba(model: ClusterModel, data: ClusterData, q: Any) -> np.ndarray:
    """Compute the mass matrix with the cluster composite-rigid-body algorithm.

    Args:
        data: Its workspace; ``data.M`` keeps the result.
        q: Configuration of the whole tree, shape (nq,), on the couplings (not checked unless ``data.check``).

    Returns:
        Mass matrix of the independent joints, shape (nv, nv), symmetric, [kg m^2], [kg m] or [kg]; a fresh array.
        Kinetic energy is ``v @ M @ v / 2``, rotors included.

    References:
        Chignoli et al., arXiv 2311.13732; Featherstone 2008 (CRBA).
    """
    try:
        if data._unchecked is model:
            out = _empty(data._square)
            if data._fast_crba(data._at_M, q, out) == 0:
                data._M = None  # data.M is made from the kernel's own matrix, when it is asked for
                return out
    except _check.NOT_FAST:
        pass  # something to convert, to compile or to complain about
    q = _check.pose(model, data, q)
    out = np.empty(data._square)
    _check.status(model, data._crba.call(data._pointers["M"], q, out), q)
    data._M = None
    return out
