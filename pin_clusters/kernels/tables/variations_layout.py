"""Layout of ``rates``: derivatives of the motions and forces of a cluster's bodies along each independent velocity.

Each body has one record per independent velocity (column). The sums for the output body (V3) follow all records.
Clusters of independent joints with one degree of freedom use a short record. docs/algorithms.md defines the symbols.
"""

from typing import Final

# Motions of column m, computed by the recursions (V1), in world axes, six entries each.
VELOCITY: Final = 0  # L, the derivative of the velocity with respect to position
ACCELERATION: Final = 6  # N, the derivative of the acceleration with respect to position
QUADRATIC: Final = 12  # Gamma, the derivative of the acceleration with respect to velocity
# Forces (V3), six entries each, summed over the body and its descendants in the cluster.
OF_POSITION: Final = 18  # P, the derivative of the force with respect to position
OF_RATE: Final = 24  # Q, the derivative of the force with respect to velocity
OF_ACCELERATION: Final = 30  # F, the derivative of the force with respect to acceleration
OF_MOTION: Final = 36  # size 3: angular part of T; the linear part of T is zero (V2)
OF_MOMENTUM: Final = 39  # size 6: H (V7)
RECORD: Final = 45

# Short record of a SINGLE cluster, or of a column in a cluster of independent joints with one degree of freedom: L and
# N, then the part of P due to external forces on the column's rotor.
ON_ROTOR: Final = 12
OF_COLUMN: Final = 18

# Record of a FREE cluster: minus gravity in the axes of the free flyer, then the free flyer's pose in the universe.
UP: Final = 0  # size 3
BASE_ROTATION: Final = 3  # size 9
BASE_POSITION: Final = 12  # size 3
OF_FREE: Final = 15

# Record of a contact column: J, L, N and Gamma of one side (6 each); later only J, in the contact's axes.
COLUMN: Final = 24
