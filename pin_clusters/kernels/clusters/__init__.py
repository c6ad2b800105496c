"""Operations on one cluster, for each kind of cluster; the passes of the algorithms call these operations.

Each kind implements those operations that it needs. An operation is part of an outward or inward pass:

``advance``: outward; computes position, velocity, acceleration and force of the bodies (rnea)
``collect``: inward; adds the cluster's forces to its output body (its parent) and computes joint torques (rnea)
``advance_with_inertia``: outward; ``advance`` at zero or prescribed acceleration; also computes inertia (aba, hybrid)
``eliminate``: inward; adds articulated inertia and bias force to the output body
``propagate``: outward; computes accelerations, and torques where accelerations are prescribed (aba, hybrid)
``compose``: outward; computes poses, motion subspaces and inertias (crba, computeMinverse)
``couple``: inward; computes entries of the mass matrix (crba)
``factor``: inward; adds articulated inertia to the output body and factors D (computeMinverse)
"""
