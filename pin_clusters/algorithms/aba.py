"""Forward dynamics."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..model import ClusterData, ClusterModel
from . import _check

_empty = np.empty


@_check.documented()
def aba(model: ClusterModel, data: ClusterData, q: Any, v: Any, tau: Any, fext: Any = None) -> np.ndarray:
    """Compute the accelerations under joint torques with the cluster articulated-body algorithm.

    Args:
        data: Its workspace; ``data.ddq`` keeps the result.
        q: Configuration of the whole tree, shape (nq,), on the couplings (not checked unless ``data.check``).

    Returns:
        Independent acceleration, shape (nv,), [rad/s^2] or [m/s^2]; a fresh array. NaN and inf propagate.

    Raises:
        SingularClusterError: A joint moves no inertia, or loops cannot be solved for their dependent joints.

    References:
        Chignoli et al., arXiv 2311.13732 (C-ABA); spin elements: the notation page of the documentation.

    Example:
        >>> import numpy as np, pinocchio as pin, pin_clusters as pc
        >>> model = pc.ClusterModel(pin.buildSampleModelManipulator())
        >>> data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
        >>> np.allclose(pc.aba(model, data, q, v, pc.rnea(model, data, q, v, 2 * v)), 2 * v)
        True
    """
    if fext is None:
        try:
            if data._unchecked is model:
                out = _empty(model.nv)
                if data._fast_aba(data._at_ddq, q, v, tau, out) == 0:
                    return out
        except _check.NOT_FAST:
            pass  # something to convert, to compile or to complain about
    q = _check.pose(model, data, q)
    v, tau = _check.velocity(model, "v", v), _check.velocity(model, "tau", tau)
    out, pointer = np.empty(model.nv), data._pointers["ddq"]
    if fext is not None:
        _check.put_forces(model, data, fext)
        pointer = data._pointers["forced"]
    _check.status(model, data._aba.call(pointer, q, v, tau, out), q)
    data.ddq[:] = out
    return out
