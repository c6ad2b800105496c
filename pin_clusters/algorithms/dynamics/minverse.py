"""The inverse of the mass matrix."""

from typing import Any

import numpy as np

from ..._engine.calls import fast
from ...model import ClusterData, ClusterModel
from .._shared import check as _check


@fast
@_check.documented()
def computeMinverse(model: ClusterModel, data: ClusterData, q: Any, *, out: np.ndarray | None = None) -> np.ndarray:
    """Compute the inverse of the mass matrix in O(n^2), from articulated inertias and without the mass matrix.

    Args:
        data: Its workspace; ``data.Minv`` keeps the result.
        q: Configuration of the whole tree, shape (nq,), on the couplings (not checked unless ``data.check``).

    Returns:
        Inverse mass matrix of the independent joints, shape (nv, nv), symmetric; ``out``, or a fresh array.

    Raises:
        SingularClusterError: A joint moves no inertia, or loops cannot be solved for their dependent joints.

    References:
        Chignoli et al., arXiv 2311.13732 (C-ABA), applied to unit torques.
    """
    given, q = q, _check.pose(model, data, q)
    result = _check.result(out, (model.nv, model.nv), given)
    _check.run(model, data, "minverse", "Minv", q, result)
    return result
