"""Kinetic, potential and mechanical energy."""

from typing import Any

import numpy as np

from ..._engine.calls import fast
from ...model import ClusterData, ClusterModel
from .._shared import check as _check


def _energies(model: ClusterModel, data: ClusterData, q: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """Return kinetic and potential energy, [J]."""
    _check.run(model, data, "energy", "energy", q, v)
    kinetic, potential = data._pointers["energy"].arrays[-1]
    return float(kinetic), float(potential)


@fast
@_check.documented()
def computeKineticEnergy(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> float:
    """Compute the kinetic energy, the rotors' included.

    Args:
        data: Its workspace; ``data.kinetic_energy`` keeps the result.

    Returns:
        Kinetic energy, [J].
    """
    data.kinetic_energy, _ = _energies(model, data, *_check.state(model, data, q, v))
    return data.kinetic_energy


@fast
@_check.documented()
def computePotentialEnergy(model: ClusterModel, data: ClusterData, q: Any) -> float:
    """Compute the potential energy of gravity, zero at the universe's origin.

    Args:
        data: Its workspace; ``data.potential_energy`` keeps the result.

    Returns:
        Potential energy, [J].
    """
    _, data.potential_energy = _energies(model, data, _check.pose(model, data, q), data._zeros)
    return data.potential_energy


@fast
@_check.documented()
def computeMechanicalEnergy(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> float:
    """Compute the sum of kinetic and potential energy.

    Args:
        data: Its workspace; ``data.mechanical_energy``, ``kinetic_energy`` and ``potential_energy`` keep the results.

    Returns:
        Mechanical energy, [J].
    """
    data.kinetic_energy, data.potential_energy = _energies(model, data, *_check.state(model, data, q, v))
    data.mechanical_energy = data.kinetic_energy + data.potential_energy
    return data.mechanical_energy
