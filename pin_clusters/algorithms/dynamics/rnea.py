"""Inverse dynamics, and its special cases: nonlinear effects, gravity and static torques."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...compiler.calls import fast, of_state
from ...model import ClusterData, ClusterModel, also_pinocchios
from .._shared import check as _check
from .._shared import on_demand as _on_demand

_documented = _check.documented(
    """
    Returns:
        Torque of the independent joints, shape (nv,), [N m] or [N]; ``out`` or a new array.
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
        data: Workspace; ``data.tau`` stores the result as well.
        q: Configuration of the spanning tree, shape (nq,). It must satisfy the constraints (checked if ``data.check``).
            If an unchecked q violates the constraints, body velocities and body poses are inconsistent.

    Returns:
        Torque of the independent joints, shape (nv,), [N m] or [N], in ``out`` or a new array. NaN and inf propagate.

    References:
        Chignoli et al., arXiv 2311.13732 (C-RNEA); docs/algorithms.md, (A1) to (A4), and (S1), (S2), (S5) for rotors.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> data, q, v = model.createData(), pc.neutral(model), np.ones(model.nv)
        >>> pc.rnea(model, data, q, v, 2 * v).round(4)
        array([0.1139])
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
    _check.model_data(model, data)
    arguments = (q, v, a)
    v, a = _check.velocity(model, "v", v), _check.velocity(model, "a", a)
    q = _check.configuration(model, data, q)
    result = _check.result(out, (model.nv,), *arguments)
    outputs = "rnea with forces" if function == "rnea" and fext is not None else function
    data._keep(outputs, q, v, a)
    _check.run(model, data, "rnea", _check.tables(model, data, name, fext), q, v, a, result)
    data._owe(outputs)
    if fext is not None:
        getattr(data, name)[:] = result
    return result


@fast(of_state)
@also_pinocchios
@_documented
def nonLinearEffects(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike, *, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute the Coriolis, centrifugal, gyroscopic and gravity torques: ``rnea`` with a = 0.

    Args:
        data: Workspace; ``data.nle`` stores the result as well.
    """
    return _run(model, data, q, v, _rest(model), None, "nonLinearEffects", "nle", out)


nle = nonLinearEffects
"""Pinocchio's short name for ``nonLinearEffects``."""


@fast(of_state)
@also_pinocchios
@_documented
def computeGeneralizedGravity(
    model: ClusterModel, data: ClusterData, q: ArrayLike, *, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute the gravity torques: ``rnea`` with v = 0 and a = 0.

    Args:
        data: Workspace; ``data.g`` stores the result as well.
    """
    return _run(model, data, q, _rest(model), _rest(model), None, "computeGeneralizedGravity", "g", out)


@fast(of_state)
@also_pinocchios
@_documented
def computeStaticTorque(
    model: ClusterModel, data: ClusterData, q: ArrayLike, fext: Any, *, out: np.ndarray | None = None
) -> np.ndarray:
    """Compute the torques that keep the robot at rest under gravity and external forces.

    Args:
        data: Workspace; ``data.tau`` stores the result as well.
    """
    return _run(model, data, q, _rest(model), _rest(model), fext, "computeStaticTorque", "tau", out)


def _rest(model: Any) -> np.ndarray:
    # If the argument is not a model, it has no nv; a later check raises the error.
    return np.zeros(getattr(model, "nv", 0))


_on_demand.register(computeGeneralizedGravity, 1, "g")
_on_demand.register(nonLinearEffects, 2, "nle")
