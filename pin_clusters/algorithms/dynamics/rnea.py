"""Inverse dynamics, and what is inverse dynamics with something set to zero."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...compiler.calls import fast, of_state
from ...model import ClusterData, ClusterModel, also_pinocchios
from .._shared import check as _check
from .._shared import paying as _paying

_documented = _check.documented(
    """
    Returns:
        Torque, shape (nv,), [N m] or [N]; ``out``, or a fresh array.
    """
)


@fast(of_state)
@also_pinocchios
@_documented
def rnea(
    model: ClusterModel,
    data: ClusterData,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    fext: Any = None,
    *,
    out: np.ndarray | None = None,
) -> np.ndarray:
    """Compute the joint torques of a motion with the cluster recursive Newton-Euler algorithm.

    Args:
        data: Its workspace; ``data.tau`` keeps the result.
        q: Configuration of the whole tree, shape (nq,), on the couplings (not checked unless ``data.check``; off them
            the bodies are placed where q says, and move as G says).

    Returns:
        Torque of the independent joints, shape (nv,), [N m] or [N]; ``out``, or a fresh array. NaN and inf propagate.

    References:
        Chignoli et al., arXiv 2311.13732 (C-RNEA); spin elements: the documentation, Algorithms, (S1) to (S4).
    """
    return _run(model, data, q, v, a, fext, "rnea", "tau", out)


def _run(
    model: ClusterModel,
    data: ClusterData,
    q: Any,
    v: Any,
    a: Any,
    fext: Any,
    function: str,
    name: str,
    out: np.ndarray | None,
) -> np.ndarray:
    """Check all arguments, and call the kernel; the field ``name`` of data receives the result as well."""
    _check.model_data(model, data)
    given = (q, v, a)
    v, a = _check.velocity(model, "v", v), _check.velocity(model, "a", a)
    q = _check.configuration(model, data, q)
    result = _check.result(out, (model.nv,), *given)
    leaves = "rnea with forces" if function == "rnea" and fext is not None else function
    data._keep(leaves, q, v, a)
    _check.run(model, data, "rnea", _check.tables(model, data, name, fext), q, v, a, result)
    data._owe(leaves)
    if fext is not None:
        getattr(data, name)[:] = result
    return result


@fast(of_state)
@also_pinocchios
@_documented
def nonLinearEffects(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute the Coriolis, centrifugal, gyroscopic and gravity torques: ``rnea`` at a = 0.

    Args:
        data: Its workspace; ``data.nle`` keeps the result.
    """
    return _run(model, data, q, v, _rest(model), None, "nonLinearEffects", "nle", out)


nle = nonLinearEffects
"""Pinocchio's short name."""


@fast(of_state)
@also_pinocchios
@_documented
def computeGeneralizedGravity(
    model: ClusterModel, data: ClusterData, q: ArrayLike, *, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute the gravity torques: ``rnea`` at rest.

    Args:
        data: Its workspace; ``data.g`` keeps the result.
    """
    return _run(model, data, q, _rest(model), _rest(model), None, "computeGeneralizedGravity", "g", out)


@fast(of_state)
@also_pinocchios
@_documented
def computeStaticTorque(
    model: ClusterModel, data: ClusterData, q: ArrayLike, fext: Any, *, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute the torques that hold the robot at rest under gravity and external forces.

    Args:
        data: Its workspace; ``data.tau`` keeps the result.
    """
    return _run(model, data, q, _rest(model), _rest(model), fext, "computeStaticTorque", "tau", out)


def _rest(model: Any) -> np.ndarray:
    """Return zeros for a velocity; a model that is none is refused later."""
    return np.zeros(getattr(model, "nv", 0))


_paying.by(computeGeneralizedGravity, 1, "g")
_paying.by(nonLinearEffects, 2, "nle")
