"""Regressors: torques, energies and the centre of mass are linear in the inertial parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from .._calls import fast
from ..model import ClusterData, ClusterModel, ParameterColumns, parameter_columns
from . import _bridge, _check

_COMMON = """
References:
    Pinocchio's ``{name}``, whose columns come first; rotors without a body: the notation page of the documentation.
"""
_documented = _check.documented(_COMMON)


@fast
@_documented
def computeJointTorqueRegressor(model: ClusterModel, data: ClusterData, q: Any, v: Any, a: Any) -> np.ndarray:
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
    q, v = _check.state(model, data, q, v)
    a = _check.velocity(model, "a", a)
    _bridge.bring(model, data, q, v)
    if data._torque_regressor is None:
        data._make_regressor()
    assert data._torque_regressor is not None
    result = np.empty(data._torque_regressor.shape)
    data._run("regressor", "regressor", q, v, a, result)
    return result


@_check.documented(_COMMON, solves=False)
def computeStaticRegressor(model: ClusterModel, data: ClusterData, q: Any) -> np.ndarray:
    """Compute how the centre of mass depends on masses and first moments.

    Args:
        data: Its workspace; ``data.staticRegressor`` keeps the result.

    Returns:
        Shape (3, columns), a fresh array: four columns per body (mass, first moment), then those of
        ``computeJointTorqueRegressor`` for rotors and armature, which are zero, and for rods. Times these parameters it
        is the centre of mass; like Pinocchio's it is divided by the mass of the robot.
    """
    q = _check.pose(model, data, q)
    tree, columns = model.own_tree, parameter_columns(model)
    pin.forwardKinematics(tree, data.tree, q)
    result = np.zeros((3, columns.width - 6 * columns.bodies))
    mass = sum(model.inertia_tree.inertias[j].mass for j in range(1, tree.njoints))
    for rod in columns.rods:
        mass += rod.mass * (1.0 - sum(j != 0 for j, _ in rod.ends) / 6.0)
    for j in range(1, tree.njoints):
        result[:, 4 * j - 4] = data.tree.oMi[j].translation
        result[:, 4 * j - 3 : 4 * j] = data.tree.oMi[j].rotation
    for i, (x, y) in _ends(data, columns):
        result[:, i - 6 * columns.bodies] = (x + y) / 2.0
    with np.errstate(all="ignore"):  # the centre of what has no mass
        result /= mass
    data.staticRegressor = result.copy()
    return result


@_documented
def computeKineticEnergyRegressor(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> np.ndarray:
    """Compute how the kinetic energy depends on the parameters.

    Args:
        data: Its workspace; ``data.kineticEnergyRegressor`` keeps the result.

    Returns:
        Shape (parameters,), in the order of ``computeJointTorqueRegressor``; a fresh array.
    """
    q, v = _check.state(model, data, q, v)
    columns, rates = parameter_columns(model), _bridge.matrix(model, data, q) @ v
    found = [_of_bodies(model, pin.computeKineticEnergyRegressor(model.own_tree, data.tree, q, rates))]
    for r in columns.rotors:
        speed = sum(ratio * rates[iv] for iv, ratio in r.drivers)
        turn = r.axis @ data.tree.v[r.carrier_id].angular if r.carrier_id else 0.0
        found.append(np.array([speed * (turn + speed / 2.0)]))
    found.append(rates[list(columns.armatures)] ** 2 / 2.0)
    for rod in columns.rods:
        x, y = (_velocity(data, j, p) for j, p in rod.ends)
        found.append(np.array([(x @ x + x @ y + y @ y) / 6.0]))
    result = np.concatenate(found)
    data.kineticEnergyRegressor = result.copy()
    return result


@_check.documented(_COMMON, solves=False)
def computePotentialEnergyRegressor(model: ClusterModel, data: ClusterData, q: Any) -> np.ndarray:
    """Compute how the potential energy of gravity depends on the parameters.

    Args:
        data: Its workspace; ``data.potentialEnergyRegressor`` keeps the result.

    Returns:
        Shape (parameters,), in the order of ``computeJointTorqueRegressor``; a fresh array.
    """
    q = _check.pose(model, data, q)
    columns = parameter_columns(model)
    result = np.zeros(columns.width)
    result[: 10 * columns.bodies] = _of_bodies(model, pin.computePotentialEnergyRegressor(model.own_tree, data.tree, q))
    for i, (x, y) in _ends(data, columns):
        result[i] = -model.own_tree.gravity.linear @ (x + y) / 2.0
    data.potentialEnergyRegressor = result.copy()
    return result


def _of_bodies(model: ClusterModel, found: Any) -> np.ndarray:
    """Ten numbers per body."""
    return np.asarray(found, dtype=float).reshape(10 * (model.njoints - 1))


def _ends(data: ClusterData, columns: ParameterColumns) -> Any:
    """Column and ends in the world of each rod."""
    for i, rod in enumerate(columns.rods):
        yield columns.rods_from + i, [data.tree.oMi[j].act(np.asarray(p)) for j, p in rod.ends]


def _velocity(data: ClusterData, j: int, point: np.ndarray) -> np.ndarray:
    """Velocity of a point of a body, in axes of the world."""
    if not j:
        return np.zeros(3)
    v = data.tree.v[j]
    return np.asarray(data.tree.oMi[j].rotation @ (v.linear + np.cross(v.angular, point)))
