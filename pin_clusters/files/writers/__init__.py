"""Models as files for others: URDF+ (``pc.to_urdf``) and MJCF (``pc.to_mjcf``)."""

from __future__ import annotations

from .mjcf import to_mjcf
from .urdf import to_urdf

__all__ = ["to_mjcf", "to_urdf"]
