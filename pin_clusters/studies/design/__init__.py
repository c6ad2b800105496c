"""Analyse mechanisms: ranges of motion, ratios, motor torques, bearing loads and sensitivity to lengths.

``mechanism`` computes the results. ``MechanismResult.write`` writes ``mechanism.html``, a page without network access,
and CSV tables.
"""

from . import page as page  # registers the function that writes results
from .actuators import Motor as Motor
from .lengths import Sensitivity as Sensitivity
from .loads import Load as Load
from .loads import Loads as Loads
from .motion import ThroughRange as ThroughRange
from .ranges import JointRange as JointRange
from .region import Edge as Edge
from .region import Region as Region
from .result import MechanismPart as MechanismPart
from .result import MechanismResult as MechanismResult
from .result import mechanism as mechanism
from .sweep import End as End
from .sweep import Sweep as Sweep
from .torques import Torques as Torques
from .torques import TorqueSet as TorqueSet
from .transmission import Transmission as Transmission
