"""A robot for trainers of policies: its file, its motors in their own configuration, and what is lost.

``write`` makes a folder for MuJoCo, mjlab, Genesis or Isaac Lab: the best approximation that each can take, each value
with its reason beside it, and a report of what that costs in torque.
"""

from .configurations import TRAINERS
from .values import JointValues, values_of
from .write import Written, write

__all__ = ["TRAINERS", "JointValues", "Written", "values_of", "write"]
