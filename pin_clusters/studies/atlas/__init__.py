"""Compare published armature of commercial robots with correct values, and compute the torque errors that both cause.

For each robot, the sheet ``robot_models/atlas/NAME.yaml`` lists motor data, their sources and published armature
values. ``find`` locates the robot's file on the user's machine, ``run`` computes the errors, and
``AtlasResult.write`` writes the pages.
"""

from .entries import Entry, JointLine, Judged
from .places import Found, find
from .result import AtlasResult, run
from .sheets import Sheet, sheet, sheets

__all__ = ["AtlasResult", "Entry", "Found", "JointLine", "Judged", "Sheet", "find", "run", "sheet", "sheets"]
