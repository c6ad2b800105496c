"""Maps between the joints and motors of a mechanism (positions, velocities, torques, gains, limits), also as C code."""

from .motion import StaticMapError as StaticMapError
from .motor_space import Gains as Gains
from .motor_space import MotorSpace as MotorSpace
