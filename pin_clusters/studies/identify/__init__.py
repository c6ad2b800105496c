"""Identify the parameters of a robot from a log of motion and torques: inertias, friction, springs, gear losses."""

from .parameters import KINDS as KINDS
from .result import Identification as Identification
from .run import identify as identify
