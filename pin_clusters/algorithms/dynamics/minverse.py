"""The inverse of the mass matrix."""

import numpy as np
from numpy.typing import ArrayLike

from ...compiler.calls import fast, of_state
from ...errors import NotComputedError
from ...model import ClusterData, ClusterModel, also_pinocchios
from .._shared import check as _check


@fast(of_state)
@also_pinocchios
@_check.documented()
def computeMinverse(
    model: ClusterModel, data: ClusterData, q: ArrayLike | None = None, *, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute the inverse of the mass matrix in O(n^2), from articulated inertias and without the mass matrix.

    Args:
        data: Its workspace; ``data.Minv`` keeps the result.
        q: Configuration of the whole tree, shape (nq,), on the couplings (not checked unless ``data.check``). Without
            it, that of the last ``pc.aba``.

    Returns:
        Inverse mass matrix of the independent joints, shape (nv, nv), symmetric; ``out``, or a fresh array.

    Raises:
        NotComputedError: q is not given, and ``pc.aba`` was not called before.
        SingularClusterError: A joint moves no inertia, or loops cannot be solved for their dependent joints.

    References:
        Chignoli et al., arXiv 2311.13732 (C-ABA), applied to unit torques.
    """
    if q is None:
        _check.model_data(model, data)
        q = data._derivatives.after_aba[: model.nq].copy()
        if not np.isfinite(q).all():
            raise NotComputedError(
                "computeMinverse was given no q, and data knows none: pc.aba was not called with it. Call "
                "pc.aba(model, data, q, v, tau) before, or pass q."
            )
    given, q = q, _check.pose(model, data, q)
    result = _check.result(out, (model.nv, model.nv), given)
    data._keep("computeMinverse", q)
    _check.run(model, data, "minverse", "Minv", q, result)
    data._owe("computeMinverse")
    return result
