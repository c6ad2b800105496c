"""Measure the error of an approximation: torques, accelerations, flight, apparent inertia and drift.

- ``inverse``: torques of a motion
- ``forward_error``: accelerations under given torques
- ``flight``: acceleration of a floating base in flight, and momentum of the robot
- ``osim_error``: apparent inertia at a frame (operational-space inertia)
- ``drift``: path of a frame in an open-loop simulation under the same torques

Each function returns a small frozen dataclass with a method ``as_dict()`` for JSON. ``pin_clusters.approximations``
defines the approximations, and ``study.decompose`` splits their torque error into its causes.
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
