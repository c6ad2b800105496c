"""Robots from files (URDF, URDF+, MJCF, SDF, extended URDF), by name, and from Pinocchio models with mimic joints.

What is ill-formed, or would be lost although it matters, is a ``LoadError`` that names the element and a cure.
"""

from __future__ import annotations

from .extended_urdf import buildModelFromYAML
from .files import open_robot
from .library import load, robots
from .mimic import expand_mimic
from .mjcf import buildModelFromMJCF
from .sdf import buildModelFromSdf
from .urdf import buildModelFromUrdf, buildModelFromXML

__all__ = [
    "buildModelFromMJCF",
    "buildModelFromSdf",
    "buildModelFromUrdf",
    "buildModelFromXML",
    "buildModelFromYAML",
    "expand_mimic",
    "load",
    "open_robot",
    "robots",
]
