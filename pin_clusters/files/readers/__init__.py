"""Readers of robots: URDF, URDF+, MJCF, SDF and extended URDF files, shipped robots, and Pinocchio's mimic joints.

Invalid contents, and unsupported contents that affect the dynamics, raise a ``LoadError``. Its message names the
element and a fix.
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
