"""Forward and inverse dynamics for many states."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..algorithms.dynamics.aba import aba as single_aba
from ..algorithms.dynamics.rnea import nonLinearEffects as single_nonLinearEffects
from ..algorithms.dynamics.rnea import rnea as single_rnea
from ..model import ClusterModel
from ._packs import run
from ._tables import documented


@documented
def rnea(
    model: ClusterModel,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    fext: Any = None,
    *,
    parameters: Mapping[str, Any] | None = None,
    threads: int = 1,
    out: np.ndarray | None = None,
    status: np.ndarray | None = None,
) -> np.ndarray:
    """Compute the joint torques of N motions.

    Returns:
        Torques, shape (N, nv), [N m] or [N], in ``out`` or a new array.

    References:
        Chignoli et al., arXiv 2311.13732 (C-RNEA); docs/algorithms.md, (A1) to (A4).

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> q, v = np.tile(pc.neutral(model), (2, 1)), np.array([[0.0], [1.0]])
        >>> pc.batch.rnea(model, q, v, 0 * v).round(4)
        array([[0.1093],
               [0.1076]])
    """
    return run(single_rnea, model, q, (("v", v), ("a", a)), fext, threads, out, status, parameters)


@documented
def aba(
    model: ClusterModel,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    fext: Any = None,
    *,
    parameters: Mapping[str, Any] | None = None,
    threads: int = 1,
    out: np.ndarray | None = None,
    status: np.ndarray | None = None,
) -> np.ndarray:
    """Compute the accelerations caused by joint torques, for N states.

    Returns:
        Independent accelerations, shape (N, nv), [rad/s^2] or [m/s^2], in ``out`` or a new array.

    References:
        Chignoli et al., arXiv 2311.13732 (C-ABA); docs/algorithms.md, (A5) to (A10).

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> q, v = np.tile(pc.neutral(model), (2, 1)), np.array([[0.0], [1.0]])
        >>> pc.batch.aba(model, q, v, 0 * v).round(2)
        array([[-34.9 ],
               [-34.38]])
    """
    return run(single_aba, model, q, (("v", v), ("tau", tau)), fext, threads, out, status, parameters)


@documented
def nonLinearEffects(
    model: ClusterModel,
    q: ArrayLike,
    v: ArrayLike,
    *,
    parameters: Mapping[str, Any] | None = None,
    threads: int = 1,
    out: np.ndarray | None = None,
    status: np.ndarray | None = None,
) -> np.ndarray:
    """Compute the Coriolis, centrifugal, gyroscopic and gravity torques of N states: ``rnea`` with a = 0.

    Returns:
        Torques, shape (N, nv), [N m] or [N], in ``out`` or a new array.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.batch.nonLinearEffects(model, np.tile(pc.neutral(model), (2, 1)), np.array([[0.0], [1.0]])).round(4)
        array([[0.1093],
               [0.1076]])
    """
    return run(single_nonLinearEffects, model, q, (("v", v),), None, threads, out, status, parameters)
