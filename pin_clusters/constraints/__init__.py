"""What a user states about a mechanism: one file per kind of constraint."""

from __future__ import annotations

from .belt import Belt
from .coupling import Coupling
from .differential import Differential
from .four_bar import FourBar
from .gear import Gear
from .linear import LinearCoupling
from .loop import Loop
from .rod import Rod
from .rotor import Rotor
from .slider_crank import SliderCrank
from .spring import GravityCompensation, Spring

__all__ = [
    "Belt",
    "Coupling",
    "Differential",
    "FourBar",
    "Gear",
    "GravityCompensation",
    "LinearCoupling",
    "Loop",
    "Rod",
    "Rotor",
    "SliderCrank",
    "Spring",
]
