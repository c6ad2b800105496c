"""What a user states about a mechanism: one file per kind of constraint."""

from __future__ import annotations

from .belt import Belt
from .gear import Gear
from .linear import LinearCoupling
from .rotor import Rotor

__all__ = ["Belt", "Gear", "LinearCoupling", "Rotor"]
