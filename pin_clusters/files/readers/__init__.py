"""Reads URDF, URDF+, MJCF, SDF and extended URDF files, loads shipped robots, and converts Pinocchio's mimic joints.

Invalid contents raise a ``LoadError``, and so do unsupported contents that affect the dynamics. The message contains
the element and a suggested fix.
"""

from .extended_urdf import buildModelFromYAML as buildModelFromYAML
from .files import open_robot as open_robot
from .library import load as load
from .library import robots as robots
from .mimic import expand_mimic as expand_mimic
from .mjcf import buildModelFromMJCF as buildModelFromMJCF
from .sdf import buildModelFromSdf as buildModelFromSdf
from .urdf import buildModelFromUrdf as buildModelFromUrdf
from .urdf import buildModelFromXML as buildModelFromXML
