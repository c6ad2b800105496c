"""Analyse mechanisms: ranges of motion, velocity ratios, motor torques, bearing loads and length sensitivities.

``mechanism`` computes the results. ``MechanismResult.write`` writes them to CSV tables and to the page
``mechanism.html``, which needs no network access.
"""

from . import page as page  # the import registers the writer of the results
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
