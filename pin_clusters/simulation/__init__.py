"""Simulation of a robot on its own manifold: ``pc.simulate``, and an adapter for SciPy's ``solve_ivp``.

Contact is not included: nothing stops a foot at the ground, or a joint at its limit.
"""

from __future__ import annotations

from ..errors import SimulationError
from ._ode import Ode, ode
from .result import SimulationInterrupted, SimulationResult, Switch
from .run import METHODS, simulate

__all__ = [
    "METHODS",
    "Ode",
    "SimulationError",
    "SimulationInterrupted",
    "SimulationResult",
    "Switch",
    "ode",
    "simulate",
]
