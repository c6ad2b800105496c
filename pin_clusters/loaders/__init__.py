"""Robots from files (URDF, URDF+), by name, and from Pinocchio models with mimic joints.

What is ill-formed, or would be lost although it matters, is a ``LoadError`` that names the element and a cure.
"""

from __future__ import annotations

from .library import load, robots
from .mimic import expand_mimic
from .mjcf import buildModelFromMJCF
from .urdf import buildModelFromUrdf, buildModelFromXML

__all__ = ["buildModelFromMJCF", "buildModelFromUrdf", "buildModelFromXML", "expand_mimic", "load", "robots"]
