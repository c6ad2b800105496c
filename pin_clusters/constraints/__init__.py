"""Constraints that describe transmissions, loops, rotors and springs; each type has its own module."""

from .belt import Belt as Belt
from .coupling import Coupling as Coupling
from .differential import Differential as Differential
from .four_bar import FourBar as FourBar
from .gear import Gear as Gear
from .linear import LinearCoupling as LinearCoupling
from .loop import Loop as Loop
from .motor import Motor as Motor
from .motor_catalogue import motors as motors
from .rod import Rod as Rod
from .rotor import Rotor as Rotor
from .slider_crank import SliderCrank as SliderCrank
from .spring import GravityCompensation as GravityCompensation
from .spring import Spring as Spring
