"""Compare published armature with correct armature for commercial robots, and compute the torque errors of both.

A sheet per robot, ``robot_models/atlas/NAME.yaml``, lists its motors with the source of each number, and published
armature values. ``find`` locates the robot's file on the user's machine, ``run`` computes the errors, and ``write``
writes the pages.
"""

from .entries import Entry, JointLine, Judged
from .places import Found, find
from .result import AtlasResult, run
from .sheets import Sheet, sheet, sheets

__all__ = ["AtlasResult", "Entry", "Found", "JointLine", "Judged", "Sheet", "find", "run", "sheet", "sheets"]
