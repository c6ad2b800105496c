"""Between the joints of a mechanism and its motors: positions, velocities, torques, gains, limits; in Python and C."""

from .motion import StaticMapError as StaticMapError
from .motor_space import Gains as Gains
from .motor_space import MotorSpace as MotorSpace
