"""Configurations of a cluster model: the manifold of q on which the couplings hold.

``q`` is always the whole tree's, so that it can go to any Pinocchio function, to a viewer, or to a collision checker.
"""

from __future__ import annotations

from .branches import branches
from .manifold import ResidualRow, check, residual, residual_rows
from .motions import difference, integrate, interpolate
from .points import neutral, project, randomConfiguration
from .tangents import dDifference, dIntegrate

__all__ = [
    "ResidualRow",
    "branches",
    "check",
    "dDifference",
    "dIntegrate",
    "difference",
    "integrate",
    "interpolate",
    "neutral",
    "project",
    "randomConfiguration",
    "residual",
    "residual_rows",
]
