"""Everything that a model-based controller asks for, at once."""

from __future__ import annotations

from typing import Any

from ..model import ClusterData, ClusterModel
from . import _check
from .centroidal import ccrba, centerOfMass, jacobianCenterOfMass
from .crba import crba
from .energy import computeMechanicalEnergy
from .jacobians import computeJointJacobians
from .kinematics import forwardKinematics
from .rnea import computeGeneralizedGravity, nonLinearEffects


@_check.documented()
def computeAllTerms(model: ClusterModel, data: ClusterData, q: Any, v: Any) -> None:
    """Compute the kinematics, M, the nonlinear effects, gravity, Jacobians, momentum and energies.

    Args:
        data: Its workspace; fills ``oMi``, ``v``, ``M``, ``nle``, ``g``, ``J``, ``Jcom``, ``com``, ``vcom``, ``mass``,
            ``Ag``, ``hg``, ``kinetic_energy``, ``potential_energy`` and ``mechanical_energy``.

    References:
        Pinocchio's ``computeAllTerms``; the functions that it calls name their own.
    """
    q, v = _check.state(model, data, q, v)
    crba(model, data, q)
    nonLinearEffects(model, data, q, v)
    computeGeneralizedGravity(model, data, q)
    computeMechanicalEnergy(model, data, q, v)
    computeJointJacobians(model, data, q)
    ccrba(model, data, q, v)
    jacobianCenterOfMass(model, data, q)
    centerOfMass(model, data, q, v)
    forwardKinematics(model, data, q, v)
