"""The cluster algorithms as the paper writes them: dense NumPy, one block row per body, nothing optimised.

Every rotor is a body here, the matrices of a cluster of n_b bodies have 6 n_b rows, and only joint placements, motion
subspaces and inertias come from Pinocchio. G(q) and g of closed loops come from a null space; rods that have mass are
not known here. Read these to understand the algorithms, and use them to check the compiled ones, with which they share
no code. Vectors and matrices are in body coordinates, [linear; angular].

Derivatives are no cluster algorithms here: they are Pinocchio's on the expanded tree, with G and how it changes with q,
rods that have mass included.

References:
    Chignoli et al., arXiv 2311.13732.
"""

from __future__ import annotations

from ._coupling_rates import coupling_derivatives, coupling_jacobian
from .contacts import constraintDynamics, contact_rows, impulseDynamics
from .derivatives import aba_derivatives, centroidal_derivatives, coriolis_matrix, frame_hessian, rnea_derivatives
from .energy import computeKineticEnergy, computePotentialEnergy
from .forward import aba, computeMinverse
from .hybrid import hybrid_dynamics
from .inverse import computeGeneralizedGravity, nonLinearEffects, rnea
from .mass_matrix import crba
from .operational import apply_test_force, frame_jacobian, inverse_input_matrix, inverse_operational_inertia, motors

__all__ = [
    "aba",
    "aba_derivatives",
    "apply_test_force",
    "centroidal_derivatives",
    "computeGeneralizedGravity",
    "computeKineticEnergy",
    "computeMinverse",
    "computePotentialEnergy",
    "constraintDynamics",
    "contact_rows",
    "coriolis_matrix",
    "coupling_derivatives",
    "coupling_jacobian",
    "crba",
    "frame_hessian",
    "frame_jacobian",
    "hybrid_dynamics",
    "impulseDynamics",
    "inverse_input_matrix",
    "inverse_operational_inertia",
    "motors",
    "nonLinearEffects",
    "rnea",
    "rnea_derivatives",
]
