"""Everything that a model-based controller asks for, at once."""

from typing import Any

from ..._engine.kernels.tables.tree_layout import CENTERS, COLUMNS, JCOM, MAP, MOMENTUM, MOTION, SUBTREES, WHOLE
from ...model import ClusterData, ClusterModel
from .._shared import check as _check
from .._shared import tree as _tree
from .._shared.quick import quick_tree
from .crba import crba
from .energy import computeMechanicalEnergy
from .rnea import computeGeneralizedGravity, nonLinearEffects

_ALL = MOTION | COLUMNS | CENTERS | SUBTREES | MOMENTUM | MAP | JCOM | WHOLE


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
    if not quick_tree(model, data, _ALL, q, v, None):
        _tree.compute(model, data, _ALL, q, v)
