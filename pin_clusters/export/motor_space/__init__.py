"""Maps of positions, velocities, torques, gains and limits between the joints and the motors of a mechanism."""

from .motion import StaticMapError as StaticMapError
from .motor_space import Gains as Gains
from .motor_space import MotorSpace as MotorSpace
