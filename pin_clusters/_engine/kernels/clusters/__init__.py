"""What is done to one cluster, by its kind; the algorithms are passes that call these.

Every kind has the same operations, as far as it needs them:

``advance``: outward, position, velocity, acceleration and force of the bodies (rnea)
``collect``: inward, forces to the output body, torques of the joints (rnea)
``advance_at_rest``: outward, the same at zero acceleration, and inertias (aba)
``eliminate``: inward, articulated inertia and bias force to the output body (aba)
``propagate``: outward, accelerations (aba)
``compose``: outward, poses, motion subspaces and inertias (crba, computeMinverse)
``couple``: inward, entries of the mass matrix (crba)
``factor``: inward, articulated inertia to the output body, factors of D (computeMinverse)

In ``prescribed_...`` are those of hybrid dynamics, ``advance``, ``eliminate`` and ``propagate``: as aba's, but
outward at the prescribed accelerations, and inward for the free columns only.
"""
