"""Forward and inverse dynamics of many states, on SIMD packs."""

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
        Torques, shape (N, nv), [N m] or [N]; ``out`` if it was given.

    References:
        Chignoli et al., arXiv 2311.13732 (C-RNEA).
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
    """Compute the accelerations of N states under joint torques.

    Returns:
        Accelerations, shape (N, nv), [rad/s^2] or [m/s^2]; ``out`` if it was given.

    References:
        Chignoli et al., arXiv 2311.13732 (C-ABA).
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
    """Compute the Coriolis, centrifugal, gyroscopic and gravity torques of N states: ``rnea`` at a = 0.

    Returns:
        Torques, shape (N, nv), [N m] or [N]; ``out`` if it was given.
    """
    return run(single_nonLinearEffects, model, q, (("v", v),), None, threads, out, status, parameters)
