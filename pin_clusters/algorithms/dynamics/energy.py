"""Kinetic, potential and mechanical energy."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...compiler.calls import fast, of_state
from ...model import ClusterData, ClusterModel, also_pinocchios
from .._shared import check as _check


def _energies(
    model: ClusterModel, data: ClusterData, function: str, q: np.ndarray, v: np.ndarray, owes: bool
) -> tuple[float, float]:
    """Compute the kinetic and potential energy, [J]. ``owes``: whether the caller passed a new state."""
    if owes:
        data._keep(function, q, v)
    _check.run(model, data, "energy", "energy", q, v)
    if owes:
        data._owe(function)
    kinetic, potential = data._pointers["energy"].arrays[-1]
    return float(kinetic), float(potential)


def _at(model: ClusterModel, data: ClusterData, function: str, q: Any, v: Any) -> tuple[float, float]:
    last = q is None and v is None
    if last:
        q, v = _check.last_motion(model, data, 1, function)
    return _energies(model, data, function, *_check.state(model, data, q, v), not last)


@fast(of_state)
@also_pinocchios
@_check.documented()
def computeKineticEnergy(
    model: ClusterModel, data: ClusterData, q: ArrayLike | None = None, v: ArrayLike | None = None
) -> float:
    """Compute the kinetic energy, including rotors. The default state is the state of the last ``forwardKinematics``.

    Args:
        data: Workspace; ``data.kinetic_energy`` stores the result as well.

    Returns:
        Kinetic energy, [J].
    """
    data.kinetic_energy, _ = _at(model, data, "computeKineticEnergy", q, v)
    return data.kinetic_energy


@fast(of_state)
@also_pinocchios
@_check.documented()
def computePotentialEnergy(model: ClusterModel, data: ClusterData, q: ArrayLike | None = None) -> float:
    """Compute the gravitational potential energy, which is zero if the centre of mass is at the world origin.

    The default q is the configuration of the last kinematics call.

    Args:
        data: Workspace; ``data.potential_energy`` stores the result as well.

    Returns:
        Potential energy, [J].
    """
    _check.model_data(model, data)
    has_q = q is not None
    q = _check.pose(model, data, q if has_q else data._last_pose("computePotentialEnergy"))
    _, data.potential_energy = _energies(model, data, "computePotentialEnergy", q, data._zeros, has_q)
    return data.potential_energy


@fast(of_state)
@also_pinocchios
@_check.documented()
def computeMechanicalEnergy(
    model: ClusterModel, data: ClusterData, q: ArrayLike | None = None, v: ArrayLike | None = None
) -> float:
    """Compute kinetic plus potential energy. The default state is the state of the last ``forwardKinematics``.

    Args:
        data: Workspace; ``data.mechanical_energy``, ``kinetic_energy`` and ``potential_energy`` store the results.

    Returns:
        Mechanical energy, [J].
    """
    data.kinetic_energy, data.potential_energy = _at(model, data, "computeMechanicalEnergy", q, v)
    data.mechanical_energy = data.kinetic_energy + data.potential_energy
    return data.mechanical_energy
