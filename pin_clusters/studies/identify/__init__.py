"""What a robot really is, from a log of its motion and torques: inertias, friction, springs, losses of gears."""

from .parameters import KINDS as KINDS
from .result import Identification as Identification
from .run import identify as identify
