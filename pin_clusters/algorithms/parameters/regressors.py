"""Regressors: torques, energies and the centre of mass are linear in the inertial parameters."""

import numpy as np
from numpy.typing import ArrayLike

from ...compiler.calls import fast, of_state
from ...model import ClusterData, ClusterModel, also_pinocchios
from .._shared import bridge as _bridge
from .._shared import check as _check

_COMMON = """
References:
    Pinocchio's ``{name}``, whose columns come first; rotors without a body: Algorithms, (Y1) to (Y3).
"""
_documented = _check.documented(_COMMON)


@fast(of_state)
@also_pinocchios
@_documented
def computeJointTorqueRegressor(
    model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike, a: ArrayLike
) -> np.ndarray:
    """Compute Y: ``pc.rnea(model, data, q, v, a) = Y @ parameters``, of torques of the independent joints.

    Columns: ten per body of the tree (joints 1, 2, ...: mass, first moment, inertia about the origin of the joint: xx
    xy yy xz yz zz, as Pinocchio has them), one per ``Rotor`` (its axial inertia), one per armature that is not zero,
    one per rod with mass. ``pc.parameters`` has their values and labels.

    Args:
        data: Its workspace; ``data.jointTorqueRegressor`` keeps the result.

    Returns:
        Shape (nv, parameters), a fresh array.

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
    """Compute how the centre of mass depends on masses and first moments.

    Args:
        data: Its workspace; ``data.staticRegressor`` keeps the result.

    Returns:
        Shape (3, columns), a fresh array: four columns per body (mass, first moment), then those of
        ``computeJointTorqueRegressor`` for rotors and armature, which are zero, and for rods. Times these parameters it
        is the centre of mass; like Pinocchio's it is divided by the mass of the robot.
    """
    return _computed(data, _check.pose(model, data, q), None, "static", "computeStaticRegressor")


@fast(of_state)
@also_pinocchios
@_documented
def computeKineticEnergyRegressor(model: ClusterModel, data: ClusterData, q: ArrayLike, v: ArrayLike) -> np.ndarray:
    """Compute how the kinetic energy depends on the parameters.

    Args:
        data: Its workspace; ``data.kineticEnergyRegressor`` keeps the result.

    Returns:
        Shape (parameters,), in the order of ``computeJointTorqueRegressor``; a fresh array.
    """
    q, v = _check.state(model, data, q, v)
    _bridge.bring(model, data, q, v)
    return _computed(data, q, v, "kinetic", "computeKineticEnergyRegressor")


@fast(of_state)
@also_pinocchios
@_check.documented(_COMMON, solves=False)
def computePotentialEnergyRegressor(model: ClusterModel, data: ClusterData, q: ArrayLike) -> np.ndarray:
    """Compute how the potential energy of gravity depends on the parameters.

    Args:
        data: Its workspace; ``data.potentialEnergyRegressor`` keeps the result.

    Returns:
        Shape (parameters,), in the order of ``computeJointTorqueRegressor``; a fresh array.
    """
    return _computed(data, _check.pose(model, data, q), None, "potential", "computePotentialEnergyRegressor")


def _computed(data: ClusterData, q: np.ndarray, v: np.ndarray | None, which: str, function: str) -> np.ndarray:
    """Run the kernel for one of its results; G is brought to the state, if there is a velocity."""
    mine, nothing = data._regressor_memory(), data._zeros[:0]
    kept: np.ndarray = getattr(mine, which)
    asked = [kept.reshape(-1) if name == which else nothing for name in ("static", "kinetic", "potential")]
    data._keep(function, *((q,) if v is None else (q, v)))
    data._run("energy_regressors", "regressor", q, nothing if v is None else v, *asked)
    data._owe(function)
    return kept.copy()
