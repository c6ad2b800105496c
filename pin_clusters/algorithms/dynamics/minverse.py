"""Inverse of the mass matrix."""

import numpy as np
from numpy.typing import ArrayLike

from ...compiler.calls import fast, of_state
from ...errors import NotComputedError
from ...model import ClusterData, ClusterModel, also_pinocchios
from .._shared import check as _check


@fast(of_state)
@also_pinocchios
@_check.documented(_check.SINGULAR)
def computeMinverse(
    model: ClusterModel, data: ClusterData, q: ArrayLike | None = None, *, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute the inverse mass matrix from articulated-body inertias in O(n^2), without computing the mass matrix.

    Args:
        data: Workspace; ``data.Minv`` stores the result as well.
        q: Configuration of the spanning tree, shape (nq,). It must satisfy the constraints (checked if ``data.check``).
            The default is the configuration of the last ``pc.aba``.

    Returns:
        Symmetric inverse mass matrix, shape (nv, nv), [1/(kg m^2)], [1/(kg m)] or [1/kg], in ``out`` or a new array.

    Raises:
        NotComputedError: q is missing, and ``pc.aba`` was not called before.

    References:
        Chignoli et al., arXiv 2311.13732 (C-ABA) for unit torques; docs/algorithms.md, (A6) to (A10).

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.computeMinverse(model, model.createData(), pc.neutral(model)).round(2)  # [1/(kg m^2)]
        array([[319.34]])
    """
    if q is None:
        _check.model_data(model, data)
        q = data._derivatives.after_aba[: model.nq].copy()
        if not np.isfinite(q).all():
            raise NotComputedError(
                "computeMinverse needs q: data has no finite state of an earlier pc.aba. Call "
                "pc.aba(model, data, q, v, tau) first, or pass q."
            )
    q_given, q = q, _check.pose(model, data, q)
    result = _check.result(out, (model.nv, model.nv), q_given)
    data._keep("computeMinverse", q)
    _check.run(model, data, "minverse", "Minv", q, result)
    data._owe("computeMinverse")
    return result
