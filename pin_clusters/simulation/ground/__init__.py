"""Contact with a ground and with other shapes, and joint stops.

``compiled_engine`` runs steps in compiled code and passes unsupported steps to ``python_engine``. The compiled code is
in ``compiled_steps``, and its kernel is in ``kernels/steps/ground.py``. Both engines compute impulses with ``solver``.
``events`` implements ``method="events"``. ``plane``, ``points``, ``shapes`` and ``near`` describe possible contacts,
and ``world`` combines them.
"""

from .plane import Ground as Ground
from .points import ContactPoints as ContactPoints
from .points import contact_points as contact_points
from .world import on_ground as on_ground
