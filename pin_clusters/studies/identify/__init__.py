"""What a robot really is, from a log of its motion and its torques: inertias, friction, springs, losses of gears.

``identify`` estimates them with standard errors, and ``Identification.write`` makes a page that needs no network.
"""

from .parameters import KINDS as KINDS
from .result import Combination as Combination
from .result import Identification as Identification
from .run import identify as identify
