"""Writers of models for other programs: URDF+ (``pc.to_urdf``) and MJCF (``pc.to_mjcf``)."""

from .mjcf import to_mjcf as to_mjcf
from .urdf import to_urdf as to_urdf
