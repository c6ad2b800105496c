"""Regressors: torques, energies and the centre of mass as linear functions of the inertial parameters."""

import numpy as np
from numpy.typing import ArrayLike

from ...compiler.calls import fast, of_state
from ...model import ClusterData, ClusterModel, also_pinocchios
from .._shared import bridge as _bridge
from .._shared import check as _check

_COMMON = """
References:
    Pinocchio's ``{name}``, extended by rotors, armature and rods; see docs/algorithms.md, (Y1) and (Y2).
"""
_documented = _check.documented(_COMMON)


@fast(of_state)
@also_pinocchios
@_documented
def computeJointTorqueRegressor(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> np.ndarray:
    """Compute the regressor Y of the joint torques: ``pc.rnea(model, data, q, v, a) = Y @ parameters``.

    Y has ten columns per body of the tree: mass, first moment, and inertia about the joint origin in Pinocchio's order
    xx xy yy xz yz zz. The last columns belong to the axial inertia of each ``Rotor``, each non-zero armature, and
    the mass of each rod with mass. ``pc.parameters`` returns the values and labels of all parameters.

    Args:
        data: Workspace; ``data.jointTorqueRegressor`` stores the result as well.

    Returns:
        Y, shape (nv, parameters), [N m] or [N] per unit of the parameter; a new array.

    Example:
        >>> import numpy as np, pin_clusters as pc
        >>> model = pc.load("mit_humanoid_leg")
        >>> data, q, v, a = model.createData(), pc.neutral(model), np.ones(model.nv), np.ones(model.nv)
        >>> values, labels = pc.parameters(model)
        >>> Y = pc.computeJointTorqueRegressor(model, data, q, v, a)
        >>> np.allclose(Y @ values, pc.rnea(model, data, q, v, a))
        True
    """
    q, v, a = _check.motion(model, data, q, v, a)
    _bridge.bring(model, data, q, v)
    result = np.empty(data._regressor_memory().torque.shape)
    data._keep("computeJointTorqueRegressor", q, v, a)
    data._run("regressor", "regressor", q, v, a, result)
    data._owe("computeJointTorqueRegressor")
    return result


@fast(of_state)
@also_pinocchios
@_check.documented(_COMMON, solves=False)
def computeStaticRegressor(model: ClusterModel, data: ClusterData, q: ArrayLike) -> np.ndarray:
    """Compute the regressor of the centre of mass.

    Args:
        data: Workspace; ``data.staticRegressor`` stores the result as well.

    Returns:
        Regressor, shape (3, columns); a new array. It has four columns per body (mass, first moment), followed by zero
        columns for rotors and armatures, and by the columns of rods. The product of the regressor and these parameters
        is the centre of mass, [m], because, as in Pinocchio, the regressor is divided by the mass of the robot.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.computeStaticRegressor(model, model.createData(), pc.neutral(model)).shape
        (3, 12)
    """
    return _computed(data, _check.pose(model, data, q), None, "static", "computeStaticRegressor")


@fast(of_state)
@also_pinocchios
@_documented
def computeKineticEnergyRegressor(model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Compute the regressor of the kinetic energy.

    Args:
        data: Workspace; ``data.kineticEnergyRegressor`` stores the result as well.

    Returns:
        New array, shape (parameters,), in the column order of ``computeJointTorqueRegressor``, [J] per parameter unit.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.computeKineticEnergyRegressor(model, model.createData(), pc.neutral(model), [1.0]).shape
        (30,)
    """
    q, v = _check.state(model, data, q, v)
    _bridge.bring(model, data, q, v)
    return _computed(data, q, v, "kinetic", "computeKineticEnergyRegressor")


@fast(of_state)
@also_pinocchios
@_check.documented(_COMMON, solves=False)
def computePotentialEnergyRegressor(model: ClusterModel, data: ClusterData, q: ArrayLike) -> np.ndarray:
    """Compute the regressor of the gravitational potential energy.

    Args:
        data: Workspace; ``data.potentialEnergyRegressor`` stores the result as well.

    Returns:
        New array, shape (parameters,), in the column order of ``computeJointTorqueRegressor``, [J] per parameter unit.

    Example:
        >>> import pin_clusters as pc
        >>> model = pc.load("four_bar")
        >>> pc.computePotentialEnergyRegressor(model, model.createData(), pc.neutral(model)).shape
        (30,)
    """
    return _computed(data, _check.pose(model, data, q), None, "potential", "computePotentialEnergyRegressor")


def _computed(data: ClusterData, q: np.ndarray, v: np.ndarray | None, which: str, function: str) -> np.ndarray:
    """Compute the static, kinetic or potential regressor; if v is given, ``data._coupling`` must contain G at q."""
    memory, nothing = data._regressor_memory(), data._zeros[:0]
    stored: np.ndarray = getattr(memory, which)
    outputs = [stored.reshape(-1) if name == which else nothing for name in ("static", "kinetic", "potential")]
    data._keep(function, *((q,) if v is None else (q, v)))
    data._run("energy_regressors", "regressor", q, nothing if v is None else v, *outputs)
    data._owe(function)
    return stored.copy()
