"""The atlas: what armature gets wrong, robot by robot, for robots that people own.

A sheet per robot, ``robot_models/atlas/NAME.yaml``, has its motors with the source of each number, and armature that
others published; ``find`` finds the robot's file where the user has it, ``run`` computes, ``write`` makes the pages.
"""

from .entries import Entry, JointLine, Judged
from .places import Found, find
from .result import AtlasResult, run
from .sheets import Sheet, sheet, sheets

__all__ = ["AtlasResult", "Entry", "Found", "JointLine", "Judged", "Sheet", "find", "run", "sheet", "sheets"]
