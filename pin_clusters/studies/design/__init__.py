"""What designers ask of a mechanism: range, transmission, torque, loads, what a length matters.

``mechanism`` computes it, ``MechanismResult.write`` makes ``mechanism.html``, a page that needs no network, and tables.
"""

from __future__ import annotations

from . import page as page  # which says how results are written
from .actuators import Motor
from .lengths import Sensitivity
from .loads import Load, Loads
from .motion import ThroughRange
from .ranges import JointRange
from .region import Edge, Region
from .result import MechanismPart, MechanismResult, mechanism
from .sweep import End, Sweep
from .torques import Torques, TorqueSet
from .transmission import Transmission

__all__ = [
    "Edge",
    "End",
    "JointRange",
    "Load",
    "Loads",
    "MechanismPart",
    "MechanismResult",
    "Motor",
    "Region",
    "Sensitivity",
    "Sweep",
    "ThroughRange",
    "TorqueSet",
    "Torques",
    "Transmission",
    "mechanism",
]
