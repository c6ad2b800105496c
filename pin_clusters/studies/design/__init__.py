"""What designers ask of a mechanism: range, transmission, torque, loads, what a length matters.

``mechanism`` computes it, ``MechanismResult.write`` makes ``mechanism.html``, a page that needs no network, and tables.
"""

from . import page as page  # which says how results are written
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
