"""Reference implementation of the cluster algorithms of Chignoli et al. in dense NumPy, without optimisation.

Every rotor is a body, and the matrices of a cluster of n_b bodies have 6 n_b rows. Pinocchio only supplies joint
placements, motion subspaces and inertias. For closed loops, G(q) and g are computed from a null space. Rods with mass
are not supported. Read these functions to understand the algorithms. The tests use them to check the compiled
functions, which are independent code. Vectors and matrices are in body coordinates, [linear; angular].

The derivatives do not use cluster algorithms. They combine Pinocchio's derivatives of the expanded tree with G and
dG/dq, and they support rods with mass.

References:
    Chignoli et al., arXiv 2311.13732.
"""

from ._coupling_rates import coupling_derivatives as coupling_derivatives
from ._coupling_rates import coupling_jacobian as coupling_jacobian
from .contacts import constraintDynamics as constraintDynamics
from .contacts import contact_rows as contact_rows
from .contacts import impulseDynamics as impulseDynamics
from .derivatives import aba_derivatives as aba_derivatives
from .derivatives import centroidal_derivatives as centroidal_derivatives
from .derivatives import coriolis_matrix as coriolis_matrix
from .derivatives import frame_hessian as frame_hessian
from .derivatives import rnea_derivatives as rnea_derivatives
from .energy import computeKineticEnergy as computeKineticEnergy
from .energy import computePotentialEnergy as computePotentialEnergy
from .forward import aba as aba
from .forward import computeMinverse as computeMinverse
from .hybrid import hybrid_dynamics as hybrid_dynamics
from .inverse import computeGeneralizedGravity as computeGeneralizedGravity
from .inverse import nonLinearEffects as nonLinearEffects
from .inverse import rnea as rnea
from .losses import aba_with_losses as aba_with_losses
from .mass_matrix import crba as crba
from .operational import apply_test_force as apply_test_force
from .operational import frame_jacobian as frame_jacobian
from .operational import inverse_input_matrix as inverse_input_matrix
from .operational import inverse_operational_inertia as inverse_operational_inertia
from .operational import motors as motors
