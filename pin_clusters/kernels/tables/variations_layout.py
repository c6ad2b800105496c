"""Where the variations of a body stand in ``rates``: a record for each column that moves it, in its cluster's order.

Behind the records of a cluster's bodies come those of the sums that its output body takes over. Joints of one degree of
freedom that follow no others have a short form, a column each.
"""

from typing import Final

# of a displacement along the column, in the kernels' world
VELOCITY: Final = 0  # L: of the velocity, but for the turn of the body itself
ACCELERATION: Final = 6  # N: the same of the acceleration
QUADRATIC: Final = 12  # Gamma: of the acceleration, with the column's rate in the place of its coordinate
# forces of the body, and of what hangs from it in its cluster, for the same three
OF_POSITION: Final = 18  # P
OF_RATE: Final = 24  # Q
OF_ACCELERATION: Final = 30  # F
OF_MOTION: Final = 36  # T, angular part: a force per unit of another body's velocity
OF_MOMENTUM: Final = 39  # H
RECORD: Final = 45

# SINGLE, and each column of a cluster of hinges: L and N, then what external forces on its rotor add to P
ON_ROTOR: Final = 12
OF_COLUMN: Final = 18

# FREE: minus gravity in its axes, then its pose in the universe
UP: Final = 0
BASE_ROTATION: Final = 3
BASE_POSITION: Final = 12
OF_FREE: Final = 15

# contacts: of a column of a side, J, L, N, Gamma; later J alone, in the contact's axes
COLUMN: Final = 24
