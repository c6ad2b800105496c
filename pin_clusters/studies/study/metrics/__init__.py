"""Measure the errors of an approximation in torques, accelerations, flight, apparent inertia and drift.

- ``inverse``: error of the inverse-dynamics torques
- ``forward_error``: error of the accelerations under given torques
- ``flight``: errors of a floating base's acceleration and of the robot's momentum in flight
- ``osim_error``: error of the apparent inertia at a frame (operational-space inertia)
- ``drift``: error of the path of a frame in an open-loop simulation

Each function returns a frozen dataclass with a method ``as_dict()`` for JSON. ``pin_clusters.approximations``
defines the approximations, and ``study.decompose`` splits the torque error into its causes.
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
