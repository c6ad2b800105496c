"""Forward dynamics."""

from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from ...compiler.calls import fast, of_state
from ...model import ClusterData, ClusterModel, also_pinocchios
from .._shared import check as _check


@fast(of_state)
@also_pinocchios
@_check.documented(_check.SINGULAR)
def aba(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    fext: Any = None,
    convention: Any = None,
    *,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Compute the accelerations due to joint torques with the cluster articulated-body algorithm.

    Args:
        data: Workspace; ``data.ddq`` stores the result as well.

    Returns:
        Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2], in ``out`` or a new array. NaN and inf propagate.

    References:
        Chignoli et al., arXiv 2311.13732 (C-ABA); docs/algorithms.md, (A1) to (A10), and (S1) to (S5) for rotors.

    Example:
        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> model = pc.ClusterModel(pin.buildSampleModelManipulator())
        >>> data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
        >>> np.allclose(pc.aba(model, data, q, v, pc.rnea(model, data, q, v, 2 * v)), 2 * v)
        True
    """
    if isinstance(fext, pin.Convention):  # Pinocchio's overload without forces takes the convention in place of fext
        fext = None
    _check.convention(convention)
    arguments = (q, v, tau)
    q = _check.pose(model, data, q)
    v, tau = _check.velocity(model, "v", v), _check.velocity(model, "tau", tau)
    result = _check.result(out, (model.nv,), *arguments)
    # computeABADerivatives and computeMinverse use this state if they are called without a state.
    data._derivatives.after_aba[:] = np.concatenate([q, v, tau])
    data._keep("aba", q, v)
    _check.run(model, data, "aba", _check.tables(model, data, "ddq", fext), q, v, tau, result)
    data._owe("aba")
    if fext is not None:
        data.ddq[:] = result
    return result
