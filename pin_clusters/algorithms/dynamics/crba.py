"""Mass matrix."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...compiler.calls import fast, of_state
from ...model import ClusterData, ClusterModel, also_pinocchios
from .._shared import check as _check
from .._shared import on_demand as _on_demand


@fast(of_state)
@also_pinocchios
@_check.documented()
def crba(
    model: ClusterModel, data: ClusterData, q: ArrayLike, convention: Any = None, *, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute the mass matrix with the cluster composite-rigid-body algorithm.

    Args:
        data: Workspace; ``data.M`` stores the result as well.

    Returns:
        Symmetric mass matrix of the independent joints, shape (nv, nv), [kg m^2], [kg m] or [kg], in ``out`` or a new
        array. The kinetic energy of the bodies and rotors is ``v @ M @ v / 2``.

    References:
        Chignoli et al., arXiv 2311.13732; Featherstone 2008 (CRBA); docs/algorithms.md, (C1) to (C3).

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.crba(model, model.createData(), pc.neutral(model)).round(5)  # [kg m^2]
        array([[0.00313]])
    """
    _check.convention(convention)
    q_given, q = q, _check.pose(model, data, q)
    result = _check.result(out, (model.nv, model.nv), q_given)
    data._keep("crba", q)
    _check.run(model, data, "crba", "M", q, result)
    data._owe("crba")
    return result


_on_demand.register(crba, 1, "M")
