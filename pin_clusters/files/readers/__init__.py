"""Robots from files (URDF, URDF+, MJCF, SDF, extended URDF), by name, and from Pinocchio models with mimic joints.

What is ill-formed, or would be lost although it matters, is a ``LoadError`` that names the element and a cure.
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
