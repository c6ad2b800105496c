"""Operations on one cluster, by kind of cluster; the passes of the algorithms call them.

Each kind implements the operations that it needs:

``advance``: outward, position, velocity, acceleration and force of the bodies (rnea)
``collect``: inward, forces to the output body, torques of the joints (rnea)
``advance_with_inertia``: outward, as ``advance`` at zero or prescribed accelerations, and inertias (aba, hybrid)
``eliminate``: inward, articulated inertia and bias force to the output body
``propagate``: outward, accelerations, and torques where accelerations are prescribed
``compose``: outward, poses, motion subspaces and inertias (crba, computeMinverse)
``couple``: inward, entries of the mass matrix (crba)
``factor``: inward, articulated inertia to the output body, factors of D (computeMinverse)
"""
