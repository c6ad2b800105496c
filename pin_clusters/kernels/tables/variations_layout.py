"""Layout of ``rates``: the derivatives of each body of a cluster along each column (independent velocity) m.

Each body has one record per column of its cluster. The sums for the output body (V3) follow the bodies. Clusters of
independent joints of one degree of freedom use a short record. Symbols: docs/algorithms.md.
"""

from typing import Final

# The recursions (V1) for column m, motions in world axes (6 each).
VELOCITY: Final = 0  # L
ACCELERATION: Final = 6  # N
QUADRATIC: Final = 12  # Gamma
# Forces (V3), 6 each, summed over the body and its descendants in the cluster.
OF_POSITION: Final = 18  # P
OF_RATE: Final = 24  # Q
OF_ACCELERATION: Final = 30  # F
OF_MOTION: Final = 36  # 3: angular part of T, whose linear part is zero (V2)
OF_MOMENTUM: Final = 39  # 6: H (V7)
RECORD: Final = 45

# SINGLE, and each column of a cluster of hinges: L and N, then the part of P due to external forces on its rotor.
ON_ROTOR: Final = 12
OF_COLUMN: Final = 18

# FREE: minus gravity in its axes, then its pose in the universe.
UP: Final = 0  # 3
BASE_ROTATION: Final = 3  # 9
BASE_POSITION: Final = 12  # 3
OF_FREE: Final = 15

# Contacts: J, L, N and Gamma of a column of one side (6 each); later J alone, in the axes of the contact.
COLUMN: Final = 24
