"""How wrong an approximation is, in numbers: torques, accelerations, flight, apparent inertia, drift.

==================  ==================================================================================
function            what is compared with the exact robot
==================  ==================================================================================
``inverse``         the torques of a motion
``forward_error``   the accelerations under given torques
``flight``          the acceleration of a base without contact, and the robot's momentum
``osim_error``      the inertia that a frame shows to the world (operational-space inertia)
``drift``           where a frame gets to in open loop, under the same torques
==================  ==================================================================================

All return small frozen dataclasses whose ``as_dict()`` is ready for JSON. The approximations are those of
``pin_clusters.approximations``; ``study.decompose`` says where their error comes from.
"""

from .drift import Drift as Drift
from .drift import drift as drift
from .dynamics import ForwardError as ForwardError
from .dynamics import InverseError as InverseError
from .dynamics import forward_error as forward_error
from .dynamics import inverse as inverse
from .flight import FlightError as FlightError
from .flight import flight as flight
from .osim import OsimError as OsimError
from .osim import osim_error as osim_error
