"""Simulation of a robot on its constraint manifold: ``pc.simulate``, and an adapter for SciPy's ``solve_ivp``.

If a ground is given, contacts open and close during the simulation. Joint limits can act as stops.
"""

from ..errors import SimulationError as SimulationError
from ._ode import Ode as Ode
from ._ode import ode as ode
from ._settings import METHODS as METHODS
from .ground import ContactPoints as ContactPoints
from .ground import Ground as Ground
from .ground import contact_points as contact_points
from .ground import on_ground as on_ground
from .result import SimulationInterrupted as SimulationInterrupted
from .result import SimulationResult as SimulationResult
from .result import Switch as Switch
from .result import Touchdown as Touchdown
from .run import simulate as simulate
