"""Export robots to reinforcement-learning frameworks (trainers).

``write`` creates a folder for MuJoCo, mjlab, Genesis or Isaac Lab. The folder contains the robot in the best
approximation that the trainer supports, the source of each value, and a report of the torque errors. For MuJoCo, a
script makes the robot exact at run time.
"""

from .configurations import TRAINERS
from .values import JointValues, values_of
from .write import Written, write

__all__ = ["TRAINERS", "JointValues", "Written", "values_of", "write"]
